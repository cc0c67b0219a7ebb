"""The words of a library's templates, with their vectors: what a problem's words are compared with.

A problem tells of a landlord and a lease where the template says "agreement" and "clause". The cosine of
a whole problem hides which of its words a template answers, so each is compared with each.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import log

import numpy as np
import numpy.typing as npt

from ragloom import Embedder, Embeddings, Snapshot
from ragloom_templates import HeadOptions
from ragloom_templates.chunker import head_lines, is_lead
from ragloom_templates.everyday import Forms

SALIENT = 40
"""Words of a template's text, beside those of its head, that the words of problems are compared with."""
BEGINNING = 6
"""Lines at the beginning of a template's text that are embedded together: they tell what it is about."""

_WORD = re.compile(r"[^\W\d_](?:[\w+#.-]{0,30}[\w+#])?")
_LABEL = re.compile(r"^(?:Name|Description|Keywords|Methodology|Domain): ", re.MULTILINE)
_LINE = re.compile(r"^[#>\-*\d.\s|`]+")
_LETTERS, _SHORTEST, _LONGEST = 0.6, 12, 300  # share and characters of a line that says something
_READ = 700  # characters of a beginning: about what the model reads
_SMALL = 50  # templates: in a library of fewer a word that stands once in one may matter


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateWords:
    """What is counted of one template.

    Attributes:
        description: What it says it is for; its name where it does not say that.
        beginning: The first lines of its text.
        head: The content words of its head, in order.
        body: How often each word stands in its text.
        stems: Every stem of both.
        head_stems: Those of its head.
    """

    description: str
    beginning: str
    head: Sequence[str]
    body: Mapping[str, int]
    stems: Sequence[str]
    head_stems: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """For each of n templates a list of words, by their numbers.

    Attributes:
        words: ``(m,)`` the lists one after the other, none of them empty.
        starts: ``(n,)`` where each begins.
    """

    words: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int32]

    def largest(self, values: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """``(…, n)``: the largest of each list, of ``(…, words)``."""
        found: npt.NDArray[np.float32] = np.maximum.reduceat(
            values[..., self.words], self.starts, axis=-1
        )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """The mean cosines of n templates with the everyday sentences.

    Templates that are near to everything come first too often (Radovanović et al., "Hubs in Space",
    2010).

    Attributes:
        plain: ``(n,)`` float32: of the best chunk with each sentence as it stands.
        chunk: ``(n,)`` float32: of the best chunk with each in the form of a head.
        description: ``(n,)`` float32: of the description, likewise.
        beginning: ``(n,)`` float32: of the beginning with the clauses of each.
    """

    plain: npt.NDArray[np.float32]
    chunk: npt.NDArray[np.float32]
    description: npt.NDArray[np.float32]
    beginning: npt.NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The words of n templates.

    Attributes:
        key: Names the library's content and the model.
        model: The embedder's fingerprint.
        words: ``(v,)`` str, sorted.
        vectors: ``(v, d)`` float16, of unit length.
        rarity: ``(v,)`` float32: ``ln(1 + n / (1 + templates with the word))``.
        salient: The words that a problem's are compared with.
        stems: ``(s,)`` str, sorted.
        held: The stems of each template.
        held_in_head: Those of its head.
        described: ``(n,)`` str: names each template's description.
        descriptions: ``(n, d)`` float16: their vectors, of unit length.
        begun: ``(n,)`` str: names each template's beginning.
        beginnings: ``(n, d)`` float16: their vectors, of unit length.
        everyday_key: Names the everyday sentences.
        everyday: Their vectors.
        usual: What the templates have in common with everyday sentences.
    """

    key: str
    model: str
    words: npt.NDArray[np.str_]
    vectors: npt.NDArray[np.float16]
    rarity: npt.NDArray[np.float32]
    salient: Lists
    stems: npt.NDArray[np.str_]
    held: Lists
    held_in_head: Lists
    described: npt.NDArray[np.str_]
    descriptions: npt.NDArray[np.float16]
    begun: npt.NDArray[np.str_]
    beginnings: npt.NDArray[np.float16]
    everyday_key: str
    everyday: Forms
    usual: Usual

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """Words to their numbers."""
        return {word: number for number, word in enumerate(self.words.tolist())}

    @cached_property
    def templates_with(self) -> Mapping[str, int]:
        """Stems to how many templates hold them."""
        counts = np.bincount(self.held.words, minlength=len(self.stems)).tolist()
        return dict(zip(self.stems.tolist(), counts, strict=True))

    @cached_property
    def unit(self) -> Embeddings:
        """``(v, d)`` float32: the vectors, to calculate with."""
        vectors: Embeddings = self.vectors.astype(np.float32)
        return vectors

    def holding(self, stem: str, *, head: bool = False) -> npt.NDArray[np.bool_]:
        """``(n,)``: the templates that hold a stem, in their head or anywhere."""
        lists = self.held_in_head if head else self.held
        place = int(np.searchsorted(self.stems, stem))
        if place == len(self.stems) or self.stems[place] != stem:
            return np.zeros(len(lists.starts), np.bool_)
        found: npt.NDArray[np.bool_] = np.logical_or.reduceat(lists.words == place, lists.starts)
        return found

    def embed(self, words: Sequence[str], embedder: Embedder) -> Embeddings:
        """``(words, d)`` float32; those that are in the library are known already."""
        new = [word for word in words if word not in self.number_of]
        fresh = dict(zip(new, _unit(embedder.embed_passages(new)), strict=True)) if new else {}
        known = [self.number_of.get(word, 0) for word in words]
        rows = self.vectors[known].astype(np.float32)
        for row, word in enumerate(words):
            if word in fresh:
                rows[row] = fresh[word]
        return rows


def key_of(snapshot: Snapshot, embedder: Embedder) -> str:
    """Names what a vocabulary is made from."""
    parts = [f"{uri}\0{one.content_hash}\0{one.parts}" for uri, one in snapshot.files.items()]
    named = "\n".join(["vocabulary-3", embedder.fingerprint, *parts])
    return blake2b(named.encode(), digest_size=16).hexdigest()


def count(snapshot: Snapshot, row_numbers: Iterable[int]) -> TemplateWords:
    """Read the words of one template's chunks."""
    index = snapshot.lexical
    chunks = [snapshot.chunk(row) for row in row_numbers]
    head = description = ""
    first: dict[str, None] = {}
    body: Counter[str] = Counter()
    stems: dict[str, None] = {}
    for chunk in chunks:
        if is_lead(chunk) and not head:
            lines = head_lines(chunk.metadata, HeadOptions(domain=1))
            head = _LABEL.sub("", "\n".join(lines))
            description = str(chunk.metadata.get("description") or chunk.metadata.get("name") or "")
        if not (is_lead(chunk) and len(chunks) > 1) and len(first) < BEGINNING:
            first.update(dict.fromkeys(_lines(chunk.text)))
        body.update(word.casefold() for word in _WORD.findall(chunk.text))
        stems.update(dict.fromkeys(index.stems(chunk.text)))
    head_stems = dict.fromkeys(index.stems(head))
    return TemplateWords(
        description=description,
        beginning=" ".join([*first][:BEGINNING])[:_READ] or description,
        head=[word.text for word in index.query_words(head) if not word.stop],
        body=dict(body),
        stems=[*(stems | head_stems)],
        head_stems=[*head_stems],
    )


def build(
    key: str,
    counted: Sequence[TemplateWords],
    everyday: tuple[str, Forms],
    nearest: Callable[[Embeddings], npt.NDArray[np.float32]],
    embedder: Embedder,
    known: Vocabulary | None,
) -> Vocabulary:
    """The vocabulary of a library; words that ``known`` has are not embedded again.

    Args:
        key: Names the library's content and the model.
        counted: The words of each template.
        everyday: The key and the vectors of the everyday sentences.
        nearest: The cosine of each template's best chunk with a vector.
        embedder: The model.
        known: An earlier vocabulary of the same model.
    """
    frequency = Counter(word for one in counted for word in one.body)
    salient = [_salient(one, frequency, len(counted)) for one in counted]
    lists = [
        [*dict.fromkeys([*one.head, *text])] for one, text in zip(counted, salient, strict=True)
    ]
    words = sorted({word for some in lists for word in some} | {""})
    number = {word: place for place, word in enumerate(words)}
    stems = sorted({stem for one in counted for stem in one.stems} | {""})
    place_of = {stem: place for place, stem in enumerate(stems)}
    n = len(counted)
    described = [_named(one.description) for one in counted]
    begun = [_named(one.beginning) for one in counted]
    rarity = [log(1 + n / (1 + frequency.get(word, 0))) for word in words]
    descriptions = _vectors(
        described,
        [one.description for one in counted],
        embedder,
        {}
        if known is None
        else dict(zip(known.described.tolist(), known.descriptions, strict=True)),
    )
    beginnings = _vectors(
        begun,
        [one.beginning for one in counted],
        embedder,
        {} if known is None else dict(zip(known.begun.tolist(), known.beginnings, strict=True)),
    )
    everyday_key, forms = everyday
    return Vocabulary(
        key=key,
        model=embedder.fingerprint,
        words=np.array(words),
        vectors=_vectors(
            words,
            words,
            embedder,
            {} if known is None else dict(zip(known.words.tolist(), known.vectors, strict=True)),
        ),
        rarity=np.array(rarity, np.float32),
        salient=_lists(lists, number),
        stems=np.array(stems),
        held=_lists([one.stems for one in counted], place_of),
        held_in_head=_lists([one.head_stems for one in counted], place_of),
        described=np.array(described),
        descriptions=descriptions,
        begun=np.array(begun),
        beginnings=beginnings,
        everyday_key=everyday_key,
        everyday=forms,
        usual=_usual(descriptions, beginnings, forms, nearest),
    )


def _usual(
    descriptions: npt.NDArray[np.float16],
    beginnings: npt.NDArray[np.float16],
    forms: Forms,
    nearest: Callable[[Embeddings], npt.NDArray[np.float32]],
) -> Usual:
    def mean_of_best(vectors: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
        found: npt.NDArray[np.float32] = np.mean(
            [nearest(vector) for vector in vectors.astype(np.float32)], axis=0
        )
        return found

    def with_mean(
        texts: npt.NDArray[np.float16], vectors: npt.NDArray[np.float16]
    ) -> npt.NDArray[np.float32]:
        found: npt.NDArray[np.float32] = texts.astype(np.float32) @ vectors.mean(
            axis=0, dtype=np.float32
        )
        return found

    return Usual(
        plain=mean_of_best(forms.plain),
        chunk=mean_of_best(forms.heads),
        description=with_mean(descriptions, forms.heads),
        beginning=with_mean(beginnings, forms.said),
    )


def _lines(text: str) -> Sequence[str]:
    """The lines that say something, without the marks of headings, lists and tables."""
    lines = [_LINE.sub("", line).strip().strip("*_`|")[:_LONGEST] for line in text.splitlines()]
    return [
        line
        for line in lines
        if len(line) >= _SHORTEST and sum(map(str.isalpha, line)) > _LETTERS * len(line)
    ]


def _named(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _salient(one: TemplateWords, frequency: Mapping[str, int], templates: int) -> Sequence[str]:
    """The words of a template's text by tf-idf."""
    weights = {
        word: (1 + log(times)) * log(templates / frequency[word])
        for word, times in one.body.items()
        if len(word) > 2  # noqa: PLR2004 - letters
        and (times > 1 or frequency[word] > 2 or templates <= _SMALL)  # noqa: PLR2004 - a slip
    }
    return sorted(weights, key=lambda word: (-weights[word], word))[:SALIENT]


def _vectors(
    names: Sequence[str],
    texts: Sequence[str],
    embedder: Embedder,
    known: Mapping[str, npt.NDArray[np.float16]],
) -> npt.NDArray[np.float16]:
    """``(names, d)``: the vectors of texts, of which those with a known name are not embedded again."""
    vectors = np.zeros((len(names), embedder.dimension), np.float16)
    new = [row for row, name in enumerate(names) if texts[row] and name not in known]
    if new:
        vectors[new] = _unit(embedder.embed_passages([texts[row] for row in new]))
    for row, name in enumerate(names):
        if name in known:
            vectors[row] = known[name]
    return vectors


def _unit(vectors: Embeddings) -> Embeddings:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Embeddings = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return found


def _lists(lists: Sequence[Sequence[str]], number: Mapping[str, int]) -> Lists:
    numbers = [[number[word] for word in some] or [number[""]] for some in lists]
    starts = np.cumsum([0, *map(len, numbers)])[:-1]
    flat = [one for some in numbers for one in some]
    return Lists(words=np.array(flat, np.int32), starts=starts.astype(np.int32))

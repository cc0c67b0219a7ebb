"""Judged queries made of the documents themselves, and a copy of these that withholds what they copy.

A heading is a query that its section answers; so is the text of a link for the file that it leads to, a
question in bold for what follows, the definition of a term for its entry, the first sentence of a docstring
or comment for the code below, and a sentence for the passage that it was taken from (the inverse cloze task
of Lee, Chang and Toutanova, "Latent Retrieval for Weakly Supervised Open Domain Question Answering", 2019).
The copy lacks the text of the query, and more or less of its words elsewhere, so that the answer
shares as many with it as with people's questions: see ``withheld``.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath
from posixpath import normpath
from random import Random
from typing import Literal, TypeAlias, get_args
from urllib.parse import unquote

from ragloom.evaluation.askable import (
    POINTING,
    WORD,
    WORDLESS,
    content_words,
    end_of_sentence,
    is_askable,
    plain_text,
    stands_alone,
)
from ragloom.evaluation.withheld import common, excess, stems, withheld_of
from ragloom.text.sentences import sentence_starts
from ragloom.types import Document, Span

Kind: TypeAlias = Literal["heading", "faq", "link", "term", "docstring", "sentence"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_BODY = 25  # words that a section must have to answer
_PASSAGE = 30  # words of a paragraph that a sentence is taken from
_WINDOW = 16  # words that are taken where there are no sentences
_PER_FILE = 3  # queries of a kind from one file
_TAKEN = 0.2  # the most of what a query withholds that others may withhold, too
_FEW, _COMMON = 5, 0.03  # files, and their share, that hold a word which tells them from others

_WHOLE = Span(0, 1 << 40)  # of a file

_ATX = re.compile(r"^ {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+).*?^ {0,3}\1[`~]*+[ \t]*+$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{3,120})\]\(<?([^()\s<>]+)>?\)")
_ASKED = re.compile(r"^(?:[-*] )?\*\*([^*\n]{8,150}\?)\*\*[ \t]*$", re.MULTILINE)
_TERM = re.compile(
    r"^(?:[-*] +)?\*\*[^*\n]{2,60}?(?::\*\*|\*\*[ \t]*[:–—-])[ \t]+(?P<definition>\S[^\n]{40,})$",
    re.MULTILINE,
)
_PARAGRAPH = re.compile(
    r"(?:(?<=\n\n)|\A)(?![ \t]*(?:[#>|\-*+]|\d+[.)]|```|~~~|    ))[^\n].*?(?=\n[ \t]*\n|\Z)",
    re.DOTALL,
)
_STOP = re.compile(r"\s\.\s+")
_COMMENT = re.compile(
    r"""^(?P<comment>(?:[ \t]*//[/!]?[^\n]*\n)+|[ \t]*/\*\*.*?\*/[ \t]*\n)
    (?P<code>
        (?:[ \t]*[@\#][^\n]*\n)*[ \t]*
        (?:(?:pub(?:\([a-z]+\))?|public|private|protected|static|export|default|async|final|abstract
            |unsafe|const|override|inline)[ ]+)*
        (?:func|fn|def|class|interface|struct|enum|trait|type|function|impl|[\w<>\[\],]+[ ]+\w+[ ]*\()
        [^\n]*\n)""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
_CODE = frozenset(
    f".{ending}"
    for ending in "go rs java js ts tsx jsx kt swift scala c h cc cpp hpp cs php".split()  # noqa: SIM905
)
_LEADERS = re.compile(r"^[\s/*!]+", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnQuery:
    """A query and where its answer stands in the copy.

    Attributes:
        kind: What it was made of.
        text: As it is asked.
        uri: The file with the answer.
        span: The answer, in characters of the file as it was.
        found_at: Where the text of the query stands: a file and its line.
        withheld: What the copy lacks: spans of files, by uri.
    """

    kind: Kind
    text: str
    uri: str
    span: Span
    found_at: str
    withheld: Mapping[str, Sequence[Span]]


def own_queries(documents: Iterable[Document], *, limit: int, seed: int = 0) -> Sequence[OwnQuery]:
    """Make queries of documents: the same ones, in the same order, for the same files and seed.

    Left alone are texts that stand in several places and name none of them, that consist of words which are
    all over the documents, and sentences that point to the one before. A link counts where its target has a
    word of it. No query withholds much of what another one withholds.

    Args:
        documents: In any order; what was extracted, as from PDF, has no text of its own to copy.
        limit: The most queries; each kind has an equal share, as far as it reaches.
        seed: Of the choice.
    """
    found: dict[Kind, list[OwnQuery]] = defaultdict(list)
    words: dict[str, set[str]] = {}
    for document in documents:
        words[document.uri] = content_words(document.text)
        if not document.extracted:
            for query in _of_document(document, seed):
                found[query.kind].append(query)
    files = Counter(word for held in words.values() for word in held)
    usual = max(_FEW, _COMMON * len(words))

    def says_enough(query: OwnQuery) -> bool:
        asked = content_words(query.text)
        if query.kind == "link" and not asked & words.get(query.uri, set()):
            return False
        return not asked or any(files[word] <= usual for word in asked)

    chosen = {kind: [one for one in found[kind] if says_enough(one)] for kind in KINDS}
    shuffle = {kind: Random(f"{seed}{kind}") for kind in KINDS}  # noqa: S311 - a choice, no secret
    queues = {kind: _chosen(chosen[kind], shuffle[kind]) for kind in KINDS}
    picked: list[OwnQuery] = []
    taken: dict[str, list[Span]] = defaultdict(list)
    while len(picked) < limit and any(queues.values()):
        for kind in KINDS:
            while queues[kind] and len(picked) < limit:
                query = queues[kind].pop()
                if _is_free(query, taken):
                    for uri, spans in query.withheld.items():
                        taken[uri] += spans
                    picked.append(query)
                    break
    return picked


def _chosen(queries: Sequence[OwnQuery], random: Random) -> list[OwnQuery]:
    """Those whose text is asked once, few of each file, shuffled."""
    counts: dict[str, int] = defaultdict(int)
    for query in queries:
        counts[query.text.casefold()] += 1
    alone = [query for query in queries if counts[query.text.casefold()] == 1]
    alone.sort(key=lambda query: (query.uri, query.span, query.text))
    random.shuffle(alone)
    of_file: dict[str, int] = defaultdict(int)
    kept = list[OwnQuery]()
    for query in alone:
        of_file[query.uri] += 1
        if of_file[query.uri] <= _PER_FILE:
            kept.append(query)
    return kept[::-1]


def _is_free(query: OwnQuery, taken: Mapping[str, Sequence[Span]]) -> bool:
    """Whether little of what a query withholds is withheld already."""
    pairs = [
        (one, sum(common(one, other) for other in taken.get(uri, ())))
        for uri, spans in query.withheld.items()
        for one in spans
    ]
    return sum(held for _, held in pairs) <= _TAKEN * sum(end - start for (start, end), _ in pairs)


def _of_document(document: Document, seed: int) -> Iterator[OwnQuery]:
    suffix = PurePosixPath(document.uri).suffix.lower()
    random = Random(f"{seed}{document.uri}")  # noqa: S311 - a choice, no secret
    if suffix == ".py":
        yield from _of_python(document)
    elif suffix in _CODE:
        yield from _of_comments(document)
    else:
        fences = [Span(*match.span()) for match in _FENCE.finditer(document.text)]
        headings = _headings(document, fences)
        yield from _of_headings(document, headings, random)
        yield from _of_prose(document, fences, random)


def _headings(document: Document, fences: Sequence[Span]) -> list[tuple[int, Span, Span]]:
    """Level, title and section of each heading, in characters of the text."""
    if document.sections:
        base = len(document.prefix)
        lines = [(one.level, one.span, one.title) for one in document.sections]
        titles = []
        for level, span, title in lines:
            first = title.split(" ", 1)[0]
            at = document.text.find(first, span.start - base, span.end - base)
            end = at + len(title)
            if at >= 0 and document.text[at:end] == title:
                titles.append((level, Span(at, end)))
    elif document.media_type == "text/markdown":
        titles = [
            (len(match[1]), Span(*match.span(2)))
            for match in _ATX.finditer(document.text)
            if not _within(match.start(), fences)
        ]
    else:
        titles = []
    found = []
    for at, (level, span) in enumerate(titles):
        later = (other.start for deeper, other in titles[at + 1 :] if deeper <= level)
        found.append((level, span, Span(span.start, next(later, len(document.text)))))
    return found


def _of_headings(
    document: Document,
    headings: Sequence[tuple[int, Span, Span]],
    random: Random,
) -> Iterator[OwnQuery]:
    for _, title, section in headings:
        text = document.text[title.start : title.end]
        body = document.text[title.end : section.end]
        plain = plain_text(text)
        if len(body.split()) >= _BODY and is_askable(plain):
            kind: Kind = "faq" if plain.endswith("?") else "heading"
            yield _query(
                document,
                kind,
                plain,
                section,
                title,
                withheld_of(document.text, title, section, random),
            )


def _of_prose(document: Document, fences: Sequence[Span], random: Random) -> Iterator[OwnQuery]:
    text = document.text
    for match in _ASKED.finditer(text):
        end = text.find("\n**", match.end())
        section = Span(match.start(), end if end > 0 else min(len(text), match.end() + 1500))
        if is_askable(match[1]) and not _within(match.start(), fences):
            asked = Span(*match.span(1))
            spans = withheld_of(text, asked, section, random)
            yield _query(document, "faq", plain_text(match[1]), section, asked, spans)
    for match in _TERM.finditer(text):
        first = match["definition"][: end_of_sentence(match["definition"])]
        place = Span(match.start("definition"), match.start("definition") + len(first))
        plain = plain_text(first)
        points = plain.partition(" ")[0].casefold() in POINTING
        if not points and is_askable(plain) and not _within(match.start(), fences):
            entry = Span(*match.span())
            spans = withheld_of(text, place, entry, random)
            yield _query(document, "term", plain, entry, place, spans)
    for match in _LINK.finditer(text):
        target = _target(document.uri, match[2])
        plain = plain_text(match[1])
        if not target or not is_askable(plain) or _within(match.start(), fences):
            continue
        if content_words(plain) - WORDLESS:
            place = Span(*match.span())
            query = _query(document, "link", plain, _WHOLE, place, [place], target=target)
            yield query
    yield from _of_sentences(document, fences, random)


def _of_sentences(document: Document, fences: Sequence[Span], random: Random) -> Iterator[OwnQuery]:
    """At most one of a paragraph, and of a few paragraphs."""
    text = document.text
    counts = Counter(stems(text))
    found = [
        Span(*match.span())
        for match in _PARAGRAPH.finditer(text)
        if len(match[0].split()) >= _PASSAGE and not _within(match.start(), fences)
    ]
    for paragraph in random.sample(found, min(_PER_FILE, len(found))):
        sentences: Sequence[Span] = _sentences(text, paragraph)
        fit: Sequence[Span] = [
            one for one in sentences if stands_alone(plain_text(text[slice(*one)]))
        ]
        if len(sentences) == 1 and text[slice(*paragraph)].islower():
            fit = _windows(text, paragraph)
        if fit:
            chosen = min(fit, key=lambda one: (abs(excess(text[slice(*one)], counts)), one))
            plain = plain_text(text[slice(*chosen)])
            yield _query(
                document,
                "sentence",
                plain,
                paragraph,
                chosen,
                withheld_of(text, chosen, paragraph, random),
            )


def _sentences(text: str, paragraph: Span) -> Sequence[Span]:
    """The sentences of a paragraph; where all is in lower case, a full stop between spaces ends one."""
    starts = sentence_starts(text, *paragraph)
    if text[slice(*paragraph)].islower():
        starts = [match.end() for match in _STOP.finditer(text, *paragraph)]
    return [Span(*pair) for pair in pairwise([paragraph.start, *starts, paragraph.end])]


def _windows(text: str, paragraph: Span) -> Sequence[Span]:
    """So many words in a row, where there are no sentences."""
    words = [match.span() for match in WORD.finditer(text, *paragraph)]
    width = min(_WINDOW, len(words) // 3)
    return [Span(words[at][0], words[at + width - 1][1]) for at in range(len(words) - width)]


def _of_python(document: Document) -> Iterator[OwnQuery]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(document.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = [0]
    for line in document.text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        docstring, body = ast.get_docstring(node), node.body
        if not docstring or len(body) < 2:  # noqa: PLR2004 - nothing but its docstring
            continue
        first = plain_text(docstring[: end_of_sentence(docstring)])
        said = body[0]
        if is_askable(first) and said.end_lineno and node.end_lineno:
            place = Span(lines[said.lineno - 1], lines[said.end_lineno])
            if document.text[place.start : place.end].strip()[:1] in "\"'rR":
                whole = Span(lines[node.lineno - 1], lines[node.end_lineno])
                yield _query(document, "docstring", first, whole, place, [place])


def _of_comments(document: Document) -> Iterator[OwnQuery]:
    for match in _COMMENT.finditer(document.text):
        said = " ".join(_LEADERS.sub("", match["comment"].replace("*/", "")).split())
        first = plain_text(said[: end_of_sentence(said)])
        if is_askable(first):
            place = Span(*match.span("comment"))
            whole = Span(match.start("code"), min(len(document.text), match.end() + 600))
            yield _query(document, "docstring", first, whole, place, [place])


def _query(
    document: Document,
    kind: Kind,
    text: str,
    span: Span,
    place: Span,
    withheld: Sequence[Span],
    *,
    target: str = "",
) -> OwnQuery:
    base = len(document.prefix)
    line = document.prefix.count("\n") + document.text.count("\n", 0, place.start) + 1
    return OwnQuery(
        kind=kind,
        text=text,
        uri=target or document.uri,
        span=Span(span.start + base, span.end + base) if not target else span,
        found_at=f"{document.uri}:{line}",
        withheld={document.uri: [Span(start + base, end + base) for start, end in withheld]},
    )


def _target(uri: str, link: str) -> str:
    """The file that a relative link leads to; empty for any other."""
    path = unquote(link.partition("#")[0])
    if not path or ":" in path or path.startswith("/"):
        return ""
    found = normpath(str(PurePosixPath(uri).parent / path))
    return "" if found == uri else found


def _within(at: int, spans: Sequence[Span]) -> bool:
    return any(start <= at < end for start, end in spans)

"""What a query looks for: its text without courtesies, corrected, and its words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragloom.protocols import Embedder
from ragloom.retrieval.compounds import with_compounds
from ragloom.retrieval.function_words import without_function_words
from ragloom.retrieval.inflections import by_inflection
from ragloom.retrieval.kindred_words import by_kindred_word
from ragloom.retrieval.rewriting import queries
from ragloom.retrieval.spelling import corrected
from ragloom.snapshot import Snapshot
from ragloom.snapshot.languages import ENGLISH, query_language
from ragloom.snapshot.remote import RemoteIndex
from ragloom.snapshot.spellings import alternatives, punctuated, spellings
from ragloom.snapshot.words import QueryWord, weighted_terms

CORRECTED_WEIGHT = 0.7
"""Of a word that is corrected, or found by another one, beside one that is found as it is typed."""

_TYPED = re.compile(r"(?:[\w.#+-]|(?<=\d)[,'\u2019](?=\d{3}))++")
_IDENTIFIER = re.compile(r"\w[\d_./#+-]|[\d_.#-]\w|[a-z][A-Z]")
_LINE_NUMBER = re.compile(r"(\.[a-z]+):\d+\b")  # of setup.md:12
_CONSTANT = re.compile("[A-Z][A-Z0-9]{4,}")  # such as ECONNRESET
_LAST_LATIN = "\u024f"
_NO_WORD = "qzx"
_BESIDE_PHRASES = (
    6  # words beside which a phrase in quotation marks is one that every hit has to hold
)
_FEW_WORDS = 4  # of a text that is a phrase by itself
_HEADS = frozenset(
    """
    a an the this these that those my our your its his her their in on of for by to at with from under
    over into through during between about above below after before against
    """.split()  # noqa: SIM905 - as people read it
)
_PHRASE = re.compile(r"[\"“„«]([^\"“”„«»]+)[\"”“»]")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """One text to search for.

    Attributes:
        text: Without courtesies, and with the spelling corrected.
        words: Its words, stop words only if nothing else; none where the text is a courtesy.
        terms: What BM25 searches, and how much each term counts.
        corrected: The words that replace misspelt ones.
        phrases: What stands in quotation marks, in lower case; every hit holds each of them.
        spellings: Its words, and its identifiers, as they are typed, in lower case.
        identifiers: Those of its words that only one thing is called, such as ``latency_ms``.
        names: Those, and words with a capital where a sentence does not ask for one.
        punctuated: Its words with punctuation, such as ``5.15.5`` or ``--no-cache``, each with the terms by
            which the chunks that have it letter for letter are found; none where no chunk has.
        foreign: Whether it is in another language than English.
        other_script: Whether most of its letters are not Latin; it is foreign, then.
        bare: Whether it is words alone, without anything that makes a sentence of them but articles and
            prepositions before them, or one name, such as ``this.id``, whatever it is made of.
        phrase: Its content, in lower case, where that is several words in a row: "circuit breaker" in "what
            is a circuit breaker?"; all of a text of a few words, such as "set up".
        known: The share of its words that the model has whole, 0 to 1; 1 without a model.
    """

    text: str
    words: Sequence[QueryWord]
    terms: Mapping[str, float]
    corrected: frozenset[str] = frozenset()
    phrases: Sequence[str] = ()
    spellings: Sequence[str] = ()
    identifiers: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    punctuated: Mapping[str, Sequence[str]] = field(default_factory=dict)
    foreign: bool = False
    other_script: bool = False
    bare: bool = False
    phrase: str = ""
    known: float = 1.0

    def punctuated_terms(self) -> Sequence[str]:
        """The terms of all its words with punctuation."""
        return [term for terms in self.punctuated.values() for term in terms]


def parse(
    text: str, snapshot: Snapshot, embedder: Embedder | None, beside: Sequence[Snapshot] = ()
) -> Sequence[ParsedQuery]:
    """A query as a whole, then its sentences where it has several.

    Args:
        text: As typed.
        snapshot: Whose documents are searched.
        embedder: Its model's vocabulary tells rare words from misspelt ones; None for no model.
        beside: Others that are searched for it, whose words are not misspelt, either.
    """
    whole, sentences = queries(text)
    if not whole:
        terms = weighted_terms(snapshot.lexical.query_words(text))
        return [ParsedQuery(text=text, words=(), terms=terms)]
    phrases = [] if sentences else _phrases(text)

    def known(word: str) -> bool:
        if embedder is not None and _is_token(word, embedder):
            return True
        indexes = [other.lexical for other in beside]
        return any(index.frequency(one) for index in indexes for one in index.query_words(word))

    def whole_words(found: Sequence[QueryWord]) -> float:
        if embedder is None or not found:
            return 1.0
        return sum(_is_token(word.text, embedder) for word in found) / len(found)

    def others(spelt: str) -> Sequence[QueryWord]:
        typed = without_function_words(spelt, snapshot.lexical.query_words(spelt), snapshot)
        kindred = (by_kindred_word(word, snapshot, CORRECTED_WEIGHT) for word in typed)
        if isinstance(snapshot, RemoteIndex):  # each question about other words is one to a server
            return list(kindred)
        words = [by_inflection(word, snapshot, CORRECTED_WEIGHT) for word in kindred]
        return with_compounds(spelt, words, snapshot, CORRECTED_WEIGHT)

    def parsed(one: str) -> ParsedQuery:
        spelt, found = corrected(one, snapshot, known)
        words = [
            replace(word, weights=tuple((term, CORRECTED_WEIGHT * at) for term, at in word.weights))
            if word.text in found
            else word
            for word in others(spelt)
        ]
        content = [word for word in words if not word.stop] or words
        terms = weighted_terms(words)
        stops = {word.text for word in words if word.stop and word not in content}
        identifiers = _identifiers(spelt)
        return ParsedQuery(
            text=spelt,
            words=content,
            terms=terms,
            corrected=found,
            phrases=phrases,
            spellings=[one for one in dict.fromkeys(spellings(spelt)) if one not in stops],
            identifiers=identifiers,
            names=identifiers | _names(spelt),
            punctuated={word: _terms_of(word, snapshot) for word in punctuated(spelt)},
            foreign=(other_script := _is_other_script(spelt))
            or query_language([word.text for word in words], snapshot.lexical.languages) != ENGLISH,
            other_script=other_script,
            bare=len(content) == len(words)
            or len(_typed(spelt)) == 1
            or (not sentences and _is_headed(spelt, words)),
            phrase=_in_a_row(spelt, content) or ("" if sentences else _few_words(spelt)),
            known=whole_words(content),
        )

    return [parsed(one) for one in (whole, *sentences)]


def _is_token(word: str, embedder: Embedder) -> bool:
    """Whether a model has a word whole.

    Its token for what it cannot read would stand for more, too, unless the counter takes any word for one.
    """
    count = embedder.counter.count
    return count(word) <= 1 and (count(f"{word}{_NO_WORD}{word}") > 1 or count(_NO_WORD) <= 1)


def _terms_of(word: str, snapshot: Snapshot) -> Sequence[str]:
    """The best of the terms that a punctuated word may mean, of those that chunks have."""
    index = snapshot.lexical
    for terms in alternatives(word):
        if held := [term for term in terms if index.spelling_frequency(term)]:
            return held
    return ()


def _is_other_script(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter > _LAST_LATIN for letter in letters) * 2 > len(letters)


def _is_headed(text: str, words: Sequence[QueryWord]) -> bool:
    """Whether words alone have an article or a preposition before them: "in the browser"."""
    stops = [word.stop for word in words]
    heads = [word.text for word in words[: sum(stops)]]
    return (
        not text.rstrip().endswith("?")
        and sorted(stops, reverse=True) == stops
        and _HEADS.issuperset(heads)
    )


def _few_words(text: str) -> str:
    """A text of a few words, stop words or not, such as "set up"; empty where it is longer, or asks."""
    words = text.casefold().split()
    return " ".join(words) if 1 < len(words) <= _FEW_WORDS and all(map(str.isalpha, words)) else ""


def _in_a_row(text: str, content: Sequence[QueryWord]) -> str:
    """The content of a text where it is several words, with nothing but blanks between them."""
    if len(content) < 2:  # noqa: PLR2004 - one word is no phrase
        return ""
    first, last = content[0].text, content[-1].text
    lowered = " ".join(text.casefold().split())
    start, end = lowered.find(first), lowered.rfind(last)
    phrase = lowered[start : end + len(last)]
    return phrase if 0 <= start < end and phrase.split() == [one.text for one in content] else ""


def _phrases(text: str) -> Sequence[str]:
    """What stands in quotation marks, unless that is a quotation in prose."""
    if len(_typed(_PHRASE.sub("", text))) > _BESIDE_PHRASES:
        return []
    quoted = (" ".join(phrase.casefold().split()) for phrase in _PHRASE.findall(text))
    # Marks within the quotation marks belong to the sentence around them, as typographers put them.
    return [phrase for one in quoted if (phrase := one.rstrip(",.;:?!… "))]


def _identifiers(text: str) -> frozenset[str]:
    """Identifiers in lower case, without the signs of ``--flag`` and ``#12``.

    Capitals are one among other words only.
    """
    typed = _typed(_LINE_NUMBER.sub(r"\1", text))
    shouted = sum(word.isupper() for word in typed) > len(typed) / 2
    return frozenset(
        word.lstrip("-#").casefold()
        for word in typed
        if _IDENTIFIER.search(word) or (not shouted and _CONSTANT.fullmatch(word))
    )


def _names(text: str) -> frozenset[str]:
    """Words with a capital, in lower case; a title in capitals says nothing of its words."""
    words = _typed(text)[1:]
    capitals = [word for word in words if word[:1].isupper()]
    if 2 * len(capitals) > max(len(words), 2):
        return frozenset()
    return frozenset(word.casefold() for word in capitals)


def _typed(text: str) -> Sequence[str]:
    words = (word.rstrip(".-") for word in _TYPED.findall(text))
    return [word for word in words if any(map(str.isalnum, word))]

"""Two words of a query that documents write as one, and one that they write as two.

"time stamp" and "timestamp" have no term in common, nor have "ratelimiting" and "rate limiting"; the
analyzer joins only what has a hyphen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from ragloom.retrieval.row_numbers import scores_by_row
from ragloom.retrieval.running_text import running_text
from ragloom.snapshot import Snapshot
from ragloom.snapshot.words import QueryWord

_BESIDE = re.compile(r"(?<![\w-])([^\W\d_]{2,})(?= ([^\W\d_]{2,})(?![\w-]))")
_SHORTEST = 5  # letters of a compound
_LEAST = 3  # letters of each half of one that is split
_READ = 10  # chunks that are read for two words in a row


def with_compounds(
    text: str, words: Sequence[QueryWord], snapshot: Snapshot, weight: float
) -> Sequence[QueryWord]:
    """``words``, found by their compounds, too, or by the halves of one that no document holds.

    Args:
        text: The query.
        words: Its words.
        snapshot: Whose documents are searched.
        weight: Of the other terms, beside a word that is found as it is typed.
    """
    stops = {word.text for word in words if word.stop}
    compounds = {
        half: compound
        for first, second in _BESIDE.findall(text.casefold())
        if not stops.issuperset((first, second))
        if (compound := _compound(first, second, snapshot))
        for half in (first, second)
    }
    return [
        _within(compounds[word.text], word, weight)
        if word.text in compounds
        else _split(word, snapshot, weight)
        for word in words
    ]


def _compound(first: str, second: str, snapshot: Snapshot) -> QueryWord | None:
    """What two words make, if documents write it so and do not write them in a row."""
    joined = first + second
    if len(joined) < _SHORTEST:
        return None
    spelt = (joined, joined.removesuffix("s"), f"{joined}s")
    if not any(map(snapshot.file_lexical.spelling_frequency, spelt)):
        return None
    word, *others = snapshot.lexical.query_words(joined)
    if others or word.stop or _in_a_row(first, second, snapshot):
        return None
    return word


def _within(compound: QueryWord, word: QueryWord, weight: float) -> QueryWord:
    """A half of a compound; a stop word, as in "mix in", says something in the compound alone."""
    if not word.stop:
        return _found_by(word, compound.forms, weight)
    return replace(
        word,
        forms=compound.forms,
        weights=tuple((term, weight * at) for term, at in compound.weights),
        stop=False,
    )


def _split(word: QueryWord, snapshot: Snapshot, weight: float) -> QueryWord:
    text = word.text
    if (
        len(text) < 2 * _LEAST
        or word.stop
        or not text.isalpha()
        or len(word.forms[0]) > 1
        or snapshot.lexical.frequency(word)
    ):
        return word
    for first, second in _halves(text, snapshot):
        if _in_a_row(first, second, snapshot):
            one, other = snapshot.lexical.query_words(f"{first} {second}")
            forms = tuple(a + b for a, b in product(one.forms, other.forms))
            return _found_by(word, forms, weight)
    return word


def _halves(text: str, snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Ways to split a word behind one that a document holds."""
    files = snapshot.file_lexical
    for first, _ in files.vocabulary(text[:_LEAST]):
        second = text.removeprefix(first)
        if (
            _LEAST <= len(second) < len(text)
            and first != second
            and files.spelling_frequency(first)
        ):
            yield first, second


def _in_a_row(first: str, second: str, snapshot: Snapshot) -> bool:
    """Whether one of the best chunks for two words has them in a row, the second in any form."""
    words = snapshot.lexical.query_words(f"{first} {second}")
    if not all(map(snapshot.lexical.frequency, words)):
        return False
    terms = dict.fromkeys((term for word in words for term, _ in word.weights), 1.0)
    serials, scores = snapshot.lexical.search(terms, limit=_READ)
    rows, _ = scores_by_row(snapshot, serials, scores)
    beside = re.compile(rf"\b{first}[\W_]{{1,3}}([^\W_]+)")
    following = {word for row in rows for word in beside.findall(running_text(snapshot, int(row)))}
    found = snapshot.lexical.query_words(" ".join(sorted(following)))
    return any(set(words[-1].forms).intersection(word.forms) for word in found)


def _found_by(word: QueryWord, forms: Sequence[tuple[str, ...]], weight: float) -> QueryWord:
    """``word``, found by other forms, too."""
    known = dict(word.weights)
    others = {term: weight for form in forms for term in form if term not in known}
    return replace(
        word,
        forms=tuple(dict.fromkeys((*word.forms, *forms))),
        weights=(*word.weights, *others.items()),
    )

"""Correct the words of a query that no document holds, by the index's own vocabulary.

A word that exists is never corrected, nor one that the embedder's model knows: such words are rare in the
documents rather than misspelt. Neither is a stop word, nor an identifier, whose neighbour is another thing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from ragloom.snapshot import Snapshot
from ragloom.snapshot.languages import ENGLISH, query_language

_WORD = re.compile(r"(?<![\w./@#:-])[^\W\d_]+(?![\w/@#:-]|\.\w)")
_SHORTEST = 4  # letters; at a distance of one, shorter words all have neighbours
_LONG = 8  # letters from which two of them may differ
_SHORT = 6  # letters below which a word is known by its inflections, too
_INFLECTIONS = ("s", "d", "ed", "ing", "er")


def corrected(
    text: str, snapshot: Snapshot, known: Callable[[str], bool]
) -> tuple[str, frozenset[str]]:
    """A query with its misspelt words replaced, and what replaces them.

    The nearest word with the same first letter that a document holds: of optimal string alignment
    distance 1 (Boytsov, "Indexing Methods for Approximate Dictionary Searching", 2011, 2.2), or from
    eight letters 2, if the last letter is the same and the word is no name, in a query in English, of
    which the model knows most words; among several the one in the most files, then the first by the
    alphabet.

    Args:
        text: The query.
        snapshot: Whose documents are searched.
        known: Whether the embedder's model knows a word.
    """
    found: set[str] = set()

    @cache
    def foreign() -> bool:
        typed = [word.text for word in snapshot.lexical.query_words(text)]
        return query_language(typed, snapshot.lexical.languages) != ENGLISH

    def replaced(match: re.Match[str]) -> str:
        word = match[0]
        if len(word) < _SHORTEST or not (word.islower() or word.istitle()):
            return word
        lowered = word.casefold()
        inflections = _INFLECTIONS if len(word) < _SHORT else ()
        if any(known(lowered + ending) for ending in ("", *inflections)) or any(
            one.stop or snapshot.lexical.frequency(one)
            for one in snapshot.lexical.query_words(word)
        ):
            return word
        name = bool(match.start()) and word.istitle()
        spelling = _nearest(lowered, snapshot, near=name or foreign())
        if spelling is None:
            return word
        found.add(spelling)
        return spelling

    return _WORD.sub(replaced, text), frozenset(found)


def _nearest(word: str, snapshot: Snapshot, *, near: bool) -> str | None:
    """The nearest word of the files, at a distance of one; of a long one, unless ``near``, of two."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    spelt = [one for one, _ in snapshot.file_lexical.vocabulary(word[0]) if one.isalpha()]
    most = 1 if near or len(word) < _LONG else 2
    found = extract(word, spelt, scorer=OSA.distance, score_cutoff=most, limit=None)
    frequency = snapshot.file_lexical.spelling_frequency
    alike = [
        (distance, -files, one)
        for one, distance, _ in found
        if (one[-1] == word[-1] or distance < most or most == 1) and (files := frequency(one))
    ]
    return min(alike)[2] if alike else None

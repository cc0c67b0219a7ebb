"""Correct the words of a query that no document holds, by the index's own vocabulary.

A word that exists is never corrected, nor one that the embedder's model knows: such words are rare in the
documents rather than misspelt. Neither is a stop word, nor an identifier, whose neighbour is another thing;
nor what is written in a script without spaces, which has no words to compare. In scripts without capitals,
of whose words models of one language know none, a word exists in its other forms, too, and is longer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from ragloom.retrieval.inflections import by_inflection
from ragloom.snapshot import Snapshot
from ragloom.snapshot.languages import ENGLISH, query_language
from ragloom.snapshot.letters import clean, has_marks, mark_class

_SHORTEST = 4  # letters; at a distance of one, shorter words all have neighbours
_SHORTEST_UNCASED = 6  # letters and marks of a script without capitals; few of its words are longer
_LONG = 8  # letters from which two of them may differ
_SHORT = 6  # letters below which a word is known by its inflections, too
_FINAL_SIGMA = re.compile("\u03c3$")
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
        word = clean(match[0])
        lowered = word.casefold()
        cased = word.islower() or word.istitle()
        shortest = _SHORTEST if cased else _SHORTEST_UNCASED
        if len(word) < shortest or not (cased or word == word.swapcase()):
            return match[0]
        inflections = _INFLECTIONS if len(word) < _SHORT else ()
        if any(known(lowered + ending) for ending in ("", *inflections)) or _exists(
            word, snapshot, inflected=not cased
        ):
            return match[0]
        name = bool(match.start()) and word.istitle()
        spelling = _nearest(lowered, snapshot, near=name or foreign())
        if spelling is None:
            return match[0]
        found.add(spelling)
        return _FINAL_SIGMA.sub("\u03c2", spelling)

    return _word(has_marks(text)).sub(replaced, text), frozenset(found)


@cache
def _word(marked: bool) -> re.Pattern[str]:  # noqa: FBT001 - the key of a cache
    marks = mark_class() if marked else ""
    letters = rf"[^\W\d_](?:[^\W\d_]|[{marks}])*+" if marks else r"[^\W\d_]++"
    return re.compile(rf"(?<![\w{marks}./@#:-]){letters}(?![\w/@#:-]|\.\w)")


def _exists(word: str, snapshot: Snapshot, *, inflected: bool) -> bool:
    """Whether documents hold a word, or another form of it; of several pairs of characters always."""
    words = snapshot.lexical.query_words(word)
    if len(words) != 1 or words[0].stop or snapshot.lexical.frequency(words[0]):
        return True
    return inflected and by_inflection(words[0], snapshot, 1.0) != words[0]


def _nearest(word: str, snapshot: Snapshot, *, near: bool) -> str | None:
    """The nearest word of the files, at a distance of one; of a long one, unless ``near``, of two."""
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    letters = _word(has_marks(word)).fullmatch
    spelt = [one for one, _ in snapshot.file_lexical.vocabulary(word[0]) if letters(one)]
    most = 1 if near or len(word) < _LONG else 2
    found = extract(word, spelt, scorer=OSA.distance, score_cutoff=most, limit=None)
    frequency = snapshot.file_lexical.spelling_frequency
    alike = [
        (distance, -files, one)
        for one, distance, _ in found
        if (one[-1] == word[-1] or distance < most or most == 1) and (files := frequency(one))
    ]
    return min(alike)[2] if alike else None

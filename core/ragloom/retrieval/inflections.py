"""Inflected forms of a word that no stemmer knows, by the terms of the index.

Snowball has no stemmer for Hebrew, Hindi, Bengali, Polish, Czech or Ukrainian, and none takes a German
compound apart. A word that no document holds is found there by words that begin as it does; a Hebrew word
by itself with an article, a preposition or a conjunction before it, which are written as one word with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from ragloom.snapshot import Snapshot
from ragloom.snapshot.languages import LANGUAGES, OTHER
from ragloom.snapshot.letters import has_marks
from ragloom.snapshot.words import QueryWord

_HEBREW: Final = re.compile("[\u05d0-\u05ea]{3,}")
# The, and, in, to, of, as, that; and the, that the, from the, and in, and to.
_BEFORE: Final = (
    *"\u05d4\u05d5\u05d1\u05dc\u05de\u05db\u05e9",
    "\u05d5\u05d4",
    "\u05e9\u05d4",
    "\u05de\u05d4",
    "\u05d5\u05d1",
    "\u05d5\u05dc",
)
_PLURALS: Final = ("\u05d9\u05dd", "\u05d5\u05ea")
_WITHIN: Final = str.maketrans("\u05da\u05dd\u05df\u05e3\u05e5", "\u05db\u05de\u05e0\u05e4\u05e6")
_AT_THE_END: Final = str.maketrans(
    "\u05db\u05de\u05e0\u05e4\u05e6", "\u05da\u05dd\u05df\u05e3\u05e5"
)
_COMPOUNDING: Final = frozenset(
    {"danish", "dutch", "finnish", "german", "hungarian", "norwegian", "swedish"}
)
_STEMMED: Final = frozenset(LANGUAGES) - _COMPOUNDING - {OTHER}
_SAME: Final = 4  # characters that two forms of a word have in common, and two thirds of it
_ENDING, _MARKED_ENDING = 3, 4  # characters behind them; vowel signs count, too
_HEAD: Final = 8  # letters of a stem that begins a compound


def by_inflection(word: QueryWord, snapshot: Snapshot, weight: float) -> QueryWord:
    """``word``; found by other forms of it where no document holds the word itself.

    A Hebrew word is found with its prefixes in any case. Other terms count ``weight`` times as much.
    """
    index = snapshot.lexical
    if word.stop or not any(len(form) == 1 for form in word.forms):
        return word
    held = bool(index.frequency(word))
    others: Sequence[str]
    if _HEBREW.fullmatch(word.text):
        others = [one for one in _hebrew(word.text, held=held) if _frequency(one, snapshot)]
    elif held or _STEMMED.issuperset(index.languages):
        return word
    else:
        others = _alike(word, snapshot)
    known = dict(word.weights)
    return replace(
        word,
        forms=(*word.forms, *((term,) for term in others)),
        weights=(*known.items(), *((term, weight) for term in others if term not in known)),
    )


def _frequency(term: str, snapshot: Snapshot) -> int:
    return snapshot.lexical.frequency(QueryWord(text=term, forms=((term,),), weights=()))


def _hebrew(word: str, *, held: bool) -> Iterator[str]:
    """A word with what may stand before it; one that is not ``held`` in the other number, too."""
    bases = {word: None}
    if not held:
        if word.startswith(_BEFORE) and len(word) > len("\u05d1\u05d9\u05ea"):
            bases[word[1:]] = None
        for base in tuple(bases):
            bases |= dict.fromkeys(base.translate(_WITHIN) + ending for ending in _PLURALS)
            if base.endswith(_PLURALS):
                single = base[:-2]
                bases[single[:-1] + single[-1:].translate(_AT_THE_END)] = None
    for base in bases:
        yield from (before + base for before in ("", *_BEFORE) if before + base != word)


def _alike(word: QueryWord, snapshot: Snapshot) -> Sequence[str]:
    """The terms that have the most in common with a word from their beginning on, if that is enough."""
    found: dict[str, int] = {}
    compounding = not _COMPOUNDING.isdisjoint(snapshot.lexical.languages)
    unstemmed = OTHER in snapshot.lexical.languages
    for (term,) in (form for form in word.forms if len(form) == 1):
        ending = _MARKED_ENDING if has_marks(term) else _ENDING
        same = max(_SAME, len(term) - ending, -(-2 * len(term) // 3))
        if term.isascii():
            same = max(_SAME + 1, len(term) - 1)
        if len(term) < same:
            continue
        for field in ("body", "variants"):
            # Words of English are stemmed, and a neighbour of one is another word.
            inflected = unstemmed and (field == "variants" or not term.isascii())
            for other, _ in snapshot.lexical.vocabulary(term[:same], field):
                common = _common(term, other)
                head = compounding and len(term) >= _HEAD and common == len(term)
                if head or (inflected and len(other) - common <= ending):
                    found[other] = common
    most = max(found.values(), default=0)
    return [
        other for other, common in found.items() if common == most and _frequency(other, snapshot)
    ]


def _common(one: str, other: str) -> int:
    """How many characters two words begin with in common."""
    at = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        at += 1
    return at

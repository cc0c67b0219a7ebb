"""A verb that no document holds by the noun of who does it, and the noun by the verb.

English stemmers leave them apart: "who owns it" and "its owner" have no term in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ragloom.snapshot import Snapshot
from ragloom.snapshot.words import QueryWord

_AGENTS: Final = ("ers", "ors", "er", "or")
_VERBS: Final = ("ing", "es", "ed", "s", "")
_SHORTEST: Final = 3  # letters that are the same


def by_agent_noun(word: QueryWord, snapshot: Snapshot, weight: float) -> QueryWord:
    """``word``; found by its agent noun, or by its verb, where no document holds the word itself.

    The terms of the other word count ``weight`` times as much.
    """
    if (
        word.stop
        or not word.text.isascii()
        or not word.text.isalpha()
        or snapshot.lexical.frequency(word)
    ):
        return word
    for other in dict.fromkeys(_others(word.text)):
        (found,) = snapshot.lexical.query_words(other)
        if snapshot.lexical.frequency(found):
            weights = tuple((term, weight * at) for term, at in found.weights)
            return replace(word, forms=found.forms, weights=weights)
    return word


def _others(word: str) -> Iterator[str]:
    """Agent nouns of a verb, then verbs of an agent noun, as own of owner. Some are no words."""
    for endings, others in ((_VERBS, ("er", "or")), (_AGENTS, ("", "e"))):
        for ending in endings:
            stem = word.removesuffix(ending)
            if word.endswith(ending) and len(stem) >= _SHORTEST:
                yield from (stem + other for other in others)
                # run, runner
                doubled = stem[:-1] if stem[-1] == stem[-2] else stem + stem[-1]
                yield from (doubled + other for other in others)

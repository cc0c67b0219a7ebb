"""A word that no document holds, by another one: in another spelling or form, or for who does it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

from ragloom.retrieval.agent_nouns import agent_nouns
from ragloom.retrieval.derivations import derivations
from ragloom.retrieval.spelling_variants import spelling_variants
from ragloom.snapshot import Snapshot
from ragloom.snapshot.words import QueryWord


def by_kindred_word(word: QueryWord, snapshot: Snapshot, weight: float) -> QueryWord:
    """``word``; found by a kindred one where no document holds the word itself.

    The terms of the other word count ``weight`` times as much.
    """
    text = word.text
    if word.stop or not text.isascii() or not text.isalpha() or snapshot.lexical.frequency(word):
        return word
    others = chain(spelling_variants(text), derivations(text), agent_nouns(text))
    for other in dict.fromkeys(others):
        (found,) = snapshot.lexical.query_words(other)
        if snapshot.lexical.frequency(found):
            weights = tuple((term, weight * at) for term, at in found.weights)
            return replace(word, forms=found.forms, weights=weights)
    return word

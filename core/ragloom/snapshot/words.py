"""The words of a query, as the index holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWord:
    """A word of a query and the index terms that stand for it.

    Attributes:
        text: As typed, in compatibility form and lower case; an identifier or a hyphenated word is
            one word. In scripts without spaces, a pair of characters.
        forms: Alternatives. A chunk has the word where it has every term of one of them.
        weights: The terms that BM25 searches for the word, and how much each counts.
        count: How often the query has the word.
        stop: Whether it is a stop word of the query's language.
    """

    text: str
    forms: tuple[tuple[str, ...], ...]
    weights: tuple[tuple[str, float], ...]
    count: int = 1
    stop: bool = False


def weighted_terms(words: Iterable[QueryWord]) -> Mapping[str, float]:
    """The terms that BM25 searches for ``words``: stop words only if there is nothing else."""
    words = list(words)
    content = [word for word in words if not word.stop and word.weights] or words
    found: dict[str, float] = {}
    for word in content:
        for term, weight in word.weights:
            found[term] = found.get(term, 0.0) + weight * word.count
    return found

"""Choosing hits that are relevant and say different things."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ragloom.protocols import Embeddings
from ragloom.types import Hit

TRADE_OFF = 0.7
"""The weight of relevance against novelty: 1 ignores likeness, 0 ignores relevance."""

_WORD = re.compile(r"\w+")


def maximal_marginal_relevance(
    hits: Sequence[Hit],
    vectors: Embeddings | None = None,
    *,
    trade_off: float = TRADE_OFF,
    limit: int | None = None,
) -> tuple[Hit, ...]:
    """Reorder hits so that each is relevant and unlike those before it.

    The next hit is always the one with the highest ``trade_off * relevance - (1 - trade_off) *
    likeness``, where the likeness is its highest cosine with a hit already chosen (Carbonell and
    Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998). The first is the most
    relevant; ties go to the higher score, then to the smaller chunk id.

    Args:
        hits: In any order.
        vectors: ``(len(hits), d)`` float32 of unit length, a row a hit; without them, likeness is
            :func:`word_overlap`.
        trade_off: 0 to 1.
        limit: Choose at most so many; None for all.

    Raises:
        ValueError: There is not one vector a hit, or ``trade_off`` is not between 0 and 1.
    """
    if not 0 <= trade_off <= 1:
        raise ValueError(f"trade_off must be from 0 to 1, not {trade_off}")
    if vectors is not None and len(vectors) != len(hits):
        raise ValueError(f"{len(hits)} hits need {len(hits)} vectors, not {len(vectors)}")
    wanted = len(hits) if limit is None else min(max(limit, 0), len(hits))
    if not wanted:
        return ()
    # Rows in the order of preference, so that argmax, which takes the first of equals, breaks ties.
    order = sorted(range(len(hits)), key=lambda row: _preference(hits[row]))
    likeness: Callable[[int], npt.NDArray[np.floating]]
    if vectors is None:
        likeness = word_overlap([hits[row].chunk.text for row in order]).__getitem__
    else:
        likeness = partial(_cosines, vectors[order])
    gain = trade_off * np.array([hits[row].relevance for row in order], np.float64)
    nearest = np.full(len(order), -np.inf)
    left = np.ones(len(order), np.bool_)
    chosen: list[Hit] = []
    while len(chosen) < wanted:
        worth = gain if not chosen else gain - (1 - trade_off) * nearest
        best = int(np.argmax(np.where(left, worth, -np.inf)))
        left[best] = False
        nearest = np.maximum(nearest, likeness(best))
        chosen.append(hits[order[best]])
    return tuple(chosen)


def word_overlap(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """``(n, n)`` float64: the share of different words that two texts have in common (Jaccard)."""
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    shared = np.ones((len(texts), len(texts)))
    for row, one in enumerate(words):
        for column in range(row):
            union = len(one | words[column])
            share = len(one & words[column]) / union if union else 1.0
            shared[row, column] = shared[column, row] = share
    return shared


def _cosines(vectors: Embeddings, row: int) -> npt.NDArray[np.float32]:
    # A row at a time: a product of matrices this small would wait for its threads to start.
    cosines: npt.NDArray[np.float32] = vectors @ vectors[row]
    return cosines


def _preference(hit: Hit) -> tuple[float, float, str]:
    return -hit.relevance, -hit.score, hit.chunk.id

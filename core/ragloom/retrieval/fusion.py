"""Fusing the cosines and the BM25 scores of the candidates into one score."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from ragloom.types import Mode

DENSE_WEIGHT = 0.6
"""Of the convex combination, where the model has the words of the query: ``benchmarks/README.md``."""

_UNKNOWN = 0.5  # of the weight, where it has none of them, and makes them up of pieces
_KNOWN = 0.6  # the share of them from which on it has them

_RANK_OFFSET = 60  # as its authors found it


def fuse(
    cosine: Sequence[npt.NDArray[np.float32]],
    lexical: Sequence[npt.NDArray[np.float32]],
    mode: Mode,
    known: float = 1.0,
    weight: float = DENSE_WEIGHT,
) -> Sequence[npt.NDArray[np.float64]]:
    """What orders the candidates of one or more indexes: float64, 0 to 1, on a scale common to all.

    Args:
        cosine: ``(n,)`` for each index; NaN where no embedding was compared.
        lexical: ``(n,)`` BM25; NaN where the chunk shares no word with the query.
        mode: ``rrf`` for reciprocal ranks; a convex combination otherwise.
        known: The share, 0 to 1, of the query's words that the model has whole. The less it knows of them,
            the less its cosines weigh in the combination; measured in ``benchmarks/README.md``.
        weight: Of the cosines in the combination, 0 to 1.
    """
    cosines, words = np.concatenate(cosine), np.concatenate(lexical)
    if mode == "rrf":
        scores = _reciprocal_ranks(cosines, words)
    else:
        dense = weight * (_UNKNOWN + (1 - _UNKNOWN) * min(known / _KNOWN, 1.0))
        scores = _combined(cosines, words, dense)
    ends = accumulate(map(len, cosine))
    return [scores[end - len(one) : end] for one, end in zip(cosine, ends, strict=True)]


def _combined(
    cosine: npt.NDArray[np.float32], lexical: npt.NDArray[np.float32], dense: float
) -> npt.NDArray[np.float64]:
    """A convex combination of the two scores, each scaled to 0..1 over the candidates.

    Fox and Shaw's CombSUM over min-max normalised scores ("Combination of Multiple Searches", 1993),
    weighted as Bruch, Gai and Ingber found better than ranks ("An Analysis of Fusion Functions for
    Hybrid Retrieval", 2023). A chunk that shares no word with the query has a lexical score of 0.
    """
    words = _scaled(lexical, 0.0)
    lowest = np.fmin.reduce(cosine, initial=np.nan)
    if np.isnan(lowest):
        return words
    meaning = _scaled(cosine, float(lowest))
    if np.isnan(np.fmin.reduce(lexical, initial=np.nan)):
        return meaning
    return dense * meaning + (1 - dense) * words


def _reciprocal_ranks(
    cosine: npt.NDArray[np.float32], lexical: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """The sum of 1 / (60 + rank) over the lists that hold a chunk (Cormack, Clarke and Buettcher, 2009)."""
    total = np.zeros(len(cosine))
    for scores in (cosine, lexical):
        share = 1 / (_RANK_OFFSET + ranks(scores))
        share[np.isnan(share)] = 0.0
        total += share
    return total


def ranks(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """``(n,)`` float64: places from 1 by score, highest first; NaN for NaN."""
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    places = np.empty(len(scores))
    places[order] = np.arange(1, len(scores) + 1)
    places[np.isnan(scores)] = np.nan
    return places


def _scaled(scores: npt.NDArray[np.float32], low: float) -> npt.NDArray[np.float64]:
    """Scores on a scale from ``low``, which those have that are NaN, to the highest."""
    scaled = scores.astype(np.float64)
    scaled[np.isnan(scaled)] = low
    high = np.maximum.reduce(scaled, initial=low)
    if high <= low:
        return np.ones(len(scaled))
    scaled -= low
    scaled /= high - low
    return scaled

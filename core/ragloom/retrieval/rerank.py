"""Reordering the head of a ranking by a model that reads the query and each passage together.

Its score is added to that of the fused order, at a weight, and does not take its place: measured in
``benchmarks/README.md``. Reranking changes the order and nothing else: what is relevant enough to be shown
is decided by the same relevance as without it, and a passage that it decides against is never read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ragloom.errors import ModelError
from ragloom.protocols import Reranker
from ragloom.retrieval.ranking import Ranking
from ragloom.snapshot import Snapshot
from ragloom.text.chunks import embedded_text


def reranked(
    query: str,
    snapshot: Snapshot,
    ranking: Ranking,
    reranker: Reranker,
    places: Sequence[int],
    weight: float,
) -> Ranking:
    """``ranking`` with the candidates at ``places`` moved to its front, in the order of both scores.

    All others follow in their fused order. The score of those in front is ``1 + (1 - w) f + w r`` for the
    fused score ``f`` and the reranker's score ``r``, scaled to the range of the fused scores of what it
    reads: between 1 and 2, on one scale for several spaces, and above every fused score. Ties break by id.

    As the embedder does, the reranker reads context and text of a chunk.

    Args:
        query: As asked.
        snapshot: With the chunks.
        ranking: The fused order.
        reranker: Gives a score for each passage.
        places: Candidates that it reads, from 0.
        weight: ``w``, 0 to 1; at 1 the reranker alone orders.

    Raises:
        ModelError: The reranker does not answer, or not with a finite number for every passage.
    """
    if not places:
        return ranking
    front = np.array(places, np.intp)
    rows = ranking.rows[front]
    passages = [embedded_text(snapshot.chunk(int(row))) for row in rows]
    scores = np.asarray(reranker.rerank(query, passages), np.float64)
    if scores.shape != front.shape:
        raise ModelError(f"the reranker gave {scores.size} scores for {len(passages)} passages")
    if not np.isfinite(scores).all():
        raise ModelError("the reranker gave a score that is not a finite number")
    both = (1 - weight) * ranking.scores[front] + weight * _scaled(scores, ranking.scores[front])
    # What is rounded alike at a weight of 1 keeps the order of the reranker.
    best = np.lexsort((snapshot.ids[rows], -scores if weight == 1 else -both))
    order = np.concatenate([front[best], np.delete(np.arange(len(ranking.rows)), front)])
    new_scores = ranking.scores[order]
    new_scores[: len(best)] = 1 + np.minimum.accumulate(both[best])
    return replace(ranking.reordered(order), scores=new_scores)


def _scaled(
    scores: npt.NDArray[np.float64], fused: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The scores in the range of the fused ones; where all are alike, the middle of it."""
    halves = scores / 2  # the width of the widest would overflow
    width = halves.max() - halves.min()
    part = (halves - halves.min()) / width if width else np.full(len(scores), 0.5)
    scaled: npt.NDArray[np.float64] = fused.min() + (fused.max() - fused.min()) * part
    return scaled

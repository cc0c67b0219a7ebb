"""Reordering the head of a ranking by a model that reads the query and each passage together.

Reranking changes the order and nothing else: what is relevant enough to be shown is decided by the
same relevance as without it, and a passage that it decides against is never read.
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
    *,
    snapshot: Snapshot,
    ranking: Ranking,
    reranker: Reranker,
    places: Sequence[int],
) -> Ranking:
    """``ranking`` with the candidates at ``places`` moved to its front, in the reranker's order.

    All others follow in their fused order. The score of those in front is ``1.5 + s / (2 + 2|s|)``
    for the reranker's score ``s``: between 1 and 2, in the order of ``s`` whatever its scale, and above
    every fused score, which is at most 1. Ties break by chunk id.

    As the embedder does, the reranker reads context and text of a chunk.

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
    best = np.lexsort((snapshot.ids[rows], -scores))
    order = np.concatenate([front[best], np.delete(np.arange(len(ranking.rows)), front)])
    new_scores = ranking.scores[order]
    new_scores[: len(best)] = _above_fused(scores[best])
    return replace(ranking.reordered(order), scores=new_scores)


def _above_fused(scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    scaled = 1.5 + scores / (2 + 2 * np.abs(scores))
    falling: npt.NDArray[np.float64] = np.minimum.accumulate(scaled)  # whatever was rounded
    return falling

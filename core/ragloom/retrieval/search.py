"""Query to hits: ranking, reranking, the gate, and the check against the files.

The score, fused or a reranker's, only orders. Whether a hit is shown is decided by its relevance, an
absolute number (:mod:`ragloom.retrieval.relevance`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import numpy as np

from ragloom.config.settings import SpaceSettings
from ragloom.config.spelling import counted
from ragloom.protocols import Embedder, Reranker, SearchableStore
from ragloom.retrieval.gate import Judged, examined, judge
from ragloom.retrieval.query import Query
from ragloom.retrieval.ranking import Ranking, rank
from ragloom.retrieval.relevance import (
    DEFAULT_CALIBRATION,
    LEXICAL_CALIBRATION,
    WordEvidence,
    relevance,
    word_evidence,
)
from ragloom.retrieval.rerank import reranked
from ragloom.snapshot import Snapshot
from ragloom.types import Calibration, Hit, SearchResult


class Answers(Protocol):
    """What answers a query: a :class:`ragloom.Space`."""

    @property
    def name(self) -> str:
        """The space."""

    @property
    def settings(self) -> SpaceSettings:
        """What a query leaves open."""

    @property
    def embedder(self) -> Embedder:
        """The one that made the snapshot; not made in mode ``lexical``."""

    @property
    def reranker(self) -> Reranker | None:
        """Reorders the best candidates."""

    def snapshot(self) -> Snapshot:
        """The generation that answers."""

    def native(self) -> SearchableStore | None:
        """An open store that finds the nearest chunks instead of the snapshot."""

    def calibration(self) -> Calibration | None:
        """Instead of the embedder's own."""

    def follow(self, hit: Hit) -> Hit | None:
        """A hit as its file stands now; None where the file no longer says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The candidates of a query and what becomes of them.

    Attributes:
        ranking: In their order, reranked if a reranker is set.
        calibration: What turns evidence into relevance.
        candidates: In the same order, judged lazily.
    """

    ranking: Ranking
    calibration: Calibration
    candidates: Iterator[Judged]


def judged(query: Query, space: Answers, *, rerank: bool = True) -> Judgement:
    """Rank the candidates of a query, and judge each lazily.

    Raises:
        NotIndexedError: Nothing is indexed yet, or with another model.
        ModelError: A model does not answer.
    """
    top_k, least, mode = query.choices(space.settings)
    snapshot, lexical = space.snapshot(), mode == "lexical"
    embedder = None if lexical else space.embedder
    ranking = rank(
        query.text,
        snapshot=snapshot,
        embedder=embedder,
        native=None if lexical else space.native(),
        mode=mode,
        where=query.conditions,
    )
    calibration = LEXICAL_CALIBRATION
    if embedder is not None and not np.isnan(ranking.cosine).all():
        calibration = space.calibration() or embedder.calibration or DEFAULT_CALIBRATION
    if rerank and space.reranker is not None:
        head = islice(candidates(snapshot, ranking, calibration), space.settings.rerank_depth)
        # What the gate keeps out need not be read: the order of the others is the same without it.
        places = [at for at, (hit, _) in enumerate(head) if hit.relevance >= least]
        ranking = reranked(
            query.text, snapshot=snapshot, ranking=ranking, reranker=space.reranker, places=places
        )
    made = candidates(snapshot, ranking, calibration)
    return Judgement(
        ranking=ranking,
        calibration=calibration,
        candidates=judge(made, top_k=top_k, min_relevance=least, follow=space.follow),
    )


def search(query: Query, space: Answers, *, rerank: bool = True) -> SearchResult:
    """Search one space; raises as :func:`judged`."""
    top_k, least, _ = query.choices(space.settings)
    judgement = judged(query, space, rerank=rerank)
    hits: list[Hit] = []
    closest: Hit | None = None
    changed = 0
    for item in islice(judgement.candidates, examined(top_k)):
        if len(hits) == top_k:
            break
        if closest is None or item.hit.relevance > closest.relevance:
            closest = item.hit
        if item.verdict == "shown":
            hits.append(item.hit)
        changed += item.verdict == "changed"
    return SearchResult(
        query=query.text,
        space=space.name,
        hits=tuple(hits),
        reason=judgement.ranking.reason or _reason(hits, changed, closest, least),
        generation=space.snapshot().meta.generation,
        closest=None if hits or changed else closest,
    )


def candidates(
    snapshot: Snapshot, ranking: Ranking, calibration: Calibration
) -> Iterator[tuple[Hit, WordEvidence]]:
    """The candidates as hits and the words they share with the query, lazily."""
    index = snapshot.lexical
    weights = {term: index.inverse_document_frequency(term) for term in ranking.terms}
    for at, row in enumerate(ranking.rows):
        chunk = snapshot.chunk(int(row))
        cosine, lexical = float(ranking.cosine[at]), float(ranking.lexical[at])
        evidence = word_evidence(weights, index.stems, f"{chunk.context}\n{chunk.text}")
        hit = Hit(
            chunk=chunk,
            score=float(ranking.scores[at]),
            relevance=relevance(
                calibration, cosine=0.0 if np.isnan(cosine) else cosine, evidence=evidence
            ),
            cosine=None if np.isnan(cosine) else cosine,
            lexical=None if np.isnan(lexical) else lexical,
        )
        yield hit, evidence


def _reason(hits: list[Hit], changed: int, closest: Hit | None, least: float) -> str:
    if changed:
        whose = "its file" if changed == 1 else "their files"
        return f"{counted(changed, 'hit')} omitted: {whose} changed after indexing; run 'ragloom index'"
    if hits or closest is None:
        return ""
    chunk = closest.chunk
    title = f' "{chunk.headings[-1]}"' if chunk.headings else ""
    return (
        f"no relevant match (best {closest.relevance:.2f}, minimum {least:.2f}); "
        f"closest: {chunk.uri}:{chunk.lines.start}{title}"
    )

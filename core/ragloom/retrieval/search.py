"""Query to hits: dense and lexical candidates, fused into an order, reranked, gated on relevance.

The score, fused or a reranker's, only orders. Whether a hit is shown is decided by its relevance, an
absolute number (:mod:`ragloom.retrieval.relevance`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError
from ragloom.protocols import Embedder, Embeddings, Reranker, SearchableStore
from ragloom.retrieval.relevance import (
    DEFAULT_CALIBRATION,
    LEXICAL_CALIBRATION,
    check_gate,
    relevance,
    word_evidence,
)
from ragloom.retrieval.rerank import RERANK_DEPTH, reranked
from ragloom.snapshot import Snapshot
from ragloom.types import Calibration, Condition, Hit, SearchResult

__all__ = [
    "CANDIDATES",
    "DENSE_WEIGHT",
    "Ranking",
    "examined",
    "rank",
    "ranked_hits",
    "scale",
    "search",
]

CANDIDATES = 1000  # from each of the two lists
_RANK_OFFSET = 60  # as its authors found it
DENSE_WEIGHT = 0.55  # of the convex combination; both measured in benchmarks/README.md


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates of one query in their fused order, before anything is gated.

    Attributes:
        rows: ``(n,)`` rows of the snapshot, best first.
        scores: ``(n,)`` float64: what orders them.
        cosine: ``(n,)`` float32; NaN where no embedding was compared.
        lexical: ``(n,)`` float32, BM25; NaN where the chunk shares no word with the query.
        terms: The query's stems and how often it names them.
        reason: Why there are none.
    """

    rows: npt.NDArray[np.intp]
    scores: npt.NDArray[np.float64]
    cosine: npt.NDArray[np.float32]
    lexical: npt.NDArray[np.float32]
    terms: Mapping[str, float]
    reason: str = ""


def search(  # noqa: PLR0913 - what is asked, of what, and how
    query: str,
    *,
    space: str,
    snapshot: Snapshot,
    embedder: Embedder | None,
    native: SearchableStore | None = None,
    calibration: Calibration | None = None,
    reranker: Reranker | None = None,
    rerank_depth: int = RERANK_DEPTH,
    mode: str = "hybrid",
    top_k: int = 5,
    min_relevance: float = 0.3,
    where: Sequence[Condition] = (),
) -> SearchResult:
    """Ask one generation.

    Args:
        query: In words.
        space: For the result.
        snapshot: What is asked.
        embedder: The one that made the snapshot; not needed in mode ``lexical``.
        native: An open store that is asked for the nearest chunks instead of the snapshot.
        calibration: Instead of the embedder's own.
        reranker: Reorders the best candidates; see :func:`~ragloom.retrieval.rerank.reranked` for the scores.
        rerank_depth: How many of them.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        top_k: Hits at the most.
        min_relevance: Hits below it are left out.
        where: Conditions that every hit passes.

    Raises:
        ConfigError: ``min_relevance`` is not 0 to 1.
        NotIndexedError: The snapshot was made with another model.
        ModelError: A model does not answer.
    """
    check_gate(min_relevance)
    ranking = rank(
        query, snapshot=snapshot, embedder=embedder, native=native, mode=mode, where=where
    )
    nothing = SearchResult(query=query, space=space, generation=snapshot.meta.generation)
    if ranking.reason:
        return replace(nothing, reason=ranking.reason)
    if reranker is not None:
        head = islice(ranked_hits(snapshot, ranking, embedder, calibration), rerank_depth)
        # What the gate keeps out need not be read: the order of the others is the same without it.
        places = [at for at, hit in enumerate(head) if hit.relevance >= min_relevance]
        ranking = reranked(
            query, snapshot=snapshot, ranking=ranking, reranker=reranker, places=places
        )
    hits: list[Hit] = []
    best = 0.0
    for hit in islice(ranked_hits(snapshot, ranking, embedder, calibration), examined(top_k)):
        if len(hits) == top_k:
            break
        best = max(best, hit.relevance)
        if hit.relevance >= min_relevance:
            hits.append(hit)
    if not hits:
        reason = (
            f"nothing is relevant enough: the best of {len(ranking.rows)} candidates has "
            f"relevance {best:.2f}, and {min_relevance:.2f} is asked for"
        )
        return replace(nothing, reason=reason)
    return replace(nothing, hits=tuple(hits))


def examined(top_k: int) -> int:
    """How many candidates, from the best on, are looked at for ``top_k`` that are relevant."""
    return min(max(50, 4 * top_k), 2 * CANDIDATES)


def rank(
    query: str,
    *,
    snapshot: Snapshot,
    embedder: Embedder | None,
    native: SearchableStore | None = None,
    mode: str = "hybrid",
    where: Sequence[Condition] = (),
) -> Ranking:
    """Order the candidates of a query; the arguments are those of :func:`search`.

    Raises:
        NotIndexedError: The snapshot was made with another model.
    """
    if not query.strip():
        return _none("the query is empty")
    if not len(snapshot):
        return _none("the index is empty: no file of this space holds any text")
    allowed = None
    if where:
        passing = snapshot.columns.passing(where)
        if not passing.any():
            return _none("no file passes the filter")
        allowed = np.flatnonzero(passing[snapshot.file_of_row])
    terms = snapshot.lexical.query_terms(query)
    vector = None
    if mode != "lexical" and embedder is not None:
        if embedder.fingerprint != snapshot.meta.embedder:
            message = (
                f"{snapshot.directory.parent.name!r} was indexed with another model: "
                "run 'ragloom index'"
            )
            raise NotIndexedError(message)
        vector = embedder.embed_query(query)
        if not vector.any():  # nothing in it means anything to the model: words may still be found
            vector = None
    sought = terms if mode != "dense" else {}
    rows, cosine, lexical = _candidates(snapshot, vector, sought, allowed, native, where)
    if not len(rows):
        if mode == "dense" and vector is None:
            return _none("the model knows nothing of the query")
        return _none("no chunk shares a word with the query")
    scores = _reciprocal_ranks(cosine, lexical) if mode == "rrf" else _fuse(cosine, lexical)
    order = np.lexsort((snapshot.ids[rows], -scores))
    return Ranking(rows[order], scores[order], cosine[order], lexical[order], terms)


def ranked_hits(
    snapshot: Snapshot,
    ranking: Ranking,
    embedder: Embedder | None,
    calibration: Calibration | None = None,
) -> Iterator[Hit]:
    """The candidates as hits, best first, each made when it is asked for."""
    calibration = scale(ranking, embedder, calibration)
    index = snapshot.lexical
    weights = {term: index.inverse_document_frequency(term) for term in ranking.terms}
    for at, row in enumerate(ranking.rows):
        chunk = snapshot.chunk(int(row))
        cosine, lexical = float(ranking.cosine[at]), float(ranking.lexical[at])
        evidence = word_evidence(weights, index.stems, f"{chunk.context}\n{chunk.text}")
        yield Hit(
            chunk=chunk,
            score=float(ranking.scores[at]),
            relevance=relevance(
                calibration, cosine=0.0 if np.isnan(cosine) else cosine, evidence=evidence
            ),
            cosine=None if np.isnan(cosine) else cosine,
            lexical=None if np.isnan(lexical) else lexical,
        )


def scale(
    ranking: Ranking, embedder: Embedder | None, calibration: Calibration | None
) -> Calibration:
    """What turns the evidence for the candidates into relevance."""
    if np.isnan(ranking.cosine).all():
        return LEXICAL_CALIBRATION
    return calibration or (embedder.calibration if embedder else None) or DEFAULT_CALIBRATION


def _none(reason: str) -> Ranking:
    scores = np.empty(0, np.float32)
    return Ranking(np.empty(0, np.intp), np.empty(0), scores, scores, {}, reason)


def _candidates(
    snapshot: Snapshot,
    vector: Embeddings | None,
    terms: Mapping[str, float],
    allowed: npt.NDArray[np.intp] | None,
    native: SearchableStore | None,
    where: Sequence[Condition],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Rows, their cosines and their BM25 scores, in no order."""
    among = None if allowed is None else snapshot.serials[allowed]
    serials, lexical_scores = snapshot.lexical.search(terms, limit=CANDIDATES, among=among)
    lexical_rows = snapshot.rows_of_serials(serials)
    if vector is None:
        unknown = np.full(len(lexical_rows), np.nan, np.float32)
        return lexical_rows, unknown, lexical_scores
    if native is not None:
        nearest = native.search(vector, limit=CANDIDATES, where=where)
        known = snapshot.row_of_id
        dense_rows = np.array([known[name] for name, _ in nearest if name in known], np.intp)
    else:
        dense_rows = _nearest(snapshot, vector, allowed)
    rows = np.union1d(dense_rows, lexical_rows)
    lexical = np.full(len(rows), np.nan, np.float32)
    lexical[np.searchsorted(rows, lexical_rows)] = lexical_scores
    return rows, snapshot.cosines(vector, rows), lexical


def _nearest(
    snapshot: Snapshot, vector: Embeddings, allowed: npt.NDArray[np.intp] | None
) -> npt.NDArray[np.intp]:
    """The rows with the highest cosine, exactly; in no order."""
    cosine = snapshot.cosines(vector)
    if allowed is not None:
        cosine = cosine[allowed]
    count = min(CANDIDATES, len(cosine))
    best = np.argpartition(cosine, len(cosine) - count)[len(cosine) - count :]
    return best if allowed is None else allowed[best]


def _fuse(
    cosine: npt.NDArray[np.float32], lexical: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """A convex combination of the two scores, each scaled to 0..1 over the candidates.

    Fox and Shaw's CombSUM over min-max normalised scores ("Combination of Multiple Searches", 1993),
    weighted as Bruch, Gai and Ingber found better than ranks ("An Analysis of Fusion Functions for
    Hybrid Retrieval", 2023). A chunk that shares no word with the query has a lexical score of 0.
    """
    words = _scaled(np.append(lexical, np.float32(0)))[:-1]
    if np.isnan(cosine).all():
        return words
    meaning = _scaled(cosine)
    if np.isnan(lexical).all():
        return meaning
    return DENSE_WEIGHT * meaning + (1 - DENSE_WEIGHT) * words


def _reciprocal_ranks(
    cosine: npt.NDArray[np.float32], lexical: npt.NDArray[np.float32]
) -> npt.NDArray[np.float64]:
    """The sum of 1 / (60 + rank) over the lists that hold a chunk (Cormack, Clarke and Buettcher, 2009)."""
    total = np.zeros(len(cosine))
    for scores in (cosine, lexical):
        order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
        ranks = np.empty(len(scores))
        ranks[order] = np.arange(1, len(scores) + 1)
        total += np.where(np.isnan(scores), 0.0, 1 / (_RANK_OFFSET + ranks))
    return total


def _scaled(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    filled = np.nan_to_num(scores.astype(np.float64), nan=0.0)
    low, high = filled.min(), filled.max()
    return (filled - low) / (high - low) if high > low else np.ones(len(filled))

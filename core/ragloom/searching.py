"""Query to hits: dense and lexical candidates, fused into an order, gated on relevance.

The fused score only orders. Whether a hit is shown is decided by its relevance, an absolute number
(:mod:`ragloom.relevance`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError
from ragloom.filters import matches
from ragloom.protocols import Embedder, Embeddings, Store
from ragloom.relevance import (
    DEFAULT_CALIBRATION,
    LEXICAL_CALIBRATION,
    relevance,
    word_evidence,
)
from ragloom.snapshot import Snapshot
from ragloom.types import Calibration, Condition, Hit, SearchResult

__all__ = ["CANDIDATES", "DENSE_WEIGHT", "search"]

CANDIDATES = 1000  # from each of the two lists
DENSE_WEIGHT = 0.55  # of the convex combination; both measured in benchmarks/README.md
_EXAMINED = 50  # hits at the head of the fused order whose relevance is worked out, at least


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Rows and their two scores; NaN where a score was not asked for or a list does not hold the row."""

    rows: npt.NDArray[np.intp]
    cosine: npt.NDArray[np.float32]
    lexical: npt.NDArray[np.float32]


def search(
    query: str,
    *,
    space: str,
    snapshot: Snapshot,
    embedder: Embedder | None,
    native: Store | None = None,
    calibration: Calibration | None = None,
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
        mode: ``hybrid``, ``dense`` or ``lexical``.
        top_k: Hits at the most.
        min_relevance: Hits below it are left out.
        where: Conditions that every hit passes.

    Raises:
        NotIndexedError: The snapshot was made with another model.
    """
    nothing = SearchResult(query=query, space=space, generation=snapshot.meta.generation)
    if not query.strip():
        return replace(nothing, reason="the query is empty")
    if not len(snapshot):
        return replace(nothing, reason="the index is empty: no file of this space holds any text")
    allowed = _allowed(snapshot, where)
    if allowed is not None and not allowed:
        return replace(nothing, reason="no file passes the filter")
    terms = snapshot.lexical.query_terms(query)
    vector = None
    if mode != "lexical" and embedder is not None:
        if embedder.fingerprint != snapshot.meta.embedder:
            message = f"{space!r} was indexed with another model: run 'ragloom index'"
            raise NotIndexedError(message)
        vector = embedder.embed_query(query)
        calibration = calibration or embedder.calibration or DEFAULT_CALIBRATION
    else:
        calibration = LEXICAL_CALIBRATION
    lexical_terms = terms if mode != "dense" else {}
    candidates = _candidates(snapshot, vector, lexical_terms, allowed, native, where)
    if not len(candidates.rows):
        return replace(nothing, reason="no chunk shares a word with the query")
    hits: list[Hit] = []
    best = 0.0
    ordered = _ordered(snapshot, candidates, terms, calibration)
    for seen, hit in enumerate(ordered):
        if len(hits) == top_k or seen >= max(_EXAMINED, 4 * top_k):
            break
        best = max(best, hit.relevance)
        if hit.relevance >= min_relevance:
            hits.append(hit)
    if not hits:
        reason = (
            f"nothing is relevant enough: the best of {len(candidates.rows)} candidates has "
            f"relevance {best:.2f}, and {min_relevance:.2f} is asked for"
        )
        return replace(nothing, reason=reason)
    return replace(nothing, hits=tuple(hits))


def _allowed(snapshot: Snapshot, where: Sequence[Condition]) -> list[str] | None:
    """The files that pass every condition; None when there is none to pass."""
    if not where:
        return None
    return [uri for uri, entry in snapshot.files.items() if matches(uri, entry.metadata, where)]


def _candidates(
    snapshot: Snapshot,
    vector: Embeddings | None,
    terms: Mapping[str, float],
    allowed: Sequence[str] | None,
    native: Store | None,
    where: Sequence[Condition],
) -> _Candidates:
    serials, lexical_scores = snapshot.lexical.search(terms, limit=CANDIDATES, uris=allowed)
    lexical_rows = snapshot.rows_of_serials(serials)
    if vector is None:
        unknown = np.full(len(lexical_rows), np.nan, np.float32)
        return _Candidates(lexical_rows, unknown, lexical_scores)
    if native is not None:
        nearest = native.search(vector, limit=CANDIDATES, where=where)
        known = snapshot.row_of_id
        dense_rows = np.array([known[name] for name, _ in nearest if name in known], np.intp)
    else:
        dense_rows = _nearest(snapshot, vector, allowed)
    rows = np.union1d(dense_rows, lexical_rows)
    lexical = np.full(len(rows), np.nan, np.float32)
    lexical[np.searchsorted(rows, lexical_rows)] = lexical_scores
    return _Candidates(rows, snapshot.vectors[rows] @ vector, lexical)


def _nearest(
    snapshot: Snapshot, vector: Embeddings, allowed: Sequence[str] | None
) -> npt.NDArray[np.intp]:
    """The rows with the highest cosine, exactly; in no order."""
    cosine = snapshot.cosines(vector)
    if allowed is not None:
        wanted = set(allowed)
        numbers = [number for number, uri in enumerate(snapshot.uris) if uri in wanted]
        cosine[~np.isin(snapshot.file_of_row, numbers)] = -np.inf
    count = min(CANDIDATES, len(cosine))
    rows = np.argpartition(cosine, len(cosine) - count)[len(cosine) - count :]
    return rows[np.isfinite(cosine[rows])]


def _fuse(candidates: _Candidates) -> npt.NDArray[np.float64]:
    """A convex combination of the two scores, each scaled to 0..1 over the candidates.

    Fox and Shaw's CombSUM over min-max normalised scores ("Combination of Multiple Searches", 1993),
    weighted as Bruch, Gai and Ingber found better than ranks ("An Analysis of Fusion Functions for
    Hybrid Retrieval", 2023). A chunk that shares no word with the query has a lexical score of 0.
    """
    dense = _scaled(candidates.cosine)
    lexical = _scaled(np.append(candidates.lexical, np.float32(0)))[:-1]
    if np.isnan(candidates.cosine).all():
        return lexical
    if np.isnan(candidates.lexical).all():
        return dense
    return DENSE_WEIGHT * dense + (1 - DENSE_WEIGHT) * lexical


def _scaled(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    filled = np.nan_to_num(scores.astype(np.float64), nan=0.0)
    low, high = filled.min(), filled.max()
    return (filled - low) / (high - low) if high > low else np.ones(len(filled))


def _ordered(
    snapshot: Snapshot,
    candidates: _Candidates,
    terms: Mapping[str, float],
    calibration: Calibration,
) -> Iterator[Hit]:
    """The candidates as hits, best first, each made when it is asked for."""
    lexical = snapshot.lexical
    weights = {term: lexical.inverse_document_frequency(term) for term in terms}
    scores = _fuse(candidates)
    for at in np.lexsort((snapshot.ids[candidates.rows], -scores)):
        chunk = snapshot.chunk(int(candidates.rows[at]))
        cosine, words = float(candidates.cosine[at]), float(candidates.lexical[at])
        evidence = word_evidence(weights, lexical.stems, f"{chunk.context}\n{chunk.text}")
        yield Hit(
            chunk=chunk,
            score=float(scores[at]),
            relevance=relevance(
                calibration, cosine=0.0 if np.isnan(cosine) else cosine, evidence=evidence
            ),
            cosine=None if np.isnan(cosine) else cosine,
            lexical=None if np.isnan(words) else words,
        )

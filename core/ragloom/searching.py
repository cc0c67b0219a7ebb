"""Query to hits: dense and lexical candidates, fused into an order, gated on relevance.

The fused score only orders. Whether a hit is shown is decided by its relevance, an absolute number
from the raw cosine and the share of the query's words that the chunk holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError
from ragloom.filters import matches
from ragloom.protocols import Embedder, Embeddings, Store
from ragloom.snapshot import Snapshot
from ragloom.types import Calibration, Condition, Hit, SearchResult

__all__ = ["DEFAULT_CALIBRATION", "relevance", "search"]

CANDIDATES = 1000  # from each of the two lists; see benchmarks/README.md
DENSE_WEIGHT = 0.5
_EXAMINED = 50  # hits at the head of the fused order whose relevance is worked out, at least

DEFAULT_CALIBRATION = Calibration(
    bias=-5.0,
    cosine_weight=8.0,
    coverage_weight=3.0,
    source="a stated guess: this embedder ships no calibration; run 'ragloom calibrate'",
)


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Rows with their two scores; NaN where a list does not hold the row."""

    rows: npt.NDArray[np.intp]
    cosine: npt.NDArray[np.float32]
    lexical: npt.NDArray[np.float32]


def relevance(calibration: Calibration, *, cosine: float | None, coverage: float) -> float:
    """The calibrated chance, 0 to 1, that a passage answers; see :class:`ragloom.Calibration`.

    Without a cosine, the words alone decide: their share, as it is.
    """
    if cosine is None:
        return coverage
    logit = (
        calibration.bias
        + calibration.cosine_weight * cosine
        + calibration.coverage_weight * coverage
    )
    return 1 / (1 + exp(-logit))


def search(
    query: str,
    *,
    space: str,
    snapshot: Snapshot,
    embedder: Embedder | None,
    native: Store | None = None,
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
        mode: ``hybrid``, ``dense`` or ``lexical``.
        top_k: Hits at the most.
        min_relevance: Hits below it are left out.
        where: Conditions that every hit passes.

    Raises:
        NotIndexedError: The snapshot was made with another model.
    """
    result = SearchResult(query=query, space=space, generation=snapshot.meta.generation)
    if not query.strip():
        return _empty(result, "the query is empty")
    if not len(snapshot):
        return _empty(result, "the index is empty: no file of this space holds any text")
    allowed = _allowed(snapshot, where)
    if allowed is not None and not allowed:
        return _empty(result, "no file passes the filter")
    terms = snapshot.lexical.query_terms(query)
    vector = None
    if mode != "lexical" and embedder is not None:
        if embedder.fingerprint != snapshot.meta.embedder:
            message = f"{space!r} was indexed with another model: run 'ragloom index'"
            raise NotIndexedError(message)
        vector = embedder.embed_query(query)
    candidates = _candidates(snapshot, vector, terms if mode != "dense" else {}, allowed, native)
    if not len(candidates.rows):
        return _empty(result, "no chunk shares a word with the query")
    scores = _fuse(candidates)
    order = np.lexsort((snapshot.ids[candidates.rows], -scores))
    calibration = (embedder.calibration if embedder else None) or DEFAULT_CALIBRATION
    weights = {term: snapshot.lexical.inverse_document_frequency(term) for term in terms}
    hits: list[Hit] = []
    best = 0.0
    for at in order[: max(_EXAMINED, 4 * top_k)]:
        hit = _hit(snapshot, candidates, int(at), float(scores[at]), weights, calibration)
        best = max(best, hit.relevance)
        if hit.relevance >= min_relevance:
            hits.append(hit)
            if len(hits) == top_k:
                break
    if not hits:
        return _empty(
            result,
            f"nothing is relevant enough: the best of {len(candidates.rows)} candidates has "
            f"relevance {best:.2f}, and {min_relevance:.2f} is asked for",
        )
    return SearchResult(
        query=query, space=space, hits=tuple(hits), generation=snapshot.meta.generation
    )


def _empty(result: SearchResult, reason: str) -> SearchResult:
    return SearchResult(
        query=result.query, space=result.space, reason=reason, generation=result.generation
    )


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
) -> _Candidates:
    lexical_rows = np.empty(0, np.intp)
    lexical_scores = np.empty(0, np.float32)
    if terms:
        serials, lexical_scores = snapshot.lexical.search(
            terms, limit=CANDIDATES, uris=allowed
        )
        lexical_rows = snapshot.rows_of_serials(serials)
    if vector is None:
        nothing = np.full(len(lexical_rows), np.nan, np.float32)
        return _Candidates(lexical_rows, nothing, lexical_scores)
    if native is not None:
        return _join(snapshot, native, vector, lexical_rows, lexical_scores)
    cosine = snapshot.cosines(vector)
    usable = cosine
    if allowed is not None:
        numbers = [number for number, uri in enumerate(snapshot.uris) if uri in set(allowed)]
        usable = np.where(np.isin(snapshot.file_of_row, numbers), cosine, -np.inf)
    dense_rows = _largest(usable, CANDIDATES)
    rows = np.union1d(dense_rows, lexical_rows)
    lexical = np.full(len(rows), np.nan, np.float32)
    lexical[np.searchsorted(rows, lexical_rows)] = lexical_scores
    return _Candidates(rows, cosine[rows], lexical)


def _join(
    snapshot: Snapshot,
    native: Store,
    vector: Embeddings,
    lexical_rows: npt.NDArray[np.intp],
    lexical_scores: npt.NDArray[np.float32],
) -> _Candidates:
    raise NotImplementedError


def _largest(scores: npt.NDArray[np.float32], count: int) -> npt.NDArray[np.intp]:
    """The rows of the largest finite scores, in no order."""
    count = min(count, len(scores))
    rows = np.argpartition(scores, len(scores) - count)[len(scores) - count :]
    return rows[np.isfinite(scores[rows])]


def _fuse(candidates: _Candidates) -> npt.NDArray[np.float64]:
    """A convex combination of the two scores, each scaled to 0..1 over the candidates.

    Fox and Shaw's CombSUM over min-max normalised scores ("Combination of Multiple Searches", 1993).
    A chunk that a list does not hold has that list's lowest score.
    """
    dense, lexical = _scaled(candidates.cosine), _scaled(candidates.lexical)
    if dense is None or lexical is None:
        only = dense if dense is not None else lexical
        return np.zeros(len(candidates.rows)) if only is None else only
    return DENSE_WEIGHT * dense + (1 - DENSE_WEIGHT) * lexical


def _scaled(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float64] | None:
    if np.isnan(scores).all():
        return None
    low, high = float(np.nanmin(scores)), float(np.nanmax(scores))
    if np.isnan(scores).any():
        low = min(low, 0.0)
    width = high - low
    filled = np.nan_to_num(scores.astype(np.float64), nan=low)
    return (filled - low) / width if width > 0 else np.where(np.isnan(scores), 0.0, 1.0)


def _hit(
    snapshot: Snapshot,
    candidates: _Candidates,
    at: int,
    score: float,
    weights: Mapping[str, float],
    calibration: Calibration,
) -> Hit:
    chunk = snapshot.chunk(int(candidates.rows[at]))
    cosine = float(candidates.cosine[at])
    lexical = float(candidates.lexical[at])
    return Hit(
        chunk=chunk,
        score=score,
        relevance=relevance(
            calibration,
            cosine=None if np.isnan(cosine) else cosine,
            coverage=_coverage(weights, snapshot.lexical.stems, f"{chunk.context}\n{chunk.text}"),
        ),
        cosine=None if np.isnan(cosine) else cosine,
        lexical=None if np.isnan(lexical) else lexical,
    )


def _coverage(
    weights: Mapping[str, float], stems: Callable[[str], Sequence[str]], text: str
) -> float:
    """The inverse document frequencies of the query's words in ``text``, over those of all of them."""
    total = sum(weights.values())
    if total <= 0:
        return 0.0
    present = set(stems(text))
    return sum(weight for term, weight in weights.items() if term in present) / total

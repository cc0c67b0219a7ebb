"""The candidates of a query in their order: the nearest and the best by words, fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError
from ragloom.protocols import Embedder, Embeddings, SearchableStore
from ragloom.retrieval.fusion import fuse
from ragloom.snapshot import Snapshot
from ragloom.types import Condition, Mode

CANDIDATES = 1000
"""From each of the two lists; measured in ``benchmarks/README.md``."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates of one query in their order, before the gate.

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


def rank(
    text: str,
    *,
    snapshot: Snapshot,
    embedder: Embedder | None,
    native: SearchableStore | None = None,
    mode: Mode = "hybrid",
    where: Sequence[Condition] = (),
) -> Ranking:
    """Order the candidates of a query.

    Args:
        text: The query.
        snapshot: The generation that answers.
        embedder: The one that made the snapshot; not needed in mode ``lexical``.
        native: An open store that finds the nearest chunks instead of the snapshot.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        where: Conditions that every candidate passes.

    Raises:
        NotIndexedError: The snapshot was made with another model.
        ModelError: The model does not answer.
    """
    if not text.strip():
        return _none("the query is empty")
    if not len(snapshot):
        return _none("the index is empty: no file of this space holds any text")
    allowed = None
    if where:
        passing = snapshot.columns.passing(where)
        if not passing.any():
            return _none("no file passes the filter")
        allowed = np.flatnonzero(passing[snapshot.file_of_row])
    terms = snapshot.lexical.query_terms(text)
    vector = None
    if mode != "lexical" and embedder is not None:
        if embedder.fingerprint != snapshot.meta.embedder:
            name = snapshot.directory.parent.name
            raise NotIndexedError(f"{name!r} was indexed with another model: run 'ragloom index'")
        vector = embedder.embed_query(text)
        if not vector.any():  # the model knows nothing of it: words may still be found
            vector = None
    sought = terms if mode != "dense" else {}
    rows, cosine, lexical = _candidates(snapshot, vector, sought, allowed, native, where)
    if not len(rows):
        if mode == "dense" and vector is None:
            return _none("the model knows nothing of the query")
        return _none("no chunk shares a word with the query")
    scores = fuse(cosine, lexical, mode)
    order = np.lexsort((snapshot.ids[rows], -scores))
    return Ranking(rows[order], scores[order], cosine[order], lexical[order], terms)


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

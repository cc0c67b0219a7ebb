"""The candidates of a query in their order: the nearest and the best by words, fused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError
from ragloom.protocols import Embedder, Embeddings, SearchableStore
from ragloom.retrieval.code_order import EXAMINED, code_scores
from ragloom.retrieval.fusion import DENSE_WEIGHT, fuse
from ragloom.retrieval.lexical_scores import (
    CANDIDATES,
    lexical_scores,
    punctuated_weights,
    rows_with_phrases,
)
from ragloom.retrieval.parsed_query import ParsedQuery
from ragloom.retrieval.row_numbers import either, scores_by_row
from ragloom.snapshot import Snapshot
from ragloom.snapshot.vector_codes import highest
from ragloom.types import Condition, Mode

_HEAD = 256  # candidates that are ordered by exact cosines, and once more by feedback
_ENDS = 32  # cosines at either end that are exact before: they set the scale

FEEDBACK = 0.1
"""Of the best candidate's vector in the query's; measured in ``benchmarks/README.md``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What one index has for one query, in no order.

    Attributes:
        snapshot: The generation that answers.
        rows: ``(n,)`` rows of the snapshot, ascending.
        cosine: ``(n,)`` float32; NaN where no embedding was compared, or there is none yet.
        lexical: ``(n,)`` float32, BM25 of the chunk and of its file; NaN where neither has a word.
        vector: ``(d,)``, the query's; None where none was compared.
        known: The share of the query's words that the model has whole.
        reason: Why there are none.
        best_file: The number of the file with the best chunk by words; -1 where none has a word.
        agreed_file: The best file, where it has the nearest chunk, too; -1 where not.
        dense_weight: What the cosines weigh in mode ``hybrid``.
        query: What they were found for; None where there are none.
    """

    snapshot: Snapshot
    rows: npt.NDArray[np.intp]
    cosine: npt.NDArray[np.float32]
    lexical: npt.NDArray[np.float32]
    vector: Embeddings | None = None
    known: float = 1.0
    reason: str = ""
    best_file: int = -1
    agreed_file: int = -1
    dense_weight: float = DENSE_WEIGHT
    query: ParsedQuery | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The candidates of one query in their order, before the gate.

    Attributes:
        rows: ``(n,)`` rows of the snapshot, best first.
        scores: ``(n,)`` float64: what orders them.
        cosine: As in :class:`Candidates`, like ``lexical`` and ``reason``.
    """

    rows: npt.NDArray[np.intp]
    scores: npt.NDArray[np.float64]
    cosine: npt.NDArray[np.float32]
    lexical: npt.NDArray[np.float32]
    reason: str = ""

    def reordered(self, places: npt.NDArray[np.intp]) -> Ranking:
        """The same candidates in the order of ``places``, each of which is there once."""
        return replace(
            self,
            rows=self.rows[places],
            scores=self.scores[places],
            cosine=self.cosine[places],
            lexical=self.lexical[places],
        )


def find_candidates(
    query: ParsedQuery,
    *,
    snapshot: Snapshot,
    embedder: Embedder | None,
    native: SearchableStore | None = None,
    mode: Mode = "hybrid",
    where: Sequence[Condition] = (),
    dense_weight: float = DENSE_WEIGHT,
) -> Candidates:
    """Find the candidates of a query.

    Args:
        query: The query.
        snapshot: The generation that answers.
        embedder: The one that made the snapshot; not needed in mode ``lexical``.
        native: An open store that finds the nearest chunks instead of the snapshot.
        mode: As in :class:`ragloom.Query`.
        where: As in :class:`ragloom.Query`.
        dense_weight: As in :class:`ragloom.config.settings.SpaceSettings`.

    Raises:
        NotIndexedError: The snapshot was made with another model.
        ModelError: The model does not answer.
    """
    if not query.text.strip():
        return _none(snapshot, "the query is empty")
    if not len(snapshot):
        return _none(snapshot, "nothing is indexed")
    allowed = None
    if where:
        passing = snapshot.columns.passing(where)
        if not passing.any():
            return _none(snapshot, "no file passes the filter")
        allowed = np.flatnonzero(passing[snapshot.file_of_row])
    vector = None if mode == "lexical" else query_vector(query.text, snapshot, embedder)
    terms = query.terms if mode != "dense" else {}
    among = None if allowed is None else snapshot.serials[allowed]
    serials, scores = snapshot.lexical.search(
        terms, limit=CANDIDATES, among=among, spelt=punctuated_weights(query)
    )
    by_words = scores_by_row(snapshot, serials, scores)
    rows = by_words[0]
    cosine = None
    if vector is not None:
        if native is not None:
            nearest = native.search(vector, limit=CANDIDATES, where=where)
            dense = snapshot.rows_of(name for name, _ in nearest)
            rows = either(dense, rows)
            cosine = snapshot.cosines(vector, rows)
        else:
            every = snapshot.approximate(vector)
            rows = either(highest(every, CANDIDATES, allowed), rows)
            # The order of hybrid makes those of the head exact.
            cosine = every[rows] if mode == "hybrid" else snapshot.cosines(vector, rows)
    if query.phrases:
        kept = rows_with_phrases(snapshot, rows, query.phrases)
        rows, cosine = rows[kept], None if cosine is None else cosine[kept]
        if not len(rows):
            return _none(snapshot, f"no chunk holds {' and '.join(map(repr, query.phrases))}")
    if not len(rows):
        if mode == "dense" and vector is None:
            return _none(snapshot, "the model knows nothing of the query")
        return _none(snapshot, "no chunk shares a word with the query")
    if vector is not None and cosine is not None and native is None and mode == "hybrid":
        cosine = _nearly(snapshot, vector, rows, cosine)
    lexical = lexical_scores(snapshot, rows, by_words, query if mode != "dense" else None)
    best = _best_file(snapshot, rows, lexical)
    return Candidates(
        snapshot=snapshot,
        rows=rows,
        cosine=np.full(len(rows), np.nan, np.float32) if cosine is None else cosine,
        lexical=lexical,
        vector=vector,
        known=query.known,
        best_file=best,
        agreed_file=-1 if cosine is None or _best_file(snapshot, rows, cosine) != best else best,
        dense_weight=dense_weight,
        query=query,
    )


def best_by_words(
    queries: Sequence[ParsedQuery], snapshot: Snapshot, where: Sequence[Condition], limit: int
) -> npt.NDArray[np.intp]:
    """The best rows by the words of some queries, best first; ``limit`` of them."""
    found = [
        find_candidates(one, snapshot=snapshot, embedder=None, mode="lexical", where=where)
        for one in queries
    ]
    rows = np.concatenate([one.rows for one in found])
    scores = np.concatenate([one.lexical for one in found])
    best = rows[np.argsort(-np.nan_to_num(scores), kind="stable")]
    return np.array(list(dict.fromkeys(best.tolist()))[:limit], np.intp)


def order(found: Sequence[Candidates], mode: Mode) -> Sequence[Ranking]:
    """Order the candidates of one or more indexes of one model for one query, on a common scale.

    In mode ``hybrid``, the head is ordered by exact cosines, and once more by a vector that has moved a
    little from the query's to that of the best candidate of all, as in Rocchio's feedback ("Relevance
    Feedback in Information Retrieval", 1971). The best are then weighed as code where they are code.
    """
    ends = _ends(found)
    rankings = _ordered(found, [one.cosine for one in found], mode, ends)
    if mode == "hybrid" and any(one.vector is not None for one in found):
        rankings = _with_feedback(found, rankings, mode, ends)
    if mode not in ("hybrid", "lexical"):
        return rankings
    return [_as_code(*one) for one in zip(found, rankings, strict=True)]


def _as_code(found: Candidates, ranking: Ranking) -> Ranking:
    """``ranking`` with its head in the order of code; the same where there is none."""
    if found.query is None:
        return ranking
    rows = ranking.rows[:EXAMINED]
    scores = code_scores(found.query, found.snapshot, rows, ranking.scores[:EXAMINED])
    if scores is None:
        return ranking
    best = np.lexsort((found.snapshot.ids[rows], -scores))
    head = replace(ranking, scores=scores).reordered(best)
    return _behind(head, ranking)


def _with_feedback(
    found: Sequence[Candidates],
    rankings: Sequence[Ranking],
    mode: Mode,
    ends: tuple[np.float32, np.float32],
) -> Sequence[Ranking]:
    """``rankings`` with their heads ordered by exact cosines, and by feedback."""
    vectors = [
        one.snapshot.vectors(ranking.rows[:_HEAD])
        for one, ranking in zip(found, rankings, strict=True)
    ]
    heads = [
        replace(
            one,
            rows=ranking.rows[:_HEAD],
            cosine=ranking.cosine[:0] if one.vector is None else _cosines(own, one.vector),
            lexical=ranking.lexical[:_HEAD],
        )
        for one, ranking, own in zip(found, rankings, vectors, strict=True)
    ]
    again = _ordered(heads, [one.cosine for one in heads], mode, ends)
    moved = _moved(heads, again, vectors)
    if moved is not None:
        again = _ordered(heads, [_cosines(own, moved) for own in vectors], mode, ends)
    return [_behind(*one) for one in zip(again, rankings, strict=True)]


def _moved(
    heads: Sequence[Candidates], rankings: Sequence[Ranking], vectors: Sequence[Embeddings]
) -> Embeddings | None:
    """``(d,)``: the query's vector, moved to that of the best candidate; None where that has none."""
    there = [at for at, one in enumerate(rankings) if len(one.rows)]
    at = max(there, key=lambda at: float(rankings[at].scores[0]), default=0)
    if not there or (vector := heads[at].vector) is None or np.isnan(rankings[at].cosine[0]):
        return None
    (nearest,) = vectors[at][heads[at].rows == rankings[at].rows[0]]
    moved = (1 - FEEDBACK) * vector + FEEDBACK * nearest
    found: Embeddings = (moved / np.linalg.norm(moved)).astype(np.float32)
    return found


def _cosines(vectors: Embeddings, query: Embeddings) -> npt.NDArray[np.float32]:
    cosines: npt.NDArray[np.float32] = np.einsum("ij,j->i", vectors, query)
    return cosines


def _nearly(
    snapshot: Snapshot,
    vector: Embeddings,
    rows: npt.NDArray[np.intp],
    cosine: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    """Approximate cosines, NaN where a row has no vector, with exact ones for the highest and lowest."""
    there = np.flatnonzero(cosine > -np.inf)
    ends = there
    if len(there) > 2 * _ENDS:
        ends = there[np.argpartition(cosine[there], (_ENDS, len(there) - _ENDS))]
        ends = np.concatenate([ends[:_ENDS], ends[-_ENDS:]])
    cosine[ends] = snapshot.cosines(vector, rows[ends])
    cosine[cosine == -np.inf] = np.nan
    return cosine


def _ends(found: Sequence[Candidates]) -> tuple[np.float32, np.float32]:
    """The lowest cosine and the highest BM25 of all candidates: the scale of their scores."""
    cosines = np.concatenate([one.cosine for one in found])
    lowest = np.fmin.reduce(cosines) if len(cosines) else np.float32(np.nan)
    return lowest, np.fmax.reduce(np.concatenate([one.lexical for one in found]), initial=0.0)


def _ordered(
    found: Sequence[Candidates],
    cosine: Sequence[npt.NDArray[np.float32]],
    mode: Mode,
    ends: tuple[np.float32, np.float32],
) -> Sequence[Ranking]:
    """Candidates in their order, with cosines that need not be those of the query.

    ``ends`` are the scale of their scores, as of :func:`_ends`.
    """
    fused = fuse(
        [*cosine, np.array(ends[:1], np.float32)],
        [*(one.lexical for one in found), np.array(ends[1:], np.float32)],
        mode,
        sum(one.known for one in found) / len(found) if found else 1.0,
        found[0].dense_weight if found else DENSE_WEIGHT,
    )
    rankings = []
    for one, scores in zip(found, fused, strict=False):
        best = _best_first(scores, one)
        ranking = Ranking(
            rows=one.rows[best],
            scores=scores[best],
            cosine=one.cosine[best],
            lexical=one.lexical[best],
            reason=one.reason,
        )
        rankings.append(ranking)
    return rankings


def _best_first(scores: npt.NDArray[np.float64], found: Candidates) -> npt.NDArray[np.intp]:
    """The places of the candidates, best first; of those that score the same the first by id."""
    best = np.argsort(-scores, kind="stable")
    ranked = scores[best]
    same = ranked[1:] == ranked[:-1]
    if same.any():
        tied = np.flatnonzero(np.append(same, [False]) | np.append([False], same))
        places = best[tied]
        ids = found.snapshot.ids[found.rows[places]]
        best[tied] = places[np.lexsort((ids, -scores[places]))]
    return best


def _behind(head: Ranking, whole: Ranking) -> Ranking:
    """``whole`` with another order of its head; the scores of the others are scaled to follow."""
    rest = whole.scores[len(head.rows) :]
    if len(rest) and rest[0] > 0:
        rest = rest * (min(head.scores[-1], rest[0]) / rest[0])
    return replace(
        whole,
        rows=np.concatenate([head.rows, whole.rows[len(head.rows) :]]),
        scores=np.concatenate([head.scores, rest]),
        cosine=np.concatenate([head.cosine, whole.cosine[len(head.rows) :]]),
        lexical=np.concatenate([head.lexical, whole.lexical[len(head.rows) :]]),
    )


def query_vector(text: str, snapshot: Snapshot, embedder: Embedder | None) -> Embeddings | None:
    """``(d,)``; None where the model knows nothing of a text: words may still be found."""
    if embedder is None:
        return None
    if embedder.fingerprint != snapshot.meta.embedder:
        name = snapshot.directory.parent.name
        raise NotIndexedError(f"{name!r} was indexed with another model: run 'ragloom index'")
    vector = embedder.embed_query(text)
    return vector if vector.any() else None


def _none(snapshot: Snapshot, reason: str) -> Candidates:
    nothing = np.empty(0, np.float32)
    rows = np.empty(0, np.intp)
    return Candidates(snapshot=snapshot, rows=rows, cosine=nothing, lexical=nothing, reason=reason)


def _best_file(
    snapshot: Snapshot, rows: npt.NDArray[np.intp], scores: npt.NDArray[np.float32]
) -> int:
    """The number of the file with the highest score, of several chunks the first by id; -1 for none."""
    best = rows[scores == np.fmax.reduce(scores)]
    if not len(best):
        return -1
    return int(snapshot.file_of_row[best[np.argsort(snapshot.ids[best])[0]]])

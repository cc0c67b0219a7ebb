"""The candidates of a query in their order: the nearest and the best by words, fused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError
from ragloom.protocols import Embedder, Embeddings, SearchableStore
from ragloom.retrieval.fusion import fuse
from ragloom.retrieval.parsed_query import ParsedQuery
from ragloom.snapshot import Snapshot
from ragloom.types import Condition, Mode

CANDIDATES = 1000
"""From each of the lists; measured in ``benchmarks/README.md``."""

_HEAD = 256  # candidates that are ordered once more by feedback
_SAMPLED = 16  # one cosine of so many tells how high the highest are

FILE_WEIGHT = 0.4
"""Of a file's BM25 beside its chunk's, which has the rest; measured in ``benchmarks/README.md``."""

SPELT, SPELT_ALONE = 0.3, 5.0
"""How much it counts for a file beside a stem that a word is spelt as in the query, a sentence or words
alone; measured there, too."""

FEEDBACK = 0.1
"""Of the best candidate's vector in the query's; measured in ``benchmarks/README.md``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What one index has for one query, in no order.

    Attributes:
        snapshot: The generation that answers.
        rows: ``(n,)`` rows of the snapshot, ascending.
        cosine: ``(n,)`` float32; NaN where no embedding was compared.
        lexical: ``(n,)`` float32, BM25 of the chunk and of its file; NaN where neither has a word.
        vector: ``(d,)``, the query's; None where none was compared.
        known: The share of the query's words that the model has whole.
        reason: Why there are none.
    """

    snapshot: Snapshot
    rows: npt.NDArray[np.intp]
    cosine: npt.NDArray[np.float32]
    lexical: npt.NDArray[np.float32]
    vector: Embeddings | None = None
    known: float = 1.0
    reason: str = ""

    @property
    def best_file(self) -> int:
        """The number of the file with the best chunk by words; -1 where none has a word."""
        if np.isnan(self.lexical).all():
            return -1
        return int(self.snapshot.file_of_row[self.rows[np.nanargmax(self.lexical)]])

    @property
    def agreed_file(self) -> int:
        """The best file, where it has the nearest chunk, too; -1 where not."""
        if np.isnan(self.cosine).all():
            return -1
        nearest = int(self.snapshot.file_of_row[self.rows[np.argmax(self.cosine)]])
        return nearest if nearest == self.best_file else -1


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
) -> Candidates:
    """Find the candidates of a query.

    Args:
        query: The query.
        snapshot: The generation that answers.
        embedder: The one that made the snapshot; not needed in mode ``lexical``.
        native: An open store that finds the nearest chunks instead of the snapshot.
        mode: As in :class:`ragloom.Query`.
        where: As in :class:`ragloom.Query`.

    Raises:
        NotIndexedError: The snapshot was made with another model.
        ModelError: The model does not answer.
    """
    if not query.text.strip():
        return _none(snapshot, "the query is empty")
    if not len(snapshot):
        return _none(snapshot, "the index is empty: no file of this space holds any text")
    allowed = None
    if where:
        passing = snapshot.columns.passing(where)
        if not passing.any():
            return _none(snapshot, "no file passes the filter")
        allowed = np.flatnonzero(passing[snapshot.file_of_row])
    vector = None if mode == "lexical" else _vector(query.text, snapshot, embedder)
    terms = query.terms if mode != "dense" else {}
    among = None if allowed is None else snapshot.serials[allowed]
    serials, _ = found = snapshot.lexical.search(terms, limit=CANDIDATES, among=among)
    rows = np.searchsorted(snapshot.serials, serials).astype(np.intp)
    cosine = None
    if vector is not None:
        if native is not None:
            nearest = native.search(vector, limit=CANDIDATES, where=where)
            known = snapshot.row_of_id
            dense = np.array([known[name] for name, _ in nearest if name in known], np.intp)
            rows = _either(dense, rows, len(snapshot))
            cosine = snapshot.cosines(vector, rows)
        else:
            every = snapshot.cosines(vector)
            rows = _either(_nearest(every, allowed), rows, len(snapshot))
            cosine = every[rows]
    if query.phrases:
        kept = _with_phrases(snapshot, rows, query.phrases)
        rows, cosine = rows[kept], None if cosine is None else cosine[kept]
        if not len(rows):
            return _none(snapshot, f"no chunk holds {' and '.join(map(repr, query.phrases))}")
    if not len(rows):
        if mode == "dense" and vector is None:
            return _none(snapshot, "the model knows nothing of the query")
        return _none(snapshot, "no chunk shares a word with the query")
    return Candidates(
        snapshot=snapshot,
        rows=rows,
        cosine=np.full(len(rows), np.nan, np.float32) if cosine is None else cosine,
        lexical=_lexical(snapshot, rows, found, query if mode != "dense" else None),
        vector=vector,
        known=query.known,
    )


def order(found: Sequence[Candidates], mode: Mode) -> Sequence[Ranking]:
    """Order the candidates of one or more indexes of one model for one query, on a common scale.

    In mode ``hybrid``, the head is ordered once more by a vector that has moved a little from the query's
    to that of the best candidate of all, as in Rocchio's feedback ("Relevance Feedback in Information
    Retrieval", 1971).
    """
    rankings = _ordered(found, [one.cosine for one in found], mode, among=found)
    best = max(
        (one for one in zip(rankings, found, strict=True) if len(one[0].rows)),
        key=lambda one: float(one[0].scores[0]),
        default=None,
    )
    if mode != "hybrid" or best is None or best[1].vector is None:
        return rankings
    moved = (1 - FEEDBACK) * best[1].vector + FEEDBACK * best[1].snapshot.vectors[best[0].rows[0]]
    moved = (moved / np.linalg.norm(moved)).astype(np.float32)
    heads = [
        replace(
            one,
            rows=ranking.rows[:_HEAD],
            cosine=ranking.cosine[:_HEAD],
            lexical=ranking.lexical[:_HEAD],
        )
        for one, ranking in zip(found, rankings, strict=True)
    ]
    near = [one.snapshot.cosines(moved, one.rows) for one in heads]
    again = _ordered(heads, near, mode, among=found)
    return [_behind(*one) for one in zip(again, rankings, strict=True)]


def _ordered(
    found: Sequence[Candidates],
    cosine: Sequence[npt.NDArray[np.float32]],
    mode: Mode,
    *,
    among: Sequence[Candidates],
) -> Sequence[Ranking]:
    """Candidates in their order, with cosines that need not be those of the query.

    The scale of their scores is that of the candidates that they are ``among``.
    """
    lowest = np.concatenate([one.cosine for one in among]).min(initial=np.inf)
    highest = np.nan_to_num(np.concatenate([one.lexical for one in among])).max(initial=0.0)
    fused = fuse(
        [*cosine, np.array([lowest], np.float32)],
        [*(one.lexical for one in found), np.array([highest], np.float32)],
        mode,
        np.mean([one.known for one in found], dtype=float) if found else 1.0,
    )
    rankings = []
    for one, scores in zip(found, fused, strict=False):
        best = np.argsort(-scores, kind="stable")
        if (np.diff(scores[best]) == 0).any():
            best = np.lexsort((one.snapshot.ids[one.rows], -scores))
        whole = Ranking(
            rows=one.rows, scores=scores, cosine=one.cosine, lexical=one.lexical, reason=one.reason
        )
        rankings.append(whole.reordered(best))
    return rankings


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


def _vector(text: str, snapshot: Snapshot, embedder: Embedder | None) -> Embeddings | None:
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


def _lexical(
    snapshot: Snapshot,
    rows: npt.NDArray[np.intp],
    found: tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]],
    query: ParsedQuery | None,
) -> npt.NDArray[np.float32]:
    """The BM25 of the rows: a chunk counts by its own words, and by those of its file."""
    serials, scores = found
    every = np.zeros(len(snapshot), np.float32)
    every[np.searchsorted(snapshot.serials, serials)] = scores
    own = every[rows]
    of_file = np.zeros(len(snapshot.uris), np.float32)
    if query is not None:
        serials, scores = snapshot.file_lexical.search(
            query.terms,
            limit=CANDIDATES,
            spelt={word: _spelling_weight(word, query) for word in query.spellings},
        )
        of_file[snapshot.file_of_row[np.searchsorted(snapshot.serials, serials)]] = scores
    both: npt.NDArray[np.float32] = np.float32(1 - FILE_WEIGHT) * own
    both += np.float32(FILE_WEIGHT) * of_file[snapshot.file_of_row[rows]]
    both[both == 0] = np.nan
    return both


def _spelling_weight(word: str, query: ParsedQuery) -> float:
    weight = SPELT_ALONE if query.bare else SPELT
    return weight if word.isalpha() else 2 * weight


def _with_phrases(
    snapshot: Snapshot, rows: npt.NDArray[np.intp], phrases: Sequence[str]
) -> npt.NDArray[np.intp]:
    """Which of the rows hold every phrase, whatever the case, with any blanks between its words."""
    words = [word for phrase in phrases for word in snapshot.lexical.query_words(phrase)]
    likely = np.flatnonzero(snapshot.lexical.held(words, snapshot.serials[rows]).all(axis=1))
    chunks = [snapshot.chunk(int(rows[at])) for at in likely]
    texts = [" ".join(f"{chunk.context} {chunk.text}".casefold().split()) for chunk in chunks]
    found = [all(phrase in text for phrase in phrases) for text in texts]
    return likely[np.array(found, np.bool_)]


def _either(
    some: npt.NDArray[np.intp], others: npt.NDArray[np.intp], count: int
) -> npt.NDArray[np.intp]:
    """The rows, of ``count``, that are in either, ascending."""
    wanted = np.zeros(count, np.bool_)
    wanted[some] = wanted[others] = True
    return np.flatnonzero(wanted)


def _nearest(
    cosine: npt.NDArray[np.float32], allowed: npt.NDArray[np.intp] | None
) -> npt.NDArray[np.intp]:
    """The rows with the highest cosine, exactly; in no order."""
    if allowed is not None:
        cosine = cosine[allowed]
    rows = _likely(cosine)
    count = min(CANDIDATES, len(rows))
    best = rows[np.argpartition(cosine[rows], len(rows) - count)[len(rows) - count :]]
    return best if allowed is None else allowed[best]


def _likely(cosine: npt.NDArray[np.float32]) -> npt.NDArray[np.intp]:
    """Rows among which the highest are, as a sample tells how high these may be."""
    sample = np.sort(cosine[::_SAMPLED])
    wanted = 2 * CANDIDATES // _SAMPLED
    if len(sample) > wanted:
        rows = np.flatnonzero(cosine >= sample[-wanted])
        if len(rows) >= CANDIDATES:
            return rows
    return np.arange(len(cosine))

"""Query to hits: ranking, reranking, the gate, and the check against the files.

The score, fused or a reranker's, only orders. Whether a hit is shown is decided by its relevance, an
absolute number (:mod:`ragloom.retrieval.relevance`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import cast

import numpy as np

from ragloom.errors import ModelError
from ragloom.protocols import Embedder
from ragloom.retrieval.answers import Answers
from ragloom.retrieval.gate import Judged, examined, farthest, judge
from ragloom.retrieval.nothing import nothing_asked, why_fewer
from ragloom.retrieval.parsed_query import ParsedQuery, parse
from ragloom.retrieval.query import Query
from ragloom.retrieval.ranking import Candidates, Ranking, best_by_words, find_candidates, order
from ragloom.retrieval.relevance import (
    DEFAULT_CALIBRATION,
    LEXICAL_CALIBRATION,
    WordEvidence,
    best_of,
    weigh,
)
from ragloom.retrieval.remote import InTurn, candidates_of
from ragloom.retrieval.rerank import reranked
from ragloom.retrieval.rows import Row
from ragloom.snapshot import Snapshot
from ragloom.snapshot.remote import RemoteIndex, RemoteSnapshot
from ragloom.sources.unread import nothing_indexed
from ragloom.types import Calibration, Hit, Mode, SearchResult

_LOG = logging.getLogger("ragloom")

_COMPLETED = 100  # best by words, whose vectors are as good as all: benchmarks/README.md
_BLOCK = 50  # candidates that are weighed at once
_SEEN = 3  # candidates before the best of a question among other sentences
_OF_A_SENTENCE = 10  # best candidates of each sentence that are examined, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The candidates of a query and what becomes of them.

    Attributes:
        generation: The snapshot that answers.
        mode: What ordered them.
        parsed: The query and its sentences.
        ranking: In their order, reranked if a reranker is set.
        calibration: What turns evidence into relevance.
        weighed: What speaks for each.
        candidates: In the same order, judged lazily; see :func:`ragloom.retrieval.gate.judge`.
        row: The hits, once the candidates that are examined have been judged.
        examined: How many are.
    """

    generation: int
    mode: Mode
    parsed: Sequence[ParsedQuery]
    ranking: Ranking
    calibration: Calibration
    weighed: Weighed
    candidates: Iterator[Judged]
    row: Row
    examined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What one space has for a query.

    Attributes:
        space: The space.
        parsed: The query as a whole, then its sentences where it has several.
        found: The candidates of each.
        mode: What orders them.
    """

    space: Answers
    parsed: Sequence[ParsedQuery]
    found: Sequence[Candidates]
    mode: Mode


def gather(
    query: Query,
    space: Answers,
    beside: Sequence[Snapshot] = (),
    turn: AbstractContextManager[object] | None = None,
) -> Gathered:
    """Find the candidates of a query that is asked ``beside`` other snapshots; raises as :func:`judged`.

    The model is used while ``turn`` is held, which threads share that gather for other spaces. Where words
    count, too, and the model does not answer, they alone count, with a warning.
    """
    mode = query.choices(space.settings)[2]
    try:
        return _gather(query, space, beside, mode, turn or nullcontext())
    except ModelError as error:
        if mode not in ("hybrid", "rrf"):
            raise
        _LOG.warning("%s: searching by words alone: %s", space.name, error)
        return _gather(query, space, beside, "lexical", turn or nullcontext())


def _gather(
    query: Query,
    space: Answers,
    beside: Sequence[Snapshot],
    mode: Mode,
    turn: AbstractContextManager[object],
) -> Gathered:
    snapshot, lexical = space.snapshot(), mode == "lexical"
    native = None if lexical else space.native()
    where = (*query.conditions, *space.narrowing)
    with turn:
        embedder = None if lexical else space.embedder
        parsed = parse(query.text, snapshot, embedder, beside)
        if embedder is not None and len(snapshot.pending):
            space.complete(best_by_words(parsed, snapshot, where, _COMPLETED))
    if embedder is not None:  # others have their turn while this one waits for a server
        embedder = cast("Embedder", InTurn(embedder, turn))
    if isinstance(snapshot, RemoteIndex):
        snapshot, where = candidates_of(snapshot, parsed, embedder, mode, where), ()
    find = partial(
        find_candidates,
        snapshot=snapshot,
        embedder=embedder,
        native=native,
        dense_weight=space.settings.dense_weight,
    )
    found = [find(one, mode=mode, where=where) for one in parsed]
    return Gathered(space=space, parsed=parsed, found=found, mode=mode)


def judged(query: Query, space: Answers, *, rerank: bool = True, whole: bool = False) -> Judgement:
    """Rank the candidates of a query, and judge each lazily, or with ``whole`` all of them.

    Raises:
        NotIndexedError: Nothing is indexed yet, or with another model.
        ModelError: A model does not answer.
    """
    gathered = gather(query, space)
    (ranking,) = order(gathered.found[:1], gathered.mode)
    return judge_ranking(query, gathered, ranking, rerank=rerank, whole=whole)


def judge_ranking(
    query: Query, gathered: Gathered, ranking: Ranking, *, rerank: bool = True, whole: bool = False
) -> Judgement:
    """Judge the candidates of a space in the order of ``ranking``; raises as :func:`judged`."""
    space = gathered.space
    top_k, least, _ = query.choices(space.settings)
    snapshot = gathered.found[0].snapshot
    calibration = LEXICAL_CALIBRATION
    if gathered.mode != "lexical" and not np.isnan(ranking.cosine).all():
        calibration = space.calibration() or space.embedder.calibration or DEFAULT_CALIBRATION
    last = examined(top_k, alone=gathered.parsed[0].bare)
    ranking, last = _with_sentences(gathered, ranking, last)
    fused, weighed = ranking, Weighed(gathered, ranking, calibration, last)
    if rerank and space.reranker is not None:
        depth = min(space.settings.rerank_depth, len(ranking.rows))
        # What the gate keeps out need not be read: the order of the others is the same without it.
        places = [at for at in range(depth) if weighed.relevance(at) >= least]
        weight = space.settings.rerank_weight
        ranking = reranked(query.text, snapshot, ranking, space.reranker, places, weight)
        weighed = Weighed(gathered, fused, calibration, last, ranking)
    row = Row(top_k, query.most_per_file(space.settings))
    return Judgement(
        generation=snapshot.meta.generation,
        mode=gathered.mode,
        parsed=gathered.parsed,
        ranking=ranking,
        calibration=calibration,
        weighed=weighed,
        candidates=judge(
            len(ranking.rows),
            row=row,
            last=last,
            relevance=weighed.relevance,
            read=weighed.hit,
            min_relevance=least,
            follow=space.follow,
            whole=whole,
        ),
        row=row,
        examined=last,
    )


def search(query: Query, space: Answers, *, rerank: bool = True) -> SearchResult:
    """Search one space; raises as :func:`judged`."""
    return result_of(query, space, judged(query, space, rerank=rerank))


def result_of(query: Query, space: Answers, judgement: Judgement) -> SearchResult:
    """Judge the candidates, and give what is shown."""
    top_k, least, _ = query.choices(space.settings)
    items = list(judgement.candidates) if top_k else []
    hits = judgement.row.hits()
    changed = sum(item.verdict == "changed" for item in items)
    closest = None
    count = min(judgement.examined, len(judgement.ranking.rows)) if top_k else 0
    if count and not hits and not changed:
        best = max(range(count), key=judgement.weighed.relevance)
        closest, _ = judgement.weighed.hit(best)
    whole = judgement.parsed[0]
    reason = judgement.ranking.reason
    if closest is not None and (unasked := nothing_asked(whole)):
        reason, closest = unasked, None
    if reason and not len(space.snapshot()):
        reason = nothing_indexed(space.unread())
    return SearchResult(
        query=query.text,
        space=space.name,
        hits=hits,
        reason=reason or why_fewer(hits, changed, closest, least),
        generation=judgement.generation,
        closest=closest,
        searched_for=whole.text if whole.corrected else "",
        pending=0 if judgement.mode == "lexical" else len(space.snapshot().pending),
        checked=space.settings.check_files and space.settings.read == "local",
    )


def _with_sentences(gathered: Gathered, ranking: Ranking, count: int) -> tuple[Ranking, int]:
    """``ranking`` with the best candidates of each sentence behind its first ``count``, and how many.

    The best of each question is moved to where it is seen, whatever is told around the question. Those that
    the query as a whole has not among its candidates are not added.
    """
    if len(gathered.parsed) == 1:
        return ranking, count
    best, asked = list[int](), list[int]()
    for parsed, found in zip(gathered.parsed[1:], gathered.found[1:], strict=True):
        (own,) = order([found], gathered.mode)
        best += own.rows[:_OF_A_SENTENCE].tolist()
        if parsed.text.endswith("?"):
            asked += own.rows[:1].tolist()
    behind = np.arange(_SEEN, len(ranking.rows))
    moved = behind[np.isin(ranking.rows[behind], asked)]
    if len(moved):
        places = np.concatenate([np.arange(_SEEN), moved, np.setdiff1d(behind, moved)])
        scores = ranking.scores.copy()
        scores[moved] = np.maximum(scores[moved], scores[_SEEN])
        ranking = replace(ranking, scores=scores).reordered(places)
    late = np.flatnonzero(np.isin(ranking.rows[count:], best)) + count
    if not len(late):
        return ranking, count
    rest = np.delete(np.arange(count, len(ranking.rows)), late - count)
    places = np.concatenate([np.arange(count), late, rest])
    return ranking.reordered(places), count + len(late)


class Weighed:
    """The candidates of a ranking, weighed by the query or the sentence of it that fits each best.

    Args:
        gathered: The query, its sentences, and their candidates.
        fused: Their order, in which they are weighed.
        calibration: The curve.
        examined: How many may be asked for; most often a few of the first are.
        reranked: Another order of the same candidates, which the places count instead.
    """

    def __init__(
        self,
        gathered: Gathered,
        fused: Ranking,
        calibration: Calibration,
        examined: int,
        reranked: Ranking | None = None,
    ) -> None:
        self._gathered = gathered
        self._fused = fused
        self._ranking = reranked or fused
        self._places: Sequence[int] = range(len(fused.rows))
        if reranked is not None:
            by_row = np.argsort(fused.rows)
            places = np.searchsorted(fused.rows, reranked.rows, sorter=by_row)
            self._places = by_row[places].tolist()
        self._calibration = calibration
        ends = sorted({_BLOCK, max(examined, _BLOCK), farthest(examined), len(fused.rows)})
        self._blocks = map(slice, [0, *ends], ends)
        self._relevance: list[float] = []
        self._words: list[WordEvidence] = []

    def relevance(self, at: int) -> float:
        """The relevance of the candidate at a place, from 0."""
        at = self._places[at]
        while at >= len(self._relevance):
            self._weigh(next(self._blocks))
        return self._relevance[at]

    def hit(self, at: int) -> tuple[Hit, WordEvidence]:
        """The candidate at a place, from 0, and the words that it shares with the query."""
        relevance, ranking = self.relevance(at), self._ranking
        cosine, lexical = float(ranking.cosine[at]), float(ranking.lexical[at])
        row, snapshot = int(ranking.rows[at]), self._gathered.found[0].snapshot
        hit = Hit(
            chunk=snapshot.chunk(row),
            content_hash=snapshot.hash_of(row) if isinstance(snapshot, RemoteSnapshot) else "",
            score=float(ranking.scores[at]),
            relevance=relevance,
            cosine=None if isnan(cosine) else cosine,
            lexical=None if isnan(lexical) else lexical,
        )
        return hit, self._words[self._places[at]]

    def _weigh(self, block: slice) -> None:
        ranking = self._fused
        rows, head = ranking.rows[block], not block.start
        pairs = zip(self._gathered.parsed, self._gathered.found, strict=True)
        weighed = [
            weigh(
                parsed,
                found,
                rows,
                self._calibration,
                cosine=None if number else ranking.cosine[block],
                scores=ranking.scores[block] if head and not number else None,
            )
            for number, (parsed, found) in enumerate(pairs)
        ]
        best = best_of(weighed)
        self._relevance += best.relevance.tolist()
        self._words += map(WordEvidence, best.coverage.tolist(), best.matched.tolist())

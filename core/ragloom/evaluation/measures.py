"""Running the queries of a collection and scoring what comes back."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from ragloom.errors import MissingDependencyError
from ragloom.evaluation.collections import Collection, everyday_questions
from ragloom.retrieval.answers import Answers
from ragloom.retrieval.query import Query
from ragloom.retrieval.ranking import Ranking
from ragloom.types import Hit, Mode, Progress, SearchResult

METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr@10")
_DEPTH = 100  # documents of a run
_PERMUTATIONS = 10_000
_ANSWER_DEPTH = 5  # a query is answerable when an ungated search has an answer among so many


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What the gate lets through and what it keeps out.

    Attributes:
        min_relevance: The gate.
        off_topic: Number of off-topic queries.
        injected: Those that got any hit.
        answerable: Queries with an answer among the five best of an ungated search.
        kept: Those that still have an answer behind the gate.
        off_topic_relevance: The highest relevance among the first hits of each off-topic query, without a
            gate.
        answerable_relevance: The highest relevance of an answer among them, of each answerable query.
    """

    min_relevance: float
    off_topic: int
    injected: int
    answerable: int
    kept: int
    off_topic_relevance: Sequence[float] = ()
    answerable_relevance: Sequence[float] = ()

    @property
    def injection_rate(self) -> float:
        """The share of off-topic queries that got anything."""
        return self.injected / self.off_topic if self.off_topic else 0.0

    @property
    def kept_rate(self) -> float:
        """The share of answerable queries that kept an answer."""
        return self.kept / self.answerable if self.answerable else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What the evaluation of a plugin found: see :class:`ragloom.EvaluationSpec`.

    Attributes:
        metrics: By name, in the order of the table.
        latency_ms: Of one question, by question.
        index_seconds: How long it took to bring the index up to date.
        chunks: In the index.
        notes: A line each on what was answered wrongly.
    """

    metrics: Mapping[str, float]
    latency_ms: Sequence[float]
    index_seconds: float
    chunks: int
    notes: Sequence[str] = ()

    def percentile(self, share: int) -> float:
        """A percentile of the latency, in milliseconds."""
        return _percentile(self.latency_ms, share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The figures of one collection and one way of searching.

    Attributes:
        collection: Its name.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        metrics: Means over the queries, by name.
        by_query: nDCG@10 by query id.
        run: Document ids and scores, best first, by query id.
        latency_ms: Of one search, embedding included, by query.
        chunks: In the index.
        gate: What the gate does.
    """

    collection: str
    mode: Mode
    metrics: Mapping[str, float]
    by_query: Mapping[str, float]
    run: Mapping[str, Sequence[tuple[str, float]]]
    latency_ms: Sequence[float]
    chunks: int
    gate: GateReport

    def percentile(self, share: int) -> float:
        """A percentile of the latency, in milliseconds."""
        return _percentile(self.latency_ms, share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two evaluations of the same queries.

    Attributes:
        metric: What is compared.
        difference: The mean of the first less that of the second.
        p_value: Two-sided, of a paired randomisation test: the chance of so large a difference if both
            were equally good (Smucker, Allan and Carterette, 2007).
    """

    metric: str
    difference: float
    p_value: float


class Measured(Answers, Protocol):
    """What is measured: a :class:`ragloom.Space`."""

    def answer(self, query: Query) -> SearchResult:
        """The result of a query, without a line in the audit log."""

    def rank(self, text: str, *, mode: Mode | None = None) -> Ranking:
        """The candidates in their order, without a gate."""


def evaluate(
    space: Measured,
    collection: Collection,
    *,
    mode: Mode = "hybrid",
    min_relevance: float | None = None,
    off_topic: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Run every query of the collection against its index.

    Args:
        space: The index of the collection.
        collection: The queries, and the documents that answer them.
        mode: As in :class:`ragloom.Query`.
        min_relevance: The gate; the space's own by default.
        off_topic: Queries that the collection cannot answer; two hundred everyday questions by default.
        progress: Told how many queries are done.

    Raises:
        MissingDependencyError: ``ir-measures`` is not installed.
    """
    off_topic = everyday_questions() if off_topic is None else off_topic
    gate = space.settings.min_relevance if min_relevance is None else min_relevance
    run: dict[str, Sequence[tuple[str, float]]] = {}
    latency: list[float] = []
    kept = 0
    reached: list[float] = []
    total = len(collection.queries) + len(off_topic)
    for number, (query_id, text) in enumerate(collection.queries.items()):
        if progress:
            progress("queries", number, total)
        run[query_id] = _documents(space, collection, text, mode)
        started = time.perf_counter()
        gated = space.answer(Query(text, mode=mode, min_relevance=gate, top_k=_ANSWER_DEPTH))
        latency.append((time.perf_counter() - started) * 1000)
        right = collection.judgments[query_id]
        ungated = space.answer(Query(text, mode=mode, min_relevance=0.0, top_k=_ANSWER_DEPTH))
        answers = [
            hit.relevance for hit in ungated.hits if right.keys() & _documents_of(collection, hit)
        ]
        if answers:
            reached.append(max(answers))
            kept += bool(right.keys() & _shown(collection, gated))
    injected, foreign = 0, list[float]()
    for number, text in enumerate(off_topic, len(collection.queries)):
        if progress:
            progress("queries", number, total)
        injected += bool(space.answer(Query(text, mode=mode, min_relevance=gate, top_k=1)).hits)
        ungated = space.answer(Query(text, mode=mode, min_relevance=0.0, top_k=_ANSWER_DEPTH))
        foreign.append(max((hit.relevance for hit in ungated.hits), default=0.0))
    metrics, by_query = _score(collection, run)
    return Evaluation(
        collection=collection.name,
        mode=mode,
        metrics=metrics,
        by_query=by_query,
        run=run,
        latency_ms=latency,
        chunks=len(space.snapshot()),
        gate=GateReport(
            min_relevance=gate,
            off_topic=len(off_topic),
            injected=injected,
            answerable=len(reached),
            kept=kept,
            off_topic_relevance=foreign,
            answerable_relevance=reached,
        ),
    )


def compare(first: Evaluation, second: Evaluation) -> Comparison:
    """Compare two evaluations by nDCG@10, query by query."""
    return compare_by_query(first.by_query, second.by_query)


def compare_by_query(first: Mapping[str, float], second: Mapping[str, float]) -> Comparison:
    """Compare nDCG@10 by query, over the queries that both have.

    Signs of the differences are flipped at random, 10,000 times, with a fixed seed.
    """
    names = sorted(first.keys() & second.keys())
    differences = np.array([first[name] - second[name] for name in names])
    observed = abs(differences.mean()) if len(differences) else 0.0
    random = np.random.default_rng(0)
    extreme = 0
    for _ in range(_PERMUTATIONS):
        signs = random.integers(0, 2, len(differences)) * 2 - 1
        extreme += abs((differences * signs).mean()) >= observed - 1e-12
    return Comparison(
        metric="ndcg@10",
        difference=float(differences.mean()) if len(differences) else 0.0,
        p_value=(extreme + 1) / (_PERMUTATIONS + 1),
    )


def write_run(evaluation: Evaluation, path: Path) -> None:
    """Write the run in TREC's format: query, Q0, document, rank, score, tag."""
    with path.open("w", encoding="utf-8") as stream:
        for query, found in evaluation.run.items():
            for number, (document, score) in enumerate(found, 1):
                stream.write(
                    f"{query} Q0 {document} {number} {score:.6f} ragloom-{evaluation.mode}\n"
                )


def _percentile(latency_ms: Sequence[float], share: int) -> float:
    return float(np.percentile(latency_ms, share)) if latency_ms else 0.0


def _documents(
    space: Measured, collection: Collection, query: str, mode: Mode
) -> Sequence[tuple[str, float]]:
    """The best documents of a query: a document scores as its best chunk."""
    ranking = space.rank(query, mode=mode)
    snapshot = space.snapshot()
    best: dict[str, float] = {}
    for row, score in zip(ranking.rows, ranking.scores, strict=True):
        uri = snapshot.uris[snapshot.file_of_row[row]]
        best.setdefault(_document(collection, uri), float(score))
        if len(best) == _DEPTH:
            break
    return list(best.items())


def _shown(collection: Collection, result: SearchResult) -> set[str]:
    """The documents among the hits, those of the same text included."""
    return set[str]().union(*(_documents_of(collection, hit) for hit in result.hits))


def _documents_of(collection: Collection, hit: Hit) -> set[str]:
    """The document of a hit, and those of the same text."""
    uris = (hit.chunk.uri, *(copy.uri for copy in hit.copies))
    return {_document(collection, uri) for uri in uris}


def _document(collection: Collection, uri: str) -> str:
    return collection.documents[int(Path(uri).stem)].id


def _score(
    collection: Collection, run: Mapping[str, Sequence[tuple[str, float]]]
) -> tuple[Mapping[str, float], Mapping[str, float]]:
    try:
        import ir_measures
        from ir_measures import RR, R, nDCG
    except ImportError as error:
        raise MissingDependencyError("ir-measures", "ragloom[eval]", "ragloom eval") from error
    # Made rather than parsed: parsing takes what Python 3.14 no longer has.
    measures = dict(zip(METRICS, (nDCG @ 10, R @ 10, R @ 100, RR @ 10), strict=True))
    judged = {query: dict(grades) for query, grades in collection.judgments.items()}
    found = {query: dict(documents) for query, documents in run.items()}
    sums = dict.fromkeys(METRICS, 0.0)
    by_query = dict.fromkeys(judged, 0.0)
    names = {measure: name for name, measure in measures.items()}
    for value in ir_measures.iter_calc(list(measures.values()), judged, found):
        sums[names[value.measure]] += value.value
        if names[value.measure] == "ndcg@10":
            by_query[value.query_id] = value.value
    return {name: total / len(judged) for name, total in sums.items()}, by_query

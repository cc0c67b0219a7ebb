"""The view Relevance: what answerable and off-topic queries reach."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from threading import Lock, Thread
from typing import cast

from ragloom import (
    Json,
    KeptEvaluation,
    Query,
    RagloomError,
    Space,
    Workspace,
    everyday_questions,
)

_TITLES = 200  # of sections, as queries
_FEWEST = 2  # words of a title that asks for something
_ROUNDED = 4


@dataclass(slots=True, kw_only=True)
class Measuring:
    """One run over the queries of a space, as far as it is.

    Attributes:
        generation: Of the index.
        total: Queries.
        off_topic: The highest relevance of each off-topic query so far.
        titles: Of each title so far, the highest relevance of a passage of its file.
        failed: Why it ended early; empty otherwise.
    """

    generation: int
    total: int
    off_topic: list[float] = field(default_factory=list)
    titles: list[float] = field(default_factory=list)
    failed: str = ""


class Measurements:
    """The runs of a process, by space. Safe to use from several threads.

    Args:
        turn: Held for each search.
    """

    def __init__(self, turn: AbstractContextManager[object]) -> None:
        self._turn = turn
        self._runs: dict[str, Measuring] = {}
        self._starting = Lock()

    def start(self, space: Space) -> None:
        """Begin a run, if there is none of the index as it is now."""
        with self._starting:
            known = self._runs.get(space.name)
            if known is not None and known.generation == space.generation and not known.failed:
                return
            asked, foreign = titles(space), everyday_questions()
            run = Measuring(generation=space.generation, total=len(asked) + len(foreign))
            self._runs[space.name] = run
        Thread(target=self._measure, args=(space, run, asked, foreign), daemon=True).start()

    def of(self, space: Space) -> Measuring | None:
        """The run of a space; None where there is none of the index as it is now."""
        run = self._runs.get(space.name)
        return run if run is not None and run.generation == space.generation else None

    def _measure(
        self,
        space: Space,
        run: Measuring,
        asked: Sequence[tuple[str, str]],
        foreign: Sequence[str],
    ) -> None:
        try:
            for number in range(max(len(asked), len(foreign))):  # by turns, so that both grow
                if number < len(foreign):
                    run.off_topic.append(self._reached(space, foreign[number]))
                if number < len(asked):
                    run.titles.append(self._reached(space, *asked[number]))
        except RagloomError as error:
            run.failed = str(error)

    def _reached(self, space: Space, text: str, uri: str = "") -> float:
        with self._turn:
            result = space.answer(Query(text, min_relevance=0.0, per_file=0))
        found = [hit.relevance for hit in result.hits if not uri or hit.chunk.uri == uri]
        return round(max(found, default=0.0), _ROUNDED)


def titles(space: Space) -> list[tuple[str, str]]:
    """Titles of sections, and their files: queries that the documents answer. The same each time."""
    snapshot = space.snapshot()
    rows = list(range(len(snapshot)))
    random.Random(0).shuffle(rows)  # noqa: S311 - a sample
    found: dict[str, str] = {}
    for row in rows:
        chunk = snapshot.chunk(row)
        title = chunk.headings[-1].strip() if chunk.headings else ""
        if len(title.split()) >= _FEWEST:
            found.setdefault(title, chunk.uri)
        if len(found) == _TITLES:
            break
    snapshot.release()
    return list(found.items())


def relevance(workspace: Workspace, space: Space, run: Measuring | None) -> dict[str, Json]:
    """What was measured of a space, and the evaluations that are kept."""
    fitted = space.calibration() or space.embedder.calibration
    return {
        "space": space.name,
        "min_relevance": space.settings.min_relevance,
        "calibration": fitted.source if fitted else "a default curve",
        "measured": None
        if run is None
        else {
            "total": run.total,
            "done": len(run.off_topic) + len(run.titles),
            "failed": run.failed,
            "off_topic": list(run.off_topic),
            "answerable": list(run.titles),
        },
        "evaluations": [_evaluation(one) for one in workspace.evaluations()],
        "comparisons": [
            {"collection": first.collection, "first": first.mode, "second": second.mode, **found}
            for first, second, found in _comparisons(workspace.evaluations())
        ],
    }


def _evaluation(one: KeptEvaluation) -> Json:
    return {
        "collection": one.collection,
        "mode": one.mode,
        "time": one.time,
        "queries": len(one.by_query),
        "chunks": one.chunks,
        "metrics": dict(one.metrics),
        "gate": dict(one.gate),
        "off_topic": list(one.off_topic),
        "answerable": list(one.answerable),
    }


def _comparisons(
    kept: Sequence[KeptEvaluation],
) -> list[tuple[KeptEvaluation, KeptEvaluation, dict[str, Json]]]:
    """Of each collection, the modes from the best on, each with the next."""
    by_name: dict[str, list[KeptEvaluation]] = {}
    for one in kept:
        by_name.setdefault(one.collection, []).append(one)
    return [
        (first, second, _compared(_Once(first), _Once(second)))
        for group in by_name.values()
        for first, second in pairwise(sorted(group, key=lambda one: -one.metrics["ndcg@10"]))
    ]


class _Once:
    """An evaluation that is the same as another of its collection, mode and time."""

    def __init__(self, one: KeptEvaluation) -> None:
        self.one = one

    def _key(self) -> tuple[str, str, str]:
        return self.one.collection, self.one.mode, self.one.time

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Once) and self._key() == other._key()


@lru_cache(maxsize=64)
def _compared(first: _Once, second: _Once) -> dict[str, Json]:
    found = first.one.compare(second.one)
    return cast("dict[str, Json]", {"difference": found.difference, "p_value": found.p_value})

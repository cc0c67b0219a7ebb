"""One query to several spaces, which are asked at once: each may wait for a server of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import RLock
from typing import TypeVar

from ragloom.errors import RagloomError
from ragloom.retrieval.answers import Answers
from ragloom.retrieval.query import Query
from ragloom.retrieval.ranking import Ranking, order
from ragloom.retrieval.search import Gathered, gather, judge_ranking, result_of
from ragloom.snapshot import Snapshot
from ragloom.types import SearchResult

S = TypeVar("S")
T = TypeVar("T")

_MOST = 16  # threads


def search_many(
    query: Query, spaces: Sequence[Answers]
) -> tuple[Sequence[SearchResult], Sequence[RagloomError]]:
    """Search several spaces, and score their hits on a common scale where they have one model.

    Returns:
        The results of those that answer, and what is wrong with the others.
    """
    failed: list[RagloomError] = []
    opened = _at_once(lambda space: space.snapshot(), spaces, failed)
    answering = [
        (space, snapshot)
        for space, snapshot in zip(spaces, opened, strict=True)
        if snapshot is not None
    ]
    turn = RLock()  # spaces may share a model, which one thread uses at a time

    def gathering(one: tuple[Answers, Snapshot]) -> Gathered:
        beside = [snapshot for _, snapshot in answering if snapshot is not one[1]]
        return gather(query, one[0], beside, turn)

    gathered = [one for one in _at_once(gathering, answering, failed) if one is not None]
    by_model: dict[str, list[Gathered]] = {}
    for one in gathered:
        by_model.setdefault(one.found[0].snapshot.meta.embedder, []).append(one)
    rankings: dict[int, Ranking] = {}
    for group in by_model.values():
        ordered = order([one.found[0] for one in group], group[0].mode)
        rankings.update((id(one), ranking) for one, ranking in zip(group, ordered, strict=True))
    results: list[SearchResult] = []
    for one in gathered:
        try:
            judgement = judge_ranking(query, one, rankings[id(one)])
            results.append(result_of(query, one.space, judgement))
        except RagloomError as error:
            failed.append(error)
    return results, failed


def _at_once(
    work: Callable[[S], T], items: Sequence[S], failed: list[RagloomError]
) -> Sequence[T | None]:
    """What ``work`` returns for each item, in their order; None where it failed."""

    def tried(item: S) -> T | RagloomError:
        try:
            return work(item)
        except RagloomError as error:
            return error

    if len(items) < 2:  # noqa: PLR2004 - nothing to wait for beside it
        found = [tried(item) for item in items]
    else:
        with ThreadPoolExecutor(min(len(items), _MOST), "ragloom-space") as pool:
            waiting = [pool.submit(copy_context().run, tried, item) for item in items]
            found = [one.result() for one in waiting]
    failed += [one for one in found if isinstance(one, RagloomError)]
    return [None if isinstance(one, RagloomError) else one for one in found]

"""The gate: which candidates are shown. ``search`` and ``explain`` both go through it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ragloom.retrieval.lexical_scores import CANDIDATES
from ragloom.retrieval.relevance import WordEvidence
from ragloom.retrieval.rows import Place, Row
from ragloom.types import Hit

Verdict: TypeAlias = Place | Literal["irrelevant", "unexamined", "changed"]


_NAMED = ("copy", "folded")  # by another hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A candidate, and whether it is shown.

    Attributes:
        hit: The candidate, at the place where its file has it now.
        evidence: The words that it shares with the query.
        rank: Its place in the order, from 1.
        verdict: ``shown``; ``copy``, of a text that is shown; ``folded``, named by a hit of its file;
            ``irrelevant``, below the minimum; ``surplus``, behind as many hits as were requested;
            ``unexamined``, too far behind; ``changed``, its file no longer says it.
    """

    hit: Hit
    evidence: WordEvidence
    rank: int
    verdict: Verdict


def examined(top_k: int, *, alone: bool = False) -> int:
    """How many candidates, from the best on, are examined for ``top_k`` relevant ones.

    Those that others name do not count while there is room for more hits. More are examined where words
    are searched ``alone``: those that hold all of them may stand far behind.
    """
    return min(max(200 if alone else 50, 4 * top_k), 2 * CANDIDATES)


def farthest(last: int) -> int:
    """The last candidate that may be examined for ``last``, however many of them others name."""
    return 4 * last


def judge(
    count: int,
    *,
    row: Row,
    last: int,
    relevance: Callable[[int], float],
    read: Callable[[int], tuple[Hit, WordEvidence]],
    min_relevance: float,
    follow: Callable[[Hit], Hit | None],
    whole: bool = False,
) -> Iterator[Judged]:
    """Judge candidates in their order, lazily, and put what is shown or named into ``row``.

    What is folded is not compared with its file: where that has changed, the hits that are shown of it
    name no other lines.

    Args:
        count: How many candidates there are.
        row: Empty.
        last: How many are examined; once there are as many hits as were requested, a part of them.
        relevance: Gives the relevance of the candidate at a place, from 0.
        read: Makes a hit of it.
        min_relevance: The gate.
        follow: Gives a hit as its file stands now: itself where the file is unchanged, None where it no
            longer says it.
        whole: Give a verdict on every candidate. Otherwise end with the last that is examined, and
            neither read nor give those that are not shown or named, which saves most of the time.
    """
    changed: set[str] = set()
    named, fewest, farthest_of_all = 0, min(last, examined(row.top_k)), farthest(last)
    end = fewest if row.full else last
    for at in range(count):
        late = at >= end
        if not whole and late:
            return
        relevant = relevance(at) >= min_relevance
        if not whole and not relevant:
            continue
        hit, evidence = read(at)
        chunk = hit.chunk
        verdict: Verdict = row.place(chunk) if relevant else "irrelevant"
        named += verdict in _NAMED and not row.full
        if relevant and late:
            verdict = "unexamined"
        elif verdict == "folded" and chunk.uri not in changed:
            row.add(hit)
        elif verdict in ("shown", "copy"):
            now = follow(hit)
            if now is not hit:
                changed.add(chunk.uri)
            if now is None:
                verdict = "changed"
            else:
                hit = now
                row.add(hit)
        end = min((fewest if row.full else last) + named, farthest_of_all)
        yield Judged(hit=hit, evidence=evidence, rank=at + 1, verdict=verdict)

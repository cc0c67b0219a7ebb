"""The gate: which candidates are shown. ``search`` and ``explain`` both go through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ragloom.retrieval.ranking import CANDIDATES
from ragloom.retrieval.relevance import WordEvidence
from ragloom.types import Hit

Verdict: TypeAlias = Literal["shown", "irrelevant", "surplus", "unexamined", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A candidate, and whether it is shown.

    Attributes:
        hit: The candidate, at the place where its file has it now.
        evidence: The words that it shares with the query.
        rank: Its place in the order, from 1.
        verdict: ``shown``; ``irrelevant``, below the minimum; ``surplus``, behind as many hits as were
            requested; ``unexamined``, too far behind; ``changed``, its file no longer says it.
    """

    hit: Hit
    evidence: WordEvidence
    rank: int
    verdict: Verdict


def examined(top_k: int) -> int:
    """How many candidates, from the best on, are examined for ``top_k`` relevant ones."""
    return min(max(50, 4 * top_k), 2 * CANDIDATES)


def judge(
    candidates: Iterable[tuple[Hit, WordEvidence]],
    *,
    top_k: int,
    min_relevance: float,
    follow: Callable[[Hit], Hit | None],
) -> Iterator[Judged]:
    """Judge candidates in their order, lazily.

    Args:
        candidates: Best first.
        top_k: Maximum number of hits.
        min_relevance: The gate, 0 to 1.
        follow: Gives a hit as its file stands now, None where the file no longer says it.
    """
    shown = 0
    for rank, (hit, evidence) in enumerate(candidates, 1):
        verdict: Verdict = "shown"
        if hit.relevance < min_relevance:
            verdict = "irrelevant"
        elif rank > examined(top_k):
            verdict = "unexamined"
        elif shown >= top_k:
            verdict = "surplus"
        elif (now := follow(hit)) is None:
            verdict = "changed"
        else:
            hit, shown = now, shown + 1  # noqa: PLW2901 - the same hit, where it stands now
        yield Judged(hit=hit, evidence=evidence, rank=rank, verdict=verdict)

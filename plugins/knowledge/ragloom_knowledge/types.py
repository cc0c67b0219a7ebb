"""Lessons and patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import sqrt
from typing import Final, Literal, Self, TypeAlias, get_args

from ragloom import RagloomError

Kind: TypeAlias = Literal["failure_solution", "gate_rejection", "gate_approval"]
CheckpointKind: TypeAlias = Literal[
    "phase_completion", "project_completion", "cancellation", "manual"
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
CHECKPOINTS: Final[tuple[CheckpointKind, ...]] = get_args(CheckpointKind)

FIELDS_OF_KIND: Final[Mapping[Kind, tuple[str, ...]]] = {
    "failure_solution": ("failure_description", "error_message", "solution_steps"),
    "gate_rejection": ("gate_type", "human_feedback", "revision_approach"),
    "gate_approval": ("gate_type", "approved_approach"),
}
"""The texts that a lesson of each kind has."""

LONGEST: Final[Mapping[str, int]] = {
    "project": 200,
    "agent_type": 100,
    "task_type": 100,
    "technology": 100,
    "gate_type": 50,
}
"""Maximum number of characters of a name."""

PROVEN: Final = 0.5
"""The lower bound of the share of successes from which a pattern is likely to work: four of four, say."""

ENOUGH_USES: Final = 3
"""Uses after which a pattern that failed more often than it worked is advised against."""

_Z: Final = 1.959963984540054  # the 0.975 quantile of the normal distribution: a 95 % interval


class LessonError(RagloomError):
    """A lesson lacks what its kind needs, or its id is unknown."""


def failing(successes: int, uses: int) -> bool:
    """Whether there are three uses or more, and more failures than successes."""
    return uses >= ENOUGH_USES and 2 * successes < uses


def wilson_lower_bound(successes: int, uses: int) -> float:
    """The least share of successes that the counts let one believe, 0 to 1 (E. B. Wilson, 1927).

    One success of one use gives 0.21, five of five 0.57, and fifty of a hundred 0.40.
    """
    if not uses:
        return 0.0
    share, square = successes / uses, _Z * _Z
    centre = share + square / (2 * uses)
    margin = _Z * sqrt((share * (1 - share) + square / (4 * uses)) / uses)
    return max(0.0, (centre - margin) / (1 + square / uses))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One row of the table.

    Attributes:
        id: A UUID that follows from kind, signature and variant.
        kind: What taught it.
        project: Where it was learnt.
        agent_type: Whose work it was.
        task_type: Of the task, if it matters.
        technology: Likewise.
        failure_description: What failed.
        error_message: What was reported.
        solution_steps: What resolved it.
        gate_type: Which gate a human judged at.
        human_feedback: Why it was rejected.
        revision_approach: What was approved instead.
        approved_approach: What was approved at the first attempt.
        applies_to: The tasks that it concerns, in words, if whoever captured it said so.
        success_verified: Whether the solution was seen to work; human judgement always counts.
        signature: Two lessons of one kind and signature are about the same problem.
        variant: 0, or another solution of the same problem.
        successes: Times it worked, the first included.
        uses: Times it was tried, the first included.
        pinned: Whether it never expires.
        embedded: Whether a checkpoint brought it into the index.
        captured_at: UTC; while it is staged, of the last time that it was captured.
        embedded_at: UTC; its age counts from here.
        also_in: Other projects that have learnt the same, sorted.
        superseded_by: The lesson that is given instead.
    """

    id: str
    kind: Kind
    project: str
    agent_type: str
    task_type: str | None = None
    technology: str | None = None
    failure_description: str | None = None
    error_message: str | None = None
    solution_steps: str | None = None
    gate_type: str | None = None
    human_feedback: str | None = None
    revision_approach: str | None = None
    approved_approach: str | None = None
    applies_to: str | None = None
    success_verified: bool
    signature: str
    variant: int = 0
    successes: int
    uses: int
    pinned: bool = False
    embedded: bool = False
    captured_at: datetime
    embedded_at: datetime | None = None
    also_in: tuple[str, ...] = ()
    superseded_by: str | None = None

    @property
    def problem(self) -> str:
        """What an agent may meet."""
        if self.kind == "failure_solution":
            return self.failure_description or ""
        if self.kind == "gate_rejection":
            return f"A human rejected {self.gate_type}: {self.human_feedback or 'without a reason'}"
        return f"{self.gate_type} must pass the human gate"

    @property
    def solution(self) -> str:
        """What is known to work."""
        return self.solution_steps or self.revision_approach or self.approved_approach or ""

    @property
    def when_to_try(self) -> str:
        """The case that it is for."""
        scope = " ".join(part for part in (self.technology, self.task_type) if part)
        inside = f" in {scope} work" if scope else ""
        if self.kind == "failure_solution":
            lines = (self.error_message or "").strip().splitlines()
            said = f" with {lines[0].strip()!r}" if lines else ""
            return f"The same failure appears{said}{inside}"
        if self.kind == "gate_rejection":
            return f"Before {self.gate_type} is submitted, or once it was rejected for this{inside}"
        return f"Before {self.gate_type} is submitted{inside}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactedLesson(Lesson):
    """A lesson as it is captured, of which secrets were removed.

    Attributes:
        redacted: The fields that held one.
    """

    redacted: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A lesson that fits a task, and how it has done.

    Attributes:
        id: For :meth:`~ragloom_knowledge.KnowledgeBase.report_outcome`.
        kind: What taught it.
        problem: What an agent may meet.
        solution: What is known to work.
        when_to_try: The case that it is for.
        successes: Times it worked, in all of its wordings.
        uses: Times it was tried, likewise.
        relevance: To the query, 0 to 1.
        wordings: Ids of other lessons about the same problem that are counted here.
        conflicts: Ids of other patterns that advise the opposite.
    """

    id: str
    kind: Kind
    problem: str
    solution: str
    when_to_try: str
    successes: int
    uses: int
    relevance: float
    wordings: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()

    @property
    def human(self) -> bool:
        """Whether a human decided it."""
        return self.kind != "failure_solution"

    @property
    def proven(self) -> bool:
        """Whether its counts let one believe that it works more often than not."""
        return wilson_lower_bound(self.successes, self.uses) >= PROVEN

    @property
    def failing(self) -> bool:
        """Whether it failed more often than it worked, in three uses or more."""
        return failing(self.successes, self.uses)


class Patterns(tuple[Pattern, ...]):  # noqa: SLOT001 - a kind of tuple cannot have any
    """Patterns, the best proven first.

    Attributes:
        reason: Why there are none.
        avoid: Those that are about it, too, and failed more often than they worked.
    """

    reason: str
    avoid: tuple[Pattern, ...]

    def __new__(
        cls,
        patterns: Iterable[Pattern] = (),
        *,
        reason: str = "",
        avoid: Iterable[Pattern] = (),
    ) -> Self:
        """Make it."""
        made = super().__new__(cls, patterns)
        made.reason = reason
        made.avoid = tuple(avoid)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """What became of something captured.

    Attributes:
        id: The lesson, new or known.
        merged: Whether it was known.
        redacted: The fields in which a key, a token or a password was replaced by ``***``.
        similar: Ids of lessons that seem to be about the same problem in other words.
    """

    id: str
    merged: bool
    redacted: tuple[str, ...] = ()
    similar: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """What a checkpoint did.

    Attributes:
        project: Whose lessons were processed.
        kind: Why.
        processed: Lessons that are in the index since.
        embedded: Chunks that the model read.
        pruned: Lessons that had expired.
        failed: Ids of lessons that could not be indexed; the next checkpoint tries again.
    """

    project: str
    kind: CheckpointKind
    processed: int
    embedded: int
    pruned: int
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What expired.

    Attributes:
        ids: Lessons, sorted.
        dry_run: Whether they are still there.
    """

    ids: tuple[str, ...]
    dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What an agent is about to be given.

    Attributes:
        description: In words; it is also the context where nothing is known.
        agent_type: Only lessons of this agent, unless None.
        task_type: Likewise.
        technology: Likewise.
    """

    description: str
    agent_type: str | None = None
    task_type: str | None = None
    technology: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """A task with what is known about it.

    Attributes:
        text: The task's description, followed by the block of patterns, if there are any.
        patterns: Those in the block.
        tokens: Of the block.
        reason: Why there is no block.
        avoid: Patterns that the block advises against.
    """

    text: str
    patterns: tuple[Pattern, ...] = ()
    tokens: int = 0
    reason: str = ""
    avoid: tuple[Pattern, ...] = ()

"""The three events that teach something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragloom import Progress
from ragloom_knowledge.capturing import new_lesson
from ragloom_knowledge.nearby import Nearby
from ragloom_knowledge.types import Captured, Lesson

if TYPE_CHECKING:
    from ragloom_knowledge.database import LessonTable


class Captures:
    """Stages what was learnt in the table of lessons.

    Raises:
        LessonError: What a lesson needs is missing, or was recalled from another one.
        StoreError: The database refused it.
    """

    table: LessonTable

    def capture_all(
        self, lessons: Sequence[Lesson], *, progress: Progress | None = None
    ) -> list[Captured]:
        """Stage lessons, or count those that are known: all of them or none. Nothing is embedded.

        Of new ones, lessons that seem to be about the same problem in other words are named.
        """
        captured = self.table.capture(lessons, progress)
        near = Nearby(self.table)
        return [
            one if one.merged else replace(one, similar=near.similar(replace(lesson, id=one.id)))
            for lesson, one in zip(lessons, captured, strict=True)
        ]

    def capture(self, lesson: Lesson) -> Captured:
        """Stage one lesson; see :meth:`capture_all`."""
        return self.capture_all([lesson])[0]

    def capture_failure_solution(
        self,
        project: str,
        agent_type: str,
        failure_description: str,
        *,
        solution_steps: str | None = None,
        error_message: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
        applies_to: str | None = None,
        success_verified: bool = True,
    ) -> Captured:
        """Stage a failed test or task with its solution; without proof that it works, it stays there."""
        texts = {
            "project": project,
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
            "applies_to": applies_to,
            "failure_description": failure_description,
            "error_message": error_message,
            "solution_steps": solution_steps,
        }
        return self.capture(new_lesson("failure_solution", texts, verified=success_verified))

    def capture_gate_rejection(
        self,
        project: str,
        agent_type: str,
        gate_type: str,
        *,
        human_feedback: str,
        revision_approach: str,
        task_type: str | None = None,
        technology: str | None = None,
        applies_to: str | None = None,
    ) -> Captured:
        """Stage why a human rejected something, and what was approved instead."""
        texts = {
            "project": project,
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
            "applies_to": applies_to,
            "gate_type": gate_type,
            "human_feedback": human_feedback,
            "revision_approach": revision_approach,
        }
        return self.capture(new_lesson("gate_rejection", texts, verified=True))

    def capture_gate_approval(
        self,
        project: str,
        agent_type: str,
        gate_type: str,
        *,
        approved_approach: str,
        task_type: str | None = None,
        technology: str | None = None,
        applies_to: str | None = None,
    ) -> Captured:
        """Stage what a human approved at the first attempt."""
        texts = {
            "project": project,
            "agent_type": agent_type,
            "task_type": task_type,
            "technology": technology,
            "applies_to": applies_to,
            "gate_type": gate_type,
            "approved_approach": approved_approach,
        }
        return self.capture(new_lesson("gate_approval", texts, verified=True))

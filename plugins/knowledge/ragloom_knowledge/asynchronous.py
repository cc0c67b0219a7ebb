"""The methods of a knowledge base for programs with an event loop, which none of them blocks."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ragloom_knowledge.types import (
    Captured,
    Checkpoint,
    CheckpointKind,
    Lesson,
    Patterns,
    Task,
    TaskContext,
)

if TYPE_CHECKING:
    from ragloom_knowledge.knowledge import KnowledgeBase


class Asynchronous:
    """Each method is its namesake without the ``a``, in a thread; several may run at once."""

    @property
    def _own(self) -> KnowledgeBase:
        return cast("KnowledgeBase", self)

    async def aquery_for_task(
        self,
        description: str,
        agent_type: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
        max_results: int = 5,
    ) -> Patterns:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.query_for_task`."""
        return await to_thread(
            self._own.query_for_task, description, agent_type, task_type, technology, max_results
        )

    async def aquery_for_failure(
        self,
        description: str,
        error: str = "",
        agent_type: str | None = None,
        task_type: str | None = None,
        technology: str | None = None,
    ) -> Patterns:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.query_for_failure`."""
        return await to_thread(
            self._own.query_for_failure, description, error, agent_type, task_type, technology
        )

    async def abuild_context_for_task(self, task: Task) -> str:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.build_context_for_task`."""
        return await to_thread(self._own.build_context_for_task, task)

    async def acontext_for_task(self, task: Task, *, max_tokens: int | None = None) -> TaskContext:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.context_for_task`."""
        return await to_thread(self._own.context_for_task, task, max_tokens=max_tokens)

    async def acapture(self, lesson: Lesson) -> Captured:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.capture`."""
        return await to_thread(self._own.capture, lesson)

    async def acapture_all(self, lessons: Sequence[Lesson]) -> list[Captured]:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.capture_all`."""
        return await to_thread(self._own.capture_all, lessons)

    async def areport_outcome(
        self,
        pattern_id: str,
        success: bool,  # noqa: FBT001 - the contract
    ) -> Lesson:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.report_outcome`."""
        return await to_thread(self._own.report_outcome, pattern_id, success)

    async def aprocess_checkpoint(
        self, project: str, kind: CheckpointKind = "manual"
    ) -> Checkpoint:
        """See :meth:`~ragloom_knowledge.KnowledgeBase.process_checkpoint`."""
        return await to_thread(self._own.process_checkpoint, project, kind)

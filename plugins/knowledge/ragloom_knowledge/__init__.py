"""Lessons: what went wrong and was fixed, what was rejected, what was approved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from ragloom import Chunker, CommandSpec, EvaluationSpec, NoOptions, Provider, hookimpl

if TYPE_CHECKING:
    from ragloom import Space, Workspace
    from ragloom_knowledge.knowledge import KnowledgeBase
    from ragloom_knowledge.types import (
        Captured,
        Checkpoint,
        Lesson,
        LessonError,
        Pattern,
        Patterns,
        Pruned,
        Task,
        TaskContext,
    )

__all__ = [
    "Captured",
    "Checkpoint",
    "KnowledgeBase",
    "Lesson",
    "LessonError",
    "Pattern",
    "Patterns",
    "Pruned",
    "Task",
    "TaskContext",
    "ragloom_chunkers",
    "ragloom_commands",
    "ragloom_evaluations",
    "ragloom_settings",
    "ragloom_spaces",
]


def _chunker(_options: NoOptions) -> Chunker:
    from ragloom_knowledge.chunker import LessonChunker

    return LessonChunker()


@hookimpl
def ragloom_chunkers() -> Iterable[Provider[Chunker]]:
    """Offer the chunker ``lesson``."""
    return [
        Provider(
            name="lesson",
            summary="a lesson's file: the whole, and each of its texts that is searched by itself",
            create=_chunker,
        )
    ]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer ``ragloom knowledge``."""
    return {
        "knowledge": CommandSpec(
            target="ragloom_knowledge.cli:knowledge",
            summary="Capture lessons and query what has worked.",
        )
    }


@hookimpl
def ragloom_evaluations() -> Mapping[str, EvaluationSpec]:
    """Offer ``ragloom eval`` for folders of lessons, and ``ragloom calibrate --space knowledge``."""
    return {
        "lessons.jsonl": EvaluationSpec(
            target="ragloom_knowledge.evaluating:measure",
            summary="lessons for tasks and failures",
            space="knowledge",
            calibrated="ragloom_knowledge.space:calibrated_space",
        )
    }


@hookimpl
def ragloom_settings() -> Mapping[str, type]:
    """Declare the section ``knowledge``."""
    from ragloom_knowledge.settings import KnowledgeSettings

    return {"knowledge": KnowledgeSettings}


@hookimpl
def ragloom_spaces(workspace: Workspace) -> Mapping[str, Space]:
    """Offer the lessons where ``knowledge.serve`` is true."""
    from ragloom_knowledge.space import named_spaces

    return named_spaces(workspace)


def __getattr__(name: str) -> object:
    """Import what is heavy on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "knowledge" if name == "KnowledgeBase" else "types"
    return getattr(import_module(f"{__name__}.{module}"), name)

"""Lessons made of what an orchestrator, a person or a CI job captures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from reprlib import repr as shown
from typing import Final, cast

from ragloom import Json
from ragloom.text import hide
from ragloom_knowledge.block import without_recalled
from ragloom_knowledge.signature import signature, stable_id, uncoloured
from ragloom_knowledge.types import (
    FIELDS_OF_KIND,
    KINDS,
    LONGEST,
    Kind,
    Lesson,
    LessonError,
    RedactedLesson,
)

_REQUIRED: Final[Mapping[Kind, tuple[str, ...]]] = {
    "failure_solution": ("failure_description",),
    "gate_rejection": ("gate_type", "human_feedback", "revision_approach"),
    "gate_approval": ("gate_type", "approved_approach"),
}
_LABELS: Final = ("project", "agent_type", "task_type", "technology")
_TASKS: Final = "applies_to"


def now() -> datetime:
    """UTC, without a time zone, as both databases keep it."""
    return datetime.now(UTC).replace(tzinfo=None)


def lesson_from_json(value: Json) -> Lesson:
    """The lesson that one line of JSON describes.

    Raises:
        LessonError: It is no object, a key is unknown or missing, or a value of the wrong type.
    """
    if not isinstance(value, Mapping):
        raise LessonError("expected a JSON object with the fields of a lesson")
    kind = value.get("kind")
    if kind not in KINDS:
        raise LessonError(f"kind: expected one of {', '.join(KINDS)}, found {shown(kind)}")
    legal = {"kind", *_LABELS, *FIELDS_OF_KIND[kind], _TASKS}
    if kind == "failure_solution":
        legal.add("success_verified")
    for key in value:
        if key not in legal:
            names = ", ".join(sorted(legal))
            raise LessonError(f"{shown(key)}: a {kind} has no such field (legal: {names})")
    verified = value.get("success_verified", kind != "failure_solution")
    if not isinstance(verified, bool):
        raise LessonError(f"success_verified: expected true or false, found {shown(verified)}")
    texts = {key: value.get(key) for key in legal - {"kind", "success_verified"}}
    for key, text in texts.items():
        if not isinstance(text, str | None):
            raise LessonError(f"{key}: expected a string, found {shown(text)}")
    return new_lesson(kind, cast("dict[str, str | None]", texts), verified=verified)


def new_lesson(kind: Kind, given: Mapping[str, str | None], *, verified: bool) -> Lesson:
    """A lesson of what is given, without secrets and without what was recalled from earlier lessons.

    Raises:
        LessonError: A field that the kind needs is missing, or a label is too long.
    """
    texts = {key: _clean(key, text) for key, text in given.items()}
    redacted = tuple(
        sorted(
            key for key, text in given.items() if text and hide(plain := uncoloured(text)) != plain
        )
    )
    required = ["project", "agent_type", *_REQUIRED[kind]]
    if kind == "failure_solution" and verified:
        required.append("solution_steps")
    for key in required:
        if not texts.get(key):
            recalled = bool((given.get(key) or "").strip())
            why = "holds nothing but recalled lessons" if recalled else "missing"
            raise LessonError(f"{key}: {why}; a {kind} needs it")
    # A lesson is found by its labels, so what differs in them is another lesson.
    labels = [texts.get(key) for key in _LABELS[1:]]
    about = FIELDS_OF_KIND[kind][:-1]  # the last is the advice; what differs there is a variant
    name = signature(*labels, *(texts.get(key) for key in about))
    count = 1 if verified else 0
    lesson = Lesson(
        id=stable_id(kind, name, 0),
        kind=kind,
        success_verified=verified,
        signature=name,
        successes=count,
        uses=count,
        captured_at=now(),
        **texts,  # type: ignore[arg-type]  # project and agent_type are required
    )
    if not redacted:
        return lesson
    known = {field.name: getattr(lesson, field.name) for field in fields(Lesson)}
    return RedactedLesson(redacted=redacted, **known)


def storable(key: str, text: str) -> str | None:
    """What both databases and every file can hold of a text, without secrets or colours; None for nothing.

    Args:
        key: Its field. Those of :data:`~ragloom_knowledge.types.LONGEST` are one line each.
        text: Of any kind.

    Raises:
        LessonError: It is too long.
    """
    plain = uncoloured(text).encode("utf-8", "replace").decode()
    writable = hide(plain.replace("\0", "\ufffd"))
    kept = "\n".join(writable.splitlines())
    if key in LONGEST:
        kept = " ".join(kept.split())
        if len(kept) > LONGEST[key]:
            raise LessonError(f"{key}: {len(kept)} characters; the maximum is {LONGEST[key]}")
    return kept if kept.strip() else None


def _clean(key: str, text: str | None) -> str | None:
    lines = "" if text is None else storable("", text) or ""
    return storable(key, without_recalled(lines))

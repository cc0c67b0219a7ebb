"""From what an orchestrator, a person or a CI job says to a lesson that may be kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from ragloom.types import Json
from ragloom_knowledge.block import without_recalled
from ragloom_knowledge.signature import signature, stable_id
from ragloom_knowledge.types import FIELDS_OF_KIND, KINDS, Kind, Lesson, LessonError

__all__ = ["lesson_from_json", "new_lesson", "now"]

_LONGEST: Final = {
    "project": 200,
    "agent_type": 100,
    "task_type": 100,
    "technology": 100,
    "gate_type": 50,
}
_REQUIRED: Final[Mapping[Kind, tuple[str, ...]]] = {
    "failure_solution": ("failure_description",),
    "gate_rejection": ("gate_type", "human_feedback", "revision_approach"),
    "gate_approval": ("gate_type", "approved_approach"),
}
_LABELS: Final = ("project", "agent_type", "task_type", "technology")


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
        raise LessonError(f"kind: expected one of {', '.join(KINDS)}, found {kind!r}")
    legal = {"kind", *_LABELS, *FIELDS_OF_KIND[kind]}
    if kind == "failure_solution":
        legal.add("success_verified")
    for key in value:
        if key not in legal:
            raise LessonError(
                f"{key}: a {kind} has no such field (legal: {', '.join(sorted(legal))})"
            )
    verified = value.get("success_verified", kind != "failure_solution")
    if not isinstance(verified, bool):
        raise LessonError(f"success_verified: expected true or false, found {verified!r}")
    texts: dict[str, str | None] = {}
    for key in legal - {"kind", "success_verified"}:
        text = value.get(key)
        if text is not None and not isinstance(text, str):
            raise LessonError(f"{key}: expected a string, found {text!r}")
        texts[key] = text
    return new_lesson(kind, texts, verified=verified)


def new_lesson(kind: Kind, given: Mapping[str, str | None], *, verified: bool) -> Lesson:
    """A lesson of what is given, without what was recalled from earlier lessons.

    Raises:
        LessonError: A field that the kind needs is missing, or a label is too long.
    """
    texts = {key: _clean(key, text) for key, text in given.items()}
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
    return Lesson(
        id=stable_id(kind, name, 0),
        kind=kind,
        project=texts["project"] or "",
        agent_type=texts["agent_type"] or "",
        task_type=texts.get("task_type"),
        technology=texts.get("technology"),
        failure_description=texts.get("failure_description"),
        error_message=texts.get("error_message"),
        solution_steps=texts.get("solution_steps"),
        gate_type=texts.get("gate_type"),
        human_feedback=texts.get("human_feedback"),
        revision_approach=texts.get("revision_approach"),
        approved_approach=texts.get("approved_approach"),
        success_verified=verified,
        signature=name,
        successes=count,
        uses=count,
        captured_at=now(),
    )


def _clean(key: str, text: str | None) -> str | None:
    """What both databases and every file can hold; None for nothing."""
    if text is None:
        return None
    writable = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    kept = without_recalled("\n".join(writable.splitlines()))
    if key in _LONGEST:
        kept = " ".join(kept.split())
        if len(kept) > _LONGEST[key]:
            raise LessonError(
                f"{key}: {len(kept)} characters, and at most {_LONGEST[key]} are kept"
            )
    return kept or None

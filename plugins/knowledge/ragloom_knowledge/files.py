"""A lesson as a Markdown file: what the index reads, and what is exported and imported."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast
from uuid import UUID

from ragloom.types import Json
from ragloom_knowledge.types import KINDS, Lesson, LessonError

if TYPE_CHECKING:
    from yaml import SafeLoader

__all__ = ["exported_text", "file_name", "indexed_text", "parse_exported", "write_atomically"]

ENDING: Final = ".md"
_FILTERED: Final = ("id", "kind", "project", "agent_type", "task_type", "technology")
_TITLES: Final = {
    "failure_description": "Failure",
    "error_message": "Error",
    "solution_steps": "Solution",
    "gate_type": "Gate",
    "human_feedback": "Feedback",
    "revision_approach": "Approved revision",
    "approved_approach": "Approved approach",
}


def file_name(lesson_id: str) -> str:
    """``<id>.md``."""
    return f"{lesson_id}{ENDING}"


def indexed_text(lesson: Lesson) -> str:
    """What is embedded, below the fields that searches filter by.

    It depends on nothing that changes later, so that outcomes never embed a lesson again.
    """
    values = {name: getattr(lesson, name) for name in _FILTERED}
    return _with_front_matter(
        {name: value for name, value in values.items() if value is not None}, lesson
    )


def exported_text(lesson: Lesson) -> str:
    """The whole lesson: every field as front matter, and the same for a reader below it."""
    values: dict[str, Json] = {}
    for known in fields(Lesson):
        value = getattr(lesson, known.name)
        values[known.name] = value.isoformat() if isinstance(value, datetime) else value
    return _with_front_matter(values, lesson)


def parse_exported(text: str, place: str) -> Lesson:
    """The lesson whose :func:`exported_text` this is; the front matter says everything.

    Args:
        text: Of the file.
        place: Names the file in messages.

    Raises:
        LessonError: The front matter is missing or is not that of a lesson.
    """
    import yaml

    begin, _, rest = text.removeprefix("\ufeff").replace("\r\n", "\n").partition("---\n")
    block, end, _ = rest.partition("\n---\n")
    loader: type[SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        # A SafeLoader, in C where there is one.
        read = cast("object", yaml.load(block, Loader=loader)) if end and not begin else None  # noqa: S506
    except yaml.YAMLError as error:
        raise LessonError(f"{place}: the front matter is not valid YAML") from error
    if not isinstance(read, Mapping):
        raise LessonError(f"{place}: not an exported lesson: it has no front matter")
    return _checked(cast("Mapping[str, object]", read), place)


def _checked(values: Mapping[str, object], place: str) -> Lesson:
    given: dict[str, object] = {}
    for known in fields(Lesson):
        name = known.name
        value = values.get(name)
        kinds = str(known.type)
        if value is None and "None" not in kinds:
            raise LessonError(f"{place}: {name}: missing")
        if value is not None and "datetime" in kinds:
            try:
                value = datetime.fromisoformat(str(value))
            except ValueError as error:
                raise LessonError(f"{place}: {name}: not a time: {value!r}") from error
        elif value is not None:
            expected = bool if kinds == "bool" else int if kinds == "int" else str
            if type(value) is not expected:
                message = f"{place}: {name}: expected {expected.__name__}, found {value!r}"
                raise LessonError(message)
        given[name] = value
    if given["kind"] not in KINDS:
        raise LessonError(f"{place}: kind: expected one of {', '.join(KINDS)}")
    try:
        given["id"] = str(UUID(str(given["id"])))  # it becomes a file's name
    except ValueError as error:
        raise LessonError(f"{place}: id: not a UUID: {given['id']!r}") from error
    return Lesson(**given)  # type: ignore[arg-type]  # checked above


def write_atomically(path: Path, text: str) -> None:
    """Write a file whole or not at all, and not at all where it says so already."""
    content = text.encode("utf-8")
    try:
        if path.read_bytes() == content:
            return
    except FileNotFoundError:
        pass
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.write_bytes(content)
    temporary.replace(path)


def _with_front_matter(values: Mapping[str, Json], lesson: Lesson) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    front = yaml.dump(dict(values), Dumper=dumper, allow_unicode=True, sort_keys=False, width=2**20)
    body = "\n\n".join(
        f"{title}: {text}" for name, title in _TITLES.items() if (text := getattr(lesson, name))
    )
    return f"---\n{front}---\n\n{body}\n"

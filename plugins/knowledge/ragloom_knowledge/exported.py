"""Lessons as a folder of Markdown files, which another database or another machine takes over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from pathlib import Path
from reprlib import repr as shown
from typing import Final

from ragloom import Json, Progress
from ragloom.text import FrontMatterError, read_regular, split_front_matter
from ragloom_knowledge.capturing import storable
from ragloom_knowledge.files import file_name, reported, with_front_matter, write_atomically
from ragloom_knowledge.signature import stable_id
from ragloom_knowledge.types import KINDS, Lesson, LessonError

_GREATEST: Final = 1_000_000_000  # count in a file; the databases hold twice as many
_NUMBER: Final = re.compile("[0-9]{1,10}")


def exported_text(lesson: Lesson) -> str:
    """The whole lesson: every field as front matter, and the same for a reader below it."""
    values: dict[str, Json] = {}
    for known in fields(Lesson):
        value = getattr(lesson, known.name)
        if isinstance(value, datetime):
            value = value.isoformat()
        values[known.name] = list(value) if isinstance(value, tuple) else value
    return with_front_matter(values, lesson)


def write_export(folder: Path, lessons: Sequence[Lesson], progress: Progress | None = None) -> None:
    """Write a file a lesson; what an earlier export wrote there is replaced as a whole.

    Raises:
        LessonError: The folder holds something else; then nothing is written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    earlier = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    for path in earlier:
        if not _is_exported(path):
            raise LessonError(
                f"{folder}: holds {path.name}, which no export wrote: "
                "name an empty folder, or that of an earlier export"
            )
    for lesson in reported(lessons, "writing files", progress):
        write_atomically(folder / file_name(lesson.id), exported_text(lesson))
    names = {file_name(lesson.id) for lesson in lessons}
    for path in earlier:
        if path.name not in names:
            path.unlink()


def _is_exported(path: Path) -> bool:
    try:
        text = read_regular(path).decode("utf-8-sig").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError):
        return False
    begins = text.startswith(f"---\nid: {path.stem}\n")
    return begins and path.name == file_name(path.stem) and "\nsignature: " in text


def read_export(folder: Path, progress: Progress | None = None) -> list[Lesson]:
    """The lessons of every Markdown file in a folder, in the order of their names.

    Raises:
        LessonError: A file is not an exported lesson, or one lesson is in two of them.
    """
    found: dict[str, tuple[Path, Lesson]] = {}
    for path in reported(sorted(folder.glob("*.md")), "reading exported files", progress):
        try:
            lesson = parse_exported(read_regular(path).decode(), str(path))
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise LessonError(f"{path}:{line}: not UTF-8") from error
        if lesson.id in found:
            other, _ = found[lesson.id]
            raise LessonError(f"{path}: the same lesson as in {other}: remove one of the two")
        found[lesson.id] = path, lesson
    return [lesson for _, lesson in found.values()]


def parse_exported(text: str, place: str) -> Lesson:
    """The lesson whose :func:`exported_text` this is; a LessonError names file and line."""
    try:
        front_matter = split_front_matter(text.removeprefix("\ufeff"), strict=True)
    except FrontMatterError as error:
        message = f"{place}:{error.line}: not an exported lesson: {error.problem}"
        raise LessonError(message) from error
    if front_matter is None:
        raise LessonError(f"{place}:1: not an exported lesson: it has no front matter")
    lines = front_matter.lines
    for key in front_matter.repeated:
        raise LessonError(f"{place}:{lines[key]}: {shown(key)} is given twice")
    values: dict[str, object] = {}
    for known in fields(Lesson):
        name = known.name
        if name not in front_matter.fields:
            if known.default is MISSING:
                raise LessonError(f"{place}:1: {name}: missing")
            continue
        given, plain = front_matter.fields[name], name in front_matter.plain
        try:
            values[name] = _read(name, str(known.type), given, plain=plain)
        except LessonError as error:  # a name that is too long
            raise LessonError(f"{place}:{lines[name]}: {error}") from error
        except ValueError as error:
            found = f"{name}: expected {error}, found {shown(given)}"
            raise LessonError(f"{place}:{lines[name]}: {found}") from error
    lesson = Lesson(**values)  # type: ignore[arg-type]  # as the fields are
    for name, problem in _contradictions(lesson):
        raise LessonError(f"{place}:{lines.get(name, 1)}: {name}: {problem}")
    return lesson


def _read(name: str, kind: str, given: Json, *, plain: bool) -> object:
    """The value of a field of that kind; a ValueError says what was expected."""
    optional = kind.endswith("None")
    if kind.startswith("tuple"):
        if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
            raise ValueError("a list of names")
        names = (storable("project", str(item)) for item in given)
        return tuple(sorted({text for text in names if text}))
    if optional and given in (None, ""):
        return None
    text = given if isinstance(given, str) else ""
    if kind == "bool":
        if plain and text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise ValueError("true or false")
    if kind == "int":
        if plain and _NUMBER.fullmatch(text) and int(text) <= _GREATEST:
            return int(text)
        raise ValueError(f"a whole number from 0 to {_GREATEST}")
    if kind.startswith("datetime"):
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        raise ValueError("a time such as 2026-01-31T10:00:00")
    if kind == "Kind" and text not in KINDS:
        raise ValueError(f"one of {', '.join(KINDS)}")
    kept = storable(name, text)
    if kept is None and not (optional and isinstance(given, str)):
        raise ValueError("text")
    return kept


def _contradictions(lesson: Lesson) -> Iterator[tuple[str, str]]:
    """Fields that cannot be as they are, as the database would refuse them, and why."""
    about = "failure_description" if lesson.kind == "failure_solution" else "gate_type"
    if getattr(lesson, about) is None:
        yield about, f"missing; a {lesson.kind} needs it"
    if lesson.success_verified and not lesson.solution:
        yield "success_verified", "true, and there is no solution"
    if lesson.embedded and not lesson.success_verified:
        yield "embedded", "true, and the solution is not verified"
    if lesson.embedded and lesson.embedded_at is None:
        yield "embedded_at", "missing; an embedded lesson needs it"
    if lesson.successes > lesson.uses:
        yield "successes", f"expected at most the uses, {lesson.uses}, found {lesson.successes}"
    if lesson.id != stable_id(lesson.kind, lesson.signature, lesson.variant):
        yield "id", f"{shown(lesson.id)} is not that of this kind, signature and variant"

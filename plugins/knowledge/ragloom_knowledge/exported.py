"""Lessons as a folder of Markdown files, which another database or another machine takes over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from pathlib import Path
from reprlib import repr as shown
from typing import TYPE_CHECKING, Final

from ragloom import Json, Progress
from ragloom.text import read_regular
from ragloom_knowledge.capturing import storable
from ragloom_knowledge.files import file_name, with_front_matter, write_atomically
from ragloom_knowledge.reporting import reported
from ragloom_knowledge.signature import stable_id
from ragloom_knowledge.types import KINDS, Lesson, LessonError

if TYPE_CHECKING:
    from yaml import Node, SafeLoader

__all__ = ["exported_text", "parse_exported", "read_export", "write_export"]

_GREATEST: Final = 1_000_000_000  # count in a file; the databases hold twice as many
_DEEPEST: Final = 20  # levels of YAML; lessons have two
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
    """The lesson whose :func:`exported_text` this is; the front matter says everything.

    Args:
        text: Of the file.
        place: Names the file in messages.

    Raises:
        LessonError: The front matter is missing or is not that of a lesson; names file and line.
    """
    begin, _, rest = text.removeprefix("\ufeff").replace("\r\n", "\n").partition("---\n")
    block, end, _ = rest.partition("\n---\n")
    if begin or not end:
        raise LessonError(f"{place}:1: not an exported lesson: it has no front matter")
    given = _front_matter(block, place)
    values: dict[str, object] = {}
    for known in fields(Lesson):
        name = known.name
        if name not in given:
            if known.default is MISSING:
                raise LessonError(f"{place}:1: {name}: missing")
            continue
        line, node = given[name]
        try:
            values[name] = _read(name, str(known.type), node)
        except LessonError as error:  # a name that is too long
            raise LessonError(f"{place}:{line}: {error}") from error
        except ValueError as error:
            found = shown(node.value) if isinstance(node.value, str) else "something nested"
            raise LessonError(f"{place}:{line}: {name}: expected {error}, found {found}") from error
    lesson = Lesson(**values)  # type: ignore[arg-type]  # as the fields are
    for name, problem in _contradictions(lesson):
        line = given[name][0] if name in given else 1
        raise LessonError(f"{place}:{line}: {name}: {problem}")
    return lesson


def _front_matter(block: str, place: str) -> Mapping[str, tuple[int, Node]]:
    """Line and value of every key. Nothing is constructed: a file does no harm by what it says."""
    import yaml

    loader: type[SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    wrong = f"{place}:{{}}: not an exported lesson: {{}}"
    try:
        depth = 0
        for event in yaml.parse(block, Loader=loader):  # libyaml's composer overflows the stack
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                line = event.start_mark.line + 2 if event.start_mark else 1
                raise LessonError(wrong.format(line, "nested too deeply"))
        root = yaml.compose(block, Loader=loader)  # the block's first line is the file's second
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        line = mark.line + 2 if mark else 1
        raise LessonError(wrong.format(line, problem or "not valid YAML")) from error
    if not isinstance(root, yaml.MappingNode):
        raise LessonError(wrong.format(1, "it has no fields"))
    found: dict[str, tuple[int, Node]] = {}
    for key, value in root.value:
        line = key.start_mark.line + 2
        if not isinstance(key, yaml.ScalarNode):
            raise LessonError(wrong.format(line, "a key must be a plain word"))
        if key.value in found:
            raise LessonError(wrong.format(line, f"{shown(key.value)} is given twice"))
        found[key.value] = line, value
    return found


def _read(name: str, kind: str, node: Node) -> object:
    """The value of a field.

    Raises:
        LessonError: A name is too long.
        ValueError: It is not of its kind; says what was expected.
    """
    from yaml import ScalarNode

    if kind.startswith("tuple"):
        if not isinstance(node.value, list) or not all(map(_is_text, node.value)):
            raise ValueError("a list of names")
        names = (storable("project", item.value) for item in node.value)
        return tuple(sorted({text for text in names if text}))
    text = node.value if isinstance(node, ScalarNode) else ""
    written = node.tag.rpartition(":")[2]
    if kind.endswith("None") and isinstance(node, ScalarNode) and (written == "null" or not text):
        return None
    if kind == "bool":
        if written == "bool" and text.lower() in ("true", "false"):
            return bool(text.lower() == "true")
        raise ValueError("true or false")
    if kind == "int":
        if written == "int" and _NUMBER.fullmatch(text) and int(text) <= _GREATEST:
            return int(text)
        raise ValueError(f"a whole number from 0 to {_GREATEST}")
    if kind.startswith("datetime"):
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(text)
            return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        raise ValueError("a time such as 2026-01-31T10:00:00")
    if kind == "Kind" and text not in KINDS:
        raise ValueError(f"one of {', '.join(KINDS)}")
    kept = storable(name, text) if _is_text(node) else None
    if kept is None and not (kind.endswith("None") and _is_text(node)):
        raise ValueError("text")
    return kept


def _is_text(node: Node) -> bool:
    return isinstance(node.value, str) and not node.tag.endswith(":null")


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

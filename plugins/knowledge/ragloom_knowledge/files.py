"""A lesson as a Markdown file, of which the front matter is for programs and the rest for readers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from ragloom import Json, Progress
from ragloom_knowledge.chunker import PARTS, Part
from ragloom_knowledge.types import Lesson

Item = TypeVar("Item")
_FILTERED: Final = ("id", "kind", "project", "agent_type", "task_type", "technology")
_TITLES: Final = {
    "technology": "Technology",
    "failure_description": "Failure",
    "error_message": "Error",
    "solution_steps": "Solution",
    "gate_type": "Gate",
    "human_feedback": "Feedback",
    "revision_approach": "Approved revision",
    "approved_approach": "Approved approach",
    "applies_to": "Tasks",
}


def reported(items: Sequence[Item], stage: str, progress: Progress | None) -> Iterator[Item]:
    """The items in turn; ``progress`` is told of each once it is done with."""
    for number, item in enumerate(items, 1):
        yield item
        if progress:
            progress(stage, number, len(items))


def file_name(lesson_id: str) -> str:
    """``<id>.md``."""
    return f"{lesson_id}.md"


def indexed_text(lesson: Lesson) -> str:
    """What is embedded, below the fields that searches filter by: a paragraph for each text.

    The technology is part of it, as tasks name theirs; titles of fields are not, as they make all lessons
    alike; what changes later is not, so that outcomes never embed a lesson again.
    """
    values: dict[str, Json] = {
        name: value for name in _FILTERED if (value := getattr(lesson, name)) is not None
    }
    about = lesson.failure_description or lesson.human_feedback or lesson.approved_approach
    advice = lesson.solution if lesson.solution != about else None
    given: dict[Part, str | None] = {
        "technology": lesson.technology,
        "problem": about,
        "error": lesson.error_message,
        "advice": advice,
        "tasks": lesson.applies_to,
    }
    # A paragraph is what a chunk is made of: no text of a lesson ends its own.
    paragraphs: dict[Part, str] = {
        part: _ended("\n".join(line for line in text.splitlines() if line.strip()))
        for part, text in given.items()
        if text and text.strip()
    }
    values[PARTS] = list(paragraphs)
    return _front_matter(values) + "\n\n".join(paragraphs.values()) + "\n"


def _ended(text: str) -> str:
    """``text`` with a full stop, where it has no sign at its end: the model reads sentences."""
    return text if text[-1:] in ".!?:;" else f"{text}."


def write_atomically(path: Path, text: str) -> None:
    """Write a file whole or not at all, and not at all where it says so already."""
    content = text.encode("utf-8")
    try:
        if path.read_bytes() == content:
            return
    except FileNotFoundError:
        pass
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)  # it may be a link
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())  # before the table says that the lesson is in the index
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def with_front_matter(values: Mapping[str, Json], lesson: Lesson) -> str:
    """A file that says ``values`` and then the texts of the lesson, each below its title."""
    body = "\n\n".join(
        f"{title}: {text}" for name, title in _TITLES.items() if (text := getattr(lesson, name))
    )
    return f"{_front_matter(values)}{body}\n"


def _front_matter(values: Mapping[str, Json]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    front = yaml.dump(dict(values), Dumper=dumper, allow_unicode=True, sort_keys=False, width=2**20)
    return f"---\n{front}---\n\n"

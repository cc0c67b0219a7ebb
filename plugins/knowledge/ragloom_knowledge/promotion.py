"""Proven lessons as instructions: a section of a page such as ``AGENTS.md``, or a skill of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragloom_knowledge.files import write_atomically
from ragloom_knowledge.index import named_files
from ragloom_knowledge.types import PROVEN, Lesson, LessonError, failing, wilson_lower_bound

if TYPE_CHECKING:
    from ragloom_knowledge.knowledge import KnowledgeBase

_BEGIN: Final = "<!-- ragloom lessons: written by 'ragloom knowledge promote' -->"
_END: Final = "<!-- end of ragloom lessons -->"
_SECTION: Final = re.compile(rf"{re.escape(_BEGIN)}.*?{re.escape(_END)}\n?", re.DOTALL)
_TITLE: Final = "## Lessons of this project"
_SKILL: Final = """---
name: {name}
description: Lessons that past work has proven. Read it before a task, and when something fails.
---

{body}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a promotion does to a file.

    Attributes:
        path: The file.
        before: Its text; empty where there is none.
        after: Its text once it is written.
        lessons: Ids of those that stand in it.
    """

    path: Path
    before: str
    after: str
    lessons: tuple[str, ...]

    @property
    def diff(self) -> str:
        """The change as a unified diff; empty where nothing changes."""
        lines = unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"a/{self.path.name}",
            f"b/{self.path.name}",
        )
        return "".join(lines)

    def write(self) -> None:
        """Write it, in one step; of a link what it leads to.

        Raises:
            LessonError: It cannot be written.
        """
        with named_files():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(self.path, self.after)


def promoted(
    knowledge: KnowledgeBase,
    ids: Sequence[str] = (),
    *,
    page: Path | None = None,
    skill: Path | None = None,
) -> Change:
    """What it would change to promote lessons into ``page``, or into ``skill``, a folder.

    Args:
        knowledge: The lessons.
        ids: Which; all that are proven, or that a human decided, by default.
        page: A Markdown file, of which everything outside of the section stays as it is.
        skill: The folder of a skill.

    Raises:
        LessonError: A lesson is unknown, is not verified, or failed more often than it worked; or the file
            cannot be read.
    """
    chosen = [knowledge.lesson(lesson_id) for lesson_id in ids]
    for lesson in chosen:
        if not lesson.success_verified or failing(lesson.successes, lesson.uses):
            worked = f"worked {lesson.successes} of {lesson.uses} times"
            raise LessonError(f"{lesson.id}: is not promoted: it {worked}")
    if not ids:
        chosen = [lesson for lesson in knowledge.lessons() if _is_proven(lesson)]
    body = "".join(_entry(lesson) for lesson in sorted(chosen, key=_order))
    path = (page if page is not None else (skill or Path()) / "SKILL.md").resolve()
    before = _read(path)
    if page is None:
        name = re.sub(r"[^a-z0-9]+", "-", path.parent.name.lower()).strip("-") or "lessons"
        after = _SKILL.format(name=name, body=f"# Lessons\n\n{body}") if body else before
    else:
        after = _with_section(before, f"{_BEGIN}\n{_TITLE}\n\n{body}{_END}\n" if body else "")
    ids_shown = tuple(lesson.id for lesson in sorted(chosen, key=_order))
    return Change(path=path, before=before, after=after, lessons=ids_shown)


def _with_section(text: str, section: str) -> str:
    if _SECTION.search(text):
        return _SECTION.sub(lambda _match: section, text, count=1)
    if not section or not text.strip():
        return section or text
    return f"{text.rstrip()}\n\n{section}"


def _read(path: Path) -> str:
    with named_files():
        try:
            return path.read_text("utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError as error:
            raise LessonError(f"{path}: not UTF-8 at byte {error.start}") from error


def _is_proven(lesson: Lesson) -> bool:
    if (
        not lesson.success_verified
        or lesson.superseded_by
        or failing(lesson.successes, lesson.uses)
    ):
        return False
    human = lesson.kind != "failure_solution"
    return human or wilson_lower_bound(lesson.successes, lesson.uses) >= PROVEN


def _order(lesson: Lesson) -> tuple[str, float, str]:
    bound = wilson_lower_bound(lesson.successes, lesson.uses)
    return (lesson.technology or "").casefold(), -bound, lesson.id


def _entry(lesson: Lesson) -> str:
    about = f"{lesson.technology}: {lesson.problem}" if lesson.technology else lesson.problem
    human = "decided by a human, " if lesson.kind != "failure_solution" else ""
    counts = f"{human}worked {lesson.successes} of {lesson.uses} times"
    return f"- **{_on_a_line(about)}** {_on_a_line(lesson.solution)} ({counts})\n"


def _on_a_line(text: str) -> str:
    """A text that ends no section, begins none, and marks nothing bold."""
    line = " ".join(text.split()).replace("<!--", "&lt;!--").replace("-->", "--&gt;")
    line = line.replace("**", r"\*\*")
    return line if line.endswith((".", "!", "?")) else f"{line}."

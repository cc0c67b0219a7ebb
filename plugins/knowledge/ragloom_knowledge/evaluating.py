"""Measuring lessons: a folder of lessons, and of tasks and failures with those that are right."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from reprlib import repr as shown
from typing import Final, cast

from ragloom import Json, Measurement, Progress, RagloomError, SourceError, Workspace
from ragloom.text import parse_json
from ragloom_knowledge.block import AT_MOST
from ragloom_knowledge.capturing import lesson_from_json
from ragloom_knowledge.knowledge import KnowledgeBase
from ragloom_knowledge.settings import KnowledgeSettings
from ragloom_knowledge.space import NAME
from ragloom_knowledge.types import LessonError, Pattern, Task

LESSONS: Final = "lessons.jsonl"
QUERIES: Final = "queries.jsonl"
_LEGAL: Final = frozenset(
    {"task", "failure", "error", "expected", "agent_type", "task_type", "technology"}
)
_EXPECTED: Final = 'expected {"task": "…" or "failure": "…", "expected": [ids of lessons, or none]}'


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuery:
    """A task or a failure, and which lessons are right for it.

    Attributes:
        text: In words.
        error: What was reported, of a failure.
        failure: Whether it is a failure.
        expected: Ids of lessons, or of the problems that they are about; none where nothing is right.
        labels: What lessons must have.
    """

    text: str
    error: str = ""
    failure: bool = False
    expected: frozenset[str]
    labels: Mapping[str, str] = field(default_factory=dict)


def measure(workspace: Workspace, folder: Path, *, progress: Progress | None = None) -> Measurement:
    """Measure the lessons of a folder, for ``ragloom eval``, with the workspace's settings.

    ``lessons.jsonl`` has a lesson a line, as ``ragloom knowledge capture --json`` reads it, with an id; a
    ``problem`` is another name for all lessons that are about it. ``queries.jsonl`` has a task or a failure
    a line, with the ids or problems that are right.

    Raises:
        SourceError: A line is none of these; file and line are named.
    """
    queries = list(_queries(folder / QUERIES))
    home = f"eval/{folder.resolve().name}.{NAME}"
    shutil.rmtree(workspace.state / home, ignore_errors=True)
    settings = replace(workspace.section(NAME, KnowledgeSettings), database="")
    with KnowledgeBase(workspace, settings, home=home) as knowledge:
        names, problems = _capture(knowledge, folder / LESSONS)
        known = set().union(*names.values())
        for query in queries:
            if unknown := sorted(query.expected - known):
                raise SourceError(f"{folder / QUERIES}: no lesson has the id {unknown[0]!r}")
        started = time.perf_counter()
        for project in sorted({lesson.project for lesson in knowledge.lessons()}):
            knowledge.process_checkpoint(project, progress=progress)
        index_seconds = time.perf_counter() - started
        answers = [_answer(knowledge, query) for query in queries]
        chunks = len(knowledge.space.snapshot())
    right = [
        _is_right(query, found, names) for query, (found, _) in zip(queries, answers, strict=True)
    ]
    return Measurement(
        metrics=_metrics(queries, [found for found, _ in answers], right, problems),
        latency_ms=[seconds * 1e3 for _, seconds in answers],
        index_seconds=index_seconds,
        chunks=chunks,
        notes=[
            f"{query.text}: wanted {', '.join(sorted(query.expected)) or 'nothing'}, found "
            + (", ".join(min(names[one.id]) for one in found) or "nothing")
            for query, (found, _), fits in zip(queries, answers, right, strict=True)
            if not fits
        ],
    )


def _metrics(
    queries: Sequence[JudgedQuery],
    found: Sequence[Sequence[Pattern]],
    right: Sequence[bool],
    problems: Mapping[str, str],
) -> Mapping[str, float]:
    """Shares of tasks and failures with a right pattern, and of unrelated ones with any."""

    def share(*, failure: bool) -> float:
        chosen = [
            fits
            for query, fits in zip(queries, right, strict=True)
            if query.expected and query.failure == failure
        ]
        return sum(chosen) / len(chosen) if chosen else 0.0

    unrelated = [not fits for query, fits in zip(queries, right, strict=True) if not query.expected]
    shown_of_one = [
        count
        for patterns in found
        for count in Counter(problems[one.id] for one in patterns).values()
    ]
    return {
        "tasks": share(failure=False),
        "failures": share(failure=True),
        "unrelated": sum(unrelated) / len(unrelated) if unrelated else 0.0,
        "patterns/problem": sum(shown_of_one) / len(shown_of_one) if shown_of_one else 0.0,
    }


def _answer(knowledge: KnowledgeBase, query: JudgedQuery) -> tuple[Sequence[Pattern], float]:
    """The patterns that an agent sees, and how long it took."""
    started = time.perf_counter()
    if query.failure:
        found: Sequence[Pattern] = knowledge.query_for_failure(
            query.text, query.error, **query.labels
        )
    else:
        found = knowledge.context_for_task(Task(description=query.text, **query.labels)).patterns
    return found[:AT_MOST], time.perf_counter() - started


def _is_right(
    query: JudgedQuery, found: Sequence[Pattern], names: Mapping[str, frozenset[str]]
) -> bool:
    if not query.expected:
        return not found
    return any(names[one.id] & query.expected for one in found)


def _capture(
    knowledge: KnowledgeBase, path: Path
) -> tuple[Mapping[str, frozenset[str]], Mapping[str, str]]:
    """Of each lesson its names, and the problem that it is about."""
    names: dict[str, frozenset[str]] = {}
    problems: dict[str, str] = {}
    given = []
    for place, row in _rows(path):
        row = dict(row)  # noqa: PLW2901 - its own fields are taken out
        name = row.pop("id", None)
        problem = row.pop("problem", name)
        if not isinstance(name, str) or not isinstance(problem, str):
            raise SourceError(f"{place}: expected a lesson with an id, found {shown(row)}")
        try:
            given.append((name, problem, lesson_from_json(row)))
        except LessonError as error:
            raise SourceError(f"{place}: {error}") from error
    captured = knowledge.capture_all([lesson for _, _, lesson in given])
    for (name, problem, _), one in zip(given, captured, strict=True):
        names[one.id] = names.get(one.id, frozenset()) | {name, problem}
        problems.setdefault(one.id, problem)
    return names, problems


def _queries(path: Path) -> Iterator[JudgedQuery]:
    for place, row in _rows(path):
        expected = row.get("expected")
        texts = {key: value for key, value in row.items() if key != "expected"}
        if (
            not row.keys() <= _LEGAL
            or ("task" in row) == ("failure" in row)
            or not isinstance(expected, list)
            or not all(isinstance(one, str) for one in expected)
            or not all(isinstance(text, str) for text in texts.values())
        ):
            raise SourceError(f"{place}: {_EXPECTED}, found {shown(row)}")
        strings = cast("dict[str, str]", texts)
        failure = "failure" in strings
        yield JudgedQuery(
            text=strings.pop("failure" if failure else "task"),
            error=strings.pop("error", ""),
            failure=failure,
            expected=frozenset(cast("list[str]", expected)),
            labels=strings,
        )


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Place and object of each line."""
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parse_json(line)
        except (ValueError, RagloomError) as error:
            raise SourceError(f"{path}:{number}: not JSON") from error
        if not isinstance(row, dict):
            raise SourceError(f"{path}:{number}: expected an object, found {shown(row)}")
        yield f"{path}:{number}", cast("Mapping[str, Json]", row)

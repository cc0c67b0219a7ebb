"""Measuring a library: problems with the template that a person would choose for each."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ragloom import Measurement, Progress, SourceError, Workspace
from ragloom.text import parse_json
from ragloom_templates.library import TemplateLibrary

_TOP = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem, and the id of the template to use; None where none fits."""

    problem: str
    template: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a library answered.

    Attributes:
        problem: The problem.
        found: The ids of the three best templates that pass the threshold; empty for the fallback.
        place: Where the right template stands without a threshold, from 1; None where it is not
            among the first three.
    """

    problem: Problem
    found: tuple[str, ...]
    place: int | None

    @property
    def right(self) -> bool:
        """Whether the first answer, or the fallback, is the right one."""
        return (self.found[0] if self.found else None) == self.problem.template


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateEvaluation:
    """How often a library is right.

    Attributes:
        answers: One a problem, in their order.
        seconds: How long each took.
    """

    answers: tuple[Answer, ...]
    seconds: tuple[float, ...]

    @property
    def metrics(self) -> Mapping[str, float]:
        """Shares of the problems that a template fits, and of those that none fits.

        ``top1`` and ``top3`` count the right template's place in the order; ``shown1`` and ``shown3``
        the same behind the threshold, as a caller gets it; ``fallback`` the problems without a template
        that got the fallback.
        """
        fitting = [answer for answer in self.answers if answer.problem.template is not None]
        others = [answer for answer in self.answers if answer.problem.template is None]
        return {
            "top1": _share([answer.place == 1 for answer in fitting]),
            "top3": _share([answer.place is not None for answer in fitting]),
            "shown1": _share([answer.right for answer in fitting]),
            "shown3": _share([answer.problem.template in answer.found for answer in fitting]),
            "fallback": _share([answer.right for answer in others]),
        }


def read_problems(path: Path) -> list[Problem]:
    """Read JSON Lines of ``{"problem": …, "template": id or null}``; any other line is a SourceError."""
    expected = 'expected {"problem": "…", "template": "id" or null}'
    try:
        lines = path.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {error}") from error
    problems: list[Problem] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = cast("dict[str, object]", parse_json(line))
            problem, template = entry["problem"], entry["template"]
        except (ValueError, KeyError, TypeError) as error:
            raise SourceError(f"{path}:{number}: {expected}") from error
        if not isinstance(problem, str) or not isinstance(template, str | None):
            raise SourceError(f"{path}:{number}: {expected}")
        problems.append(Problem(problem=problem, template=template))
    return problems


def evaluate(problems: Sequence[Problem], library: TemplateLibrary) -> TemplateEvaluation:
    """Search an indexed library for every problem.

    Raises:
        NotIndexedError: Nothing is indexed yet.
        SourceError: A problem names a template that the library lacks.
    """
    answers: list[Answer] = []
    seconds: list[float] = []
    for problem in problems:
        if problem.template is not None and library.get(problem.template) is None:
            raise SourceError(f"the library has no template {problem.template!r}")
        started = time.perf_counter()
        found = library.rank(problem.problem, _TOP)
        seconds.append(time.perf_counter() - started)
        ranked = [match.id for match in library.rank(problem.problem, _TOP, 0.0)]
        answers.append(
            Answer(
                problem=problem,
                found=tuple(match.id for match in found),
                place=ranked.index(problem.template) + 1 if problem.template in ranked else None,
            )
        )
    return TemplateEvaluation(answers=tuple(answers), seconds=tuple(seconds))


def measure(workspace: Workspace, folder: Path, *, progress: Progress | None = None) -> Measurement:
    """Measure the problems of ``folder/problems.jsonl``, for ``ragloom eval``.

    The library is ``folder/templates``; where that does not exist, the workspace's own.

    Raises:
        SourceError: A line is no problem, or names a template that the library lacks.
    """
    problems = read_problems(folder / "problems.jsonl")
    own = folder / "templates"
    dirs = [own.resolve()] if own.is_dir() else None
    with TemplateLibrary(dirs, workspace=workspace) as library:
        started = time.perf_counter()
        library.refresh(progress=progress)
        index_seconds = time.perf_counter() - started
        result = evaluate(problems, library)
        chunks = len(library.space.snapshot())
    return Measurement(
        metrics=result.metrics,
        latency_ms=[second * 1e3 for second in result.seconds],
        index_seconds=index_seconds,
        chunks=chunks,
        notes=[
            f"{answer.problem.problem}: wanted {answer.problem.template or 'the fallback'}, "
            f"found {', '.join(answer.found) or 'the fallback'}"
            for answer in result.answers
            if not answer.right
        ],
    )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0

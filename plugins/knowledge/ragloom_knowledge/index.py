"""The files of lessons and the index of them: written by checkpoints, searched for patterns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from threading import Lock
from typing import Final

from ragloom import NotIndexedError, Progress, Workspace
from ragloom_knowledge.files import file_name, indexed_text, reported, write_atomically
from ragloom_knowledge.matching import Matcher, relevance
from ragloom_knowledge.patterns import patterns_of
from ragloom_knowledge.signature import folded
from ragloom_knowledge.space import NAME, LessonSpace, knowledge_space
from ragloom_knowledge.types import Lesson, LessonError, Patterns

_LOG: Final = logging.getLogger("ragloom")
_EXAMINED: Final = 50  # lessons that are looked up at once
_BY_WORDS: Final = 200  # texts of lessons that may have the reported error
_WORDINGS: Final = 4  # of one problem, that may stand before another one
_WORDS_OF_AN_ERROR: Final = 2  # that are no coincidence
_SHOWN: Final = 80  # characters of the closest lesson's problem
_REMOVED: Final = "the lessons that were found have been removed since the last checkpoint"

LITERAL: Final = 0.75
"""At least this relevant is a lesson whose error is the reported one, letter for letter."""


class LessonIndex:
    """A file for every lesson that was processed, and the space made of these files."""

    def __init__(self, project: Workspace, home: str = NAME) -> None:
        self.space: LessonSpace = knowledge_space(project, home)
        self._project = project
        self._matching: Matcher | None = None
        self._turn = Lock()  # a model is used from one thread at a time

    def make_folder(self) -> None:
        """Make the folder of the files, below the state of the workspace."""
        with named_files():
            self._project.make_state()
            self.space.root.mkdir(parents=True, exist_ok=True)

    def ids(self) -> set[str]:
        """Of the lessons that have a file."""
        with named_files():
            return {path.stem for path in self.space.root.glob("*.md")}

    def write(self, lessons: Sequence[Lesson], progress: Progress | None) -> None:
        """Write the file of each, where it does not say so already."""
        self.make_folder()
        with named_files():
            for lesson in reported(lessons, "writing files", progress):
                write_atomically(self.space.root / file_name(lesson.id), indexed_text(lesson))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove the file of each."""
        with named_files():
            for lesson_id in ids:
                (self.space.root / file_name(lesson_id)).unlink(missing_ok=True)

    def update(self, progress: Progress | None) -> tuple[int, set[str]]:
        """Bring the index up to date; chunks embedded, and ids of lessons that could not be indexed."""
        self.make_folder()
        with self._turn:
            report = self.space.index(progress=progress)
            if report.embedded:  # while the model is in memory, so that no query waits for it
                self.space.software_tasks()
        for file in report.failed:
            _LOG.warning("lesson %s: not indexed: %s", Path(file.path).stem, file.error)
        return report.embedded, {Path(file.path).stem for file in report.failed}

    def search(
        self,
        text: str,
        labels: Mapping[str, str | None],
        least: float,
        count: int,
        known: Callable[[Sequence[str]], Mapping[str, Lesson]],
        error: str = "",
    ) -> Patterns:
        """The ``count`` problems that match best, as patterns, the best proven first.

        Args:
            text: The query.
            labels: What a lesson must have, whatever its case, or None for any.
            least: The least relevance, 0 to 1.
            count: Maximum number of problems.
            known: Gives those of some ids that are in the table, each under its id or that of the lesson
                that it superseded. Another workspace may have removed a lesson from it; that one takes
                nobody's place.
            error: What was reported; a lesson that has it letter for letter is relevant.

        Raises:
            NotIndexedError: Another model is set since the last checkpoint.
        """
        try:
            matcher = self._matcher()
        except NotIndexedError as error_:
            return Patterns(reason=str(error_))
        if matcher.snapshot.meta.embedder != self.space.embedder.fingerprint:
            raise NotIndexedError(
                "the lessons were indexed with another model: run 'ragloom knowledge checkpoint'"
            )
        if reason := matcher.unmatched(labels):
            return Patterns(reason=reason)
        if not text.strip():
            return Patterns(reason="the query has no words")
        curve = self.space.calibration()
        with self._turn:
            vector = self.space.embedder.embed_query(text)
            common = -self.space.nearness(vector, 0.0)
        scored = [
            (name, relevance(curve, cosine - common))
            for name, cosine in matcher.cosines(vector, labels)
        ]
        reported = folded(error)
        found, lessons = _entering(scored, least, count * _WORDINGS, known, error, matcher)
        best = dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
        has_it = {name for name in best if reported and _same_error(lessons[name], reported)}
        made = patterns_of(best, lessons, matcher, count, has_it)
        if made or made.avoid:
            return made
        return Patterns(reason=_reason(scored, least, known))

    def _matcher(self) -> Matcher:
        snapshot = self.space.snapshot()
        if self._matching is None or self._matching.snapshot is not snapshot:
            self._matching = Matcher(snapshot)
        return self._matching


def _entering(
    scored: Sequence[tuple[str, float]],
    least: float,
    enough: int,
    known: Callable[[Sequence[str]], Mapping[str, Lesson]],
    error: str,
    matcher: Matcher,
) -> tuple[dict[str, float], dict[str, Lesson]]:
    """The lessons that are relevant enough, or have the reported error; how relevant, and themselves."""
    reported_error = folded(error)
    found: dict[str, float] = {}
    lessons: dict[str, Lesson] = {}

    def examine(batch: Sequence[tuple[str, float]]) -> None:
        there = known([name for name, _ in batch])
        for name, value in batch:
            if (lesson := there.get(name)) is None:
                continue
            if value < LITERAL and reported_error and _same_error(lesson, reported_error):
                value = LITERAL  # noqa: PLW2901 - what stands there letter for letter is evidence
            if value >= least and value > found.get(lesson.id, -1.0):
                found[lesson.id] = value
                lessons[lesson.id] = lesson

    examined = 0
    for batch in _batches(scored):
        examine(batch)
        examined += len(batch)
        if len(found) >= enough or batch[-1][1] < least:
            break
    # However far the rest of a long report is from it.
    if reported_error and (rest := dict(scored[examined:])):
        found_by_words = matcher.by_words(error, _BY_WORDS)
        examine([(name, rest[name]) for name in found_by_words if name in rest])
    return found, lessons


def _batches(scored: Sequence[tuple[str, float]]) -> Iterator[Sequence[tuple[str, float]]]:
    for start in range(0, len(scored), _EXAMINED):
        yield scored[start : start + _EXAMINED]


def _same_error(lesson: Lesson, error: str) -> bool:
    """Whether a lesson's error is the one that was reported, or a whole line of it."""
    theirs = folded(lesson.error_message or "")
    return len(theirs.split()) >= _WORDS_OF_AN_ERROR and (theirs in error or error in theirs)


def _reason(
    scored: Sequence[tuple[str, float]],
    least: float,
    known: Callable[[Sequence[str]], Mapping[str, Lesson]],
) -> str:
    there = known([name for name, _ in scored[:_EXAMINED]])
    for name, value in scored:
        if name in there:
            problem = shorten(there[name].problem, _SHOWN, placeholder=" …")
            best = f"best {value:.2f}, minimum {least:.2f}"
            return f"no relevant match ({best}); closest: {there[name].id} {problem!r}"
    return _REMOVED if scored else "no lesson has all of these labels"


@contextmanager
def named_files() -> Iterator[None]:
    """Raise a LessonError that names the file that cannot be read or written."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise LessonError(f"a file of lessons cannot be read or written: {error}") from error

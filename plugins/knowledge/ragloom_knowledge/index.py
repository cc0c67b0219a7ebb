"""The files of lessons and the index of them: written by checkpoints, searched for patterns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ragloom import Condition, NotIndexedError, Progress, Query, Workspace
from ragloom_knowledge.files import file_name, indexed_text, reported, write_atomically
from ragloom_knowledge.space import knowledge_space
from ragloom_knowledge.types import (
    Kind,
    Lesson,
    LessonError,
    Pattern,
    Patterns,
    wilson_lower_bound,
)

_LOG: Final = logging.getLogger("ragloom")
_CHUNKS: Final = 4  # of one lesson, that may stand before another one's
_REMOVED: Final = "the lessons that were found have been removed since the last checkpoint"
_KIND_ORDER: Final[Mapping[Kind, int]] = {
    "gate_rejection": 0,
    "gate_approval": 0,
    "failure_solution": 1,
}


class LessonIndex:
    """A file for every lesson that was processed, and the space made of these files."""

    def __init__(self, project: Workspace) -> None:
        self.space = knowledge_space(project)
        with named_files():
            project.make_state()
            self.space.root.mkdir(parents=True, exist_ok=True)

    def ids(self) -> set[str]:
        """Of the lessons that have a file."""
        with named_files():
            return {path.stem for path in self.space.root.glob("*.md")}

    def write(self, lessons: Sequence[Lesson], progress: Progress | None) -> None:
        """Write the file of each, where it does not say so already."""
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
        report = self.space.index(progress=progress)
        for file in report.failed:
            _LOG.warning("lesson %s: not indexed: %s", Path(file.path).stem, file.error)
        return report.embedded, {Path(file.path).stem for file in report.failed}

    def search(
        self,
        text: str,
        labels: Mapping[str, str | None],
        relevance: float,
        count: int,
        known: Callable[[Sequence[str]], Mapping[str, Lesson]],
    ) -> Patterns:
        """The ``count`` lessons that match best, as patterns, the best proven first.

        Args:
            text: The query.
            labels: Front matter that a lesson must have, or None for any.
            relevance: The least relevance, 0 to 1.
            count: Maximum number of lessons.
            known: Gives those of some ids that are in the table. Another workspace may have removed a
                lesson from it; that one takes nobody's place.

        Raises:
            NotIndexedError: Another model is set since the last checkpoint.
        """
        try:
            made_with = self.space.snapshot().meta.embedder
        except NotIndexedError as error:
            return Patterns(reason=str(error))
        if made_with != self.space.embedder.fingerprint:
            raise NotIndexedError(
                "the lessons were indexed with another model: run 'ragloom knowledge checkpoint'"
            )
        where = [
            Condition(field=name, operator="=", value=value)
            for name, value in labels.items()
            if value is not None
        ]
        top_k = count * _CHUNKS
        while True:
            query = Query(text, top_k=top_k, min_relevance=relevance, where=where, per_file=0)
            result = self.space.search(query)
            best: dict[str, float] = {}
            for hit in result.hits:
                for uri in (hit.chunk.uri, *(copy.uri for copy in hit.copies)):
                    lesson_id = Path(uri).stem
                    best[lesson_id] = max(best.get(lesson_id, 0.0), hit.relevance)
            lessons = known(list(best))
            found = {name: best[name] for name in best if name in lessons}
            if len(found) >= count or len(result.hits) < top_k:
                ranked = _ranked(dict(list(found.items())[:count]), lessons)
                return Patterns(ranked, reason="" if ranked else result.reason or _REMOVED)
            top_k *= _CHUNKS


def _ranked(found: Mapping[str, float], known: Mapping[str, Lesson]) -> list[Pattern]:
    """What was found as patterns; relevance and id only part equals."""

    def order(lesson: Lesson) -> tuple[float, int, float, str]:
        proven = wilson_lower_bound(lesson.successes, lesson.uses)
        return (-proven, _KIND_ORDER[lesson.kind], -found[lesson.id], lesson.id)

    lessons: Sequence[Lesson] = sorted((known[name] for name in found), key=order)
    return [
        Pattern(
            id=lesson.id,
            kind=lesson.kind,
            problem=lesson.problem,
            solution=lesson.solution,
            when_to_try=lesson.when_to_try,
            successes=lesson.successes,
            uses=lesson.uses,
            relevance=found[lesson.id],
        )
        for lesson in lessons
    ]


@contextmanager
def named_files() -> Iterator[None]:
    """Raise a LessonError that names the file that cannot be read or written."""
    try:
        yield
    except (OSError, UnicodeDecodeError) as error:
        raise LessonError(f"a file of lessons cannot be read or written: {error}") from error

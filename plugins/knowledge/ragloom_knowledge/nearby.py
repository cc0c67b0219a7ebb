"""Lessons that seem to be about the same problem in other words, told by the words; nothing is embedded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ragloom_knowledge.matching import other_codes, words_of
from ragloom_knowledge.types import Lesson

if TYPE_CHECKING:
    from ragloom_knowledge.database import LessonTable

_SIMILAR: Final = 0.15
"""Share of the words of two lessons of one technology that are in both (Jaccard): one in six pairs of
one problem in ``benchmarks/quality/lessons/first`` has it, and one pair of all others of a technology."""

_WITHOUT: Final = 0.25  # the same where one of them names no technology
_NAMED: Final = 5  # lessons


class Nearby:
    """The lessons of a table, read once for each kind and technology."""

    def __init__(self, table: LessonTable) -> None:
        self._table = table
        self._read: dict[tuple[str, str | None], Mapping[str, Lesson]] = {}

    def similar(self, lesson: Lesson) -> tuple[str, ...]:
        """Ids of those that seem to be about the problem of a lesson, the nearest first."""
        key = (lesson.kind, lesson.technology and lesson.technology.casefold())
        if key not in self._read:
            found = self._table.latest(lesson.kind, lesson.technology)
            self._read[key] = {one.id: one for one in found}
        words = words_of(lesson)
        near: list[tuple[float, str]] = []
        for other in self._read[key].values():
            if other.id == lesson.id:
                continue
            theirs = words_of(other)
            share = len(words & theirs) / max(1, len(words | theirs))
            least = _SIMILAR if lesson.technology and other.technology else _WITHOUT
            alike = share >= least or lesson.signature == other.signature
            if alike and not other_codes(lesson, other):
                near.append((-share, other.id))
        return tuple(lesson_id for _, lesson_id in sorted(near)[:_NAMED])

"""Which lessons fit a query, by the cosine of the best of their texts, on a scale fitted to lessons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import exp
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from ragloom import Calibration, Embeddings, Snapshot
from ragloom_knowledge.sameness import content_words
from ragloom_knowledge.signature import codes
from ragloom_knowledge.types import Lesson

CURVE: Final = Calibration(
    bias=-1.703,
    cosine_weight=15.0,
    coverage_weight=0.0,
    source="benchmarks/quality/lessons.py on lessons of software projects, with all-MiniLM-L6-v2",
)
"""From a nearness to a relevance: one in forty software tasks that no lesson is about reaches 0.7."""

_NEIGHBOURS: Final = 5  # software tasks that a query is compared with
_WEIGHT: Final = 0.7  # of their mean cosine, which is taken off
_ITSELF: Final = 0.999  # the cosine of a query that is one of the software tasks

TASK_PREFIX: Final = "Problem: "
"""Before a task that is embedded: lessons tell of problems, tasks of none."""

LABELS: Final = ("kind", "agent_type", "task_type", "technology")
_RAREST: Final = 64  # words of a report, by which lessons are looked up
_ALIKE: Final = 0.7
"""The cosine of two lessons and the share of the shorter one's words, in sum, from which both are about one
problem: of the pairs of one problem in the first set half, of the others of its technology 1 in 20."""


def relevance(calibration: Calibration, nearness: float) -> float:
    """0 to 1: the logistic function of the weighed nearness, a cosine less the :func:`commonness`."""
    return 1 / (1 + exp(-(calibration.bias + calibration.cosine_weight * nearness)))


def commonness(query: Embeddings, tasks: Embeddings) -> float:
    """How near a query is to software tasks at large: what is near to everything is near to no lesson.

    Args:
        query: ``(d,)``.
        tasks: ``(t, d)``: the software tasks, of which one that is the query itself does not count.
    """
    cosines = np.sort(tasks @ query)
    return _WEIGHT * float(cosines[cosines < _ITSELF][-_NEIGHBOURS:].mean()) if len(tasks) else 0.0


class Matcher:
    """One generation of the index of lessons, ready to be matched."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._rows: dict[str, int] = {}

    @cached_property
    def ids(self) -> Sequence[str]:
        """``(f,)``: the lesson of each file."""
        return [Path(uri).stem for uri in self.snapshot.uris]

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The file of each lesson."""
        return {lesson_id: number for number, lesson_id in enumerate(self.ids)}

    @cached_property
    def labels(self) -> Mapping[str, Sequence[str | None]]:
        """``(f,)`` for each label: what the lesson of each file has."""
        entries = [entry.metadata for entry in self.snapshot.files.values()]
        return {
            name: [None if (value := one.get(name)) is None else str(value) for one in entries]
            for name in LABELS
        }

    @cached_property
    def _folded(self) -> Mapping[str, Sequence[str | None]]:
        """The labels, without case."""
        return {
            name: [value and value.casefold() for value in values]
            for name, values in self.labels.items()
        }

    def passing(self, labels: Mapping[str, str | None]) -> npt.NDArray[np.bool_]:
        """``(f,)`` bool: which files have all of these labels, whatever their case."""
        passed = np.ones(len(self.ids), np.bool_)
        for name, wanted in labels.items():
            if wanted is not None:
                sought = wanted.casefold()
                passed &= np.array([value == sought for value in self._folded[name]], np.bool_)
        return passed

    def unmatched(self, labels: Mapping[str, str | None]) -> str:
        """Which of the labels no lesson has, and those there are; empty where each is of some lesson."""
        for name, wanted in labels.items():
            if wanted and wanted.casefold() not in self._folded[name]:
                values = {value for value in self.labels[name] if value is not None}
                available = ", ".join(sorted(values)) or "none"
                return f"no lesson has the {name} {wanted!r} (available: {available})"
        return ""

    def cosines(
        self, query: Embeddings, labels: Mapping[str, str | None]
    ) -> list[tuple[str, float]]:
        """Each lesson with these labels and the cosine of the best of its texts, best first."""
        files = self.snapshot.file_of_row
        best = np.full(len(self.ids), -1.0, np.float32)
        np.maximum.at(best, files, self.snapshot.cosines(query))
        chosen = np.flatnonzero(self.passing(labels) & (best > -1.0))
        # Stable: lessons of one cosine stay in the order of their ids, which is that of the files.
        ordered = chosen[np.argsort(-best[chosen], kind="stable")]
        return [(self.ids[place], float(best[place])) for place in ordered.tolist()]

    def by_words(self, text: str, limit: int) -> list[str]:
        """The lessons that share the rarest words of a text, best first; ``limit`` of their texts."""
        index = self.snapshot.lexical
        rarity = {term: index.inverse_document_frequency(term) for term in index.stems(text)}
        held = [term for term, value in rarity.items() if value < index.rarity(0)]
        rarest = sorted(held, key=rarity.__getitem__, reverse=True)[:_RAREST]
        serials, _ = index.search(dict.fromkeys(rarest, 1.0), limit=limit)
        rows = np.searchsorted(self.snapshot.serials, serials)
        files = self.snapshot.file_of_row[rows].tolist()
        return [self.ids[file] for file in dict.fromkeys(files)]

    def alike(self, one: Lesson, other: Lesson) -> bool:
        """Whether two lessons are about the same problem, in other words.

        Those of one signature are not: they give other advice for one problem. Nor are those that name
        other codes, ports or versions.
        """
        if one.kind != other.kind or one.signature == other.signature:
            return False
        technologies = {one.technology and one.technology.casefold()}
        technologies |= {other.technology and other.technology.casefold()}
        if None not in technologies and len(technologies) > 1:
            return False
        if not self.number.keys() >= {one.id, other.id} or other_codes(one, other):
            return False
        left, right = self.snapshot.vectors(np.array([self._whole(one.id), self._whole(other.id)]))
        cosine = float(left @ right)
        return cosine + overlap(one, other) >= _ALIKE

    def _whole(self, lesson_id: str) -> int:
        """The row of the longest chunk of a lesson."""
        if lesson_id not in self._rows:
            rows = np.flatnonzero(self.snapshot.file_of_row == self.number[lesson_id]).tolist()
            self._rows[lesson_id] = max(rows, key=lambda row: len(self.snapshot.chunk(row).text))
        return self._rows[lesson_id]


def overlap(one: Lesson, other: Lesson) -> float:
    """The share of the content words of the shorter lesson that the other one has."""
    left, right = words_of(one), words_of(other)
    return len(left & right) / max(1, min(len(left), len(right)))


def words_of(lesson: Lesson) -> frozenset[str]:
    """The content words of what failed, or was judged, and of the advice."""
    texts = (
        lesson.failure_description,
        lesson.human_feedback,
        lesson.error_message,
        lesson.solution,
    )
    return content_words("\n".join(text for text in texts if text))


def other_codes(one: Lesson, other: Lesson) -> bool:
    """Whether both name status codes, error codes, ports or versions, and not one in common."""
    left, right = (
        codes(f"{lesson.failure_description or ''}\n{lesson.error_message or ''}")
        for lesson in (one, other)
    )
    return bool(left) and bool(right) and not left & right


def of_another_thing(one: Lesson, other: Lesson) -> bool:
    """Whether two lessons give one advice for two things: what differs in it, differs in the problems, too.

    Such are "No module named 'yaml'": "Add yaml to the requirements", and the same of ``boto3``.
    """
    mine, theirs = content_words(one.solution), content_words(other.solution)
    ours, others = _problem_words(one), _problem_words(other)
    own, foreign = mine - theirs, theirs - mine
    return bool(own) and bool(foreign) and own <= ours - others and foreign <= others - ours


def _problem_words(lesson: Lesson) -> frozenset[str]:
    texts = lesson.failure_description, lesson.human_feedback, lesson.error_message
    return content_words("\n".join(text for text in texts if text))

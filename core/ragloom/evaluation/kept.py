"""Evaluations that are kept beside the indexes, so that they can be compared later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragloom.stores.atomic import replace_file
from ragloom.text.parsing import parse_json

if TYPE_CHECKING:
    from ragloom.evaluation.measures import Comparison, Evaluation

FOLDER = "evaluations"
_FIGURES = ("min_relevance", "off_topic", "injected", "answerable", "kept")


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptEvaluation:
    """What ``ragloom eval`` found for one collection and one way of searching, the last time.

    Attributes:
        collection: Its name.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        time: ISO 8601, UTC.
        metrics: Means over the queries, by name.
        by_query: nDCG@10 by query id.
        chunks: In the index.
        gate: ``min_relevance``, and the numbers of queries: ``off_topic``, ``injected``, ``answerable``,
            ``kept``.
        off_topic: The highest relevance that each off-topic query reached.
        answerable: The highest relevance of a right passage, of each answerable query.
    """

    collection: str
    mode: str
    time: str
    metrics: Mapping[str, float]
    by_query: Mapping[str, float]
    chunks: int
    gate: Mapping[str, float]
    off_topic: Sequence[float]
    answerable: Sequence[float]

    def compare(self, other: KeptEvaluation) -> Comparison:
        """Compare nDCG@10 query by query, over the queries that both have."""
        from ragloom.evaluation.measures import compare_by_query  # numpy

        return compare_by_query(self.by_query, other.by_query)


def keep_evaluation(state: Path, evaluation: Evaluation) -> None:
    """Keep the figures of an evaluation, in place of those of the same collection and mode."""
    gate = evaluation.gate
    folder = state / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    kept = {
        "collection": evaluation.collection,
        "mode": evaluation.mode,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "metrics": dict(evaluation.metrics),
        "by_query": dict(evaluation.by_query),
        "chunks": evaluation.chunks,
        "gate": {name: getattr(gate, name) for name in _FIGURES},
        "off_topic": [round(value, 4) for value in gate.off_topic_relevance],
        "answerable": [round(value, 4) for value in gate.answerable_relevance],
    }
    replace_file(folder / f"{evaluation.collection}.{evaluation.mode}.json", json.dumps(kept))


def kept_evaluations(state: Path) -> Iterator[KeptEvaluation]:
    """Those that are kept, by the names of their files; one that cannot be read is skipped."""
    for path in sorted((state / FOLDER).glob("*.json")):
        with suppress(OSError, ValueError, TypeError):
            yield KeptEvaluation(**cast("dict[str, Any]", parse_json(path.read_bytes())))

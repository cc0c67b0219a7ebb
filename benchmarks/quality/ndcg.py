"""nDCG@10 of rankings, query by query, and of two of them compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ragloom.evaluation.measures import Comparison, compare_by_query

__all__ = ["Comparison", "compare_by_query", "ndcg_by_query", "read_run"]


def ndcg_by_query(
    judgments: Mapping[str, Mapping[str, int]], run: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """nDCG@10 of each judged query; 0 for one that found nothing.

    Args:
        judgments: Grades by document, by query.
        run: Documents, best first, by query.
    """
    import ir_measures
    from ir_measures import nDCG

    judged = {query: dict(grades) for query, grades in judgments.items()}
    # The rank itself is the score, so that no tie is broken otherwise than in the ranking.
    ranked = {
        query: {document: -float(place) for place, document in enumerate(documents)}
        for query, documents in run.items()
    }
    found = dict.fromkeys(sorted(judged), 0.0)
    for value in ir_measures.iter_calc([nDCG @ 10], judged, ranked):
        found[value.query_id] = value.value
    return found


def read_run(path: Path) -> dict[str, list[str]]:
    """The documents of every query of a TREC run file, in its order."""
    run: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        query, _, document, *_ = line.split()
        run.setdefault(query, []).append(document)
    return run

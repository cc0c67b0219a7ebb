"""Fit the relevance of lessons: which nearness one in forty unrelated software tasks reaches.

::

    python benchmarks/quality/lessons.py [benchmarks/quality/lessons/first]

``ragloom eval FOLDER`` prints the figures of a folder. This prints, for each number of neighbours and each
weight of the commonness, the nearness that 2.5 % of the tasks reach that no lesson is about (the folder's
own, and those of ``software_tasks.txt``, each without itself), and how many tasks and failures have a
right problem among the first three above it. The second folder, ``last``, is not looked at.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom import Workspace
from ragloom_knowledge import KnowledgeBase
from ragloom_knowledge.capturing import lesson_from_json
from ragloom_knowledge.matching import TASK_PREFIX, Matcher
from ragloom_knowledge.space import calibrated_space

HERE = Path(__file__).parent
SHARE = 0.975  # of the unrelated tasks, that stay below 0.7
FIRST = 3  # problems that an agent sees
ITSELF = 0.999


def rows(path: Path) -> list[dict[str, object]]:
    """The objects of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path, nargs="?", default=HERE / "lessons" / "first")
    folder = parser.parse_args().folder
    queries = rows(folder / "queries.jsonl")
    with (
        tempfile.TemporaryDirectory() as place,
        KnowledgeBase.of(workspace := Workspace.open(place)) as base,
    ):
        problems: dict[str, str] = {}
        for row in rows(folder / "lessons.jsonl"):
            problem = str(row.pop("problem"))
            row.pop("id")
            captured = base.capture(lesson_from_json(row))  # type: ignore[arg-type]
            problems[captured.id] = problem
        for project in sorted({lesson.project for lesson in base.lessons()}):
            base.process_checkpoint(project)
        matcher, embed = Matcher(base.space.snapshot()), base.space.embedder.embed_query
        listed = calibrated_space(workspace)[1]
        tasks = np.stack([embed(f"{TASK_PREFIX}{text}") for text in listed])
        given = [
            embed(f"{TASK_PREFIX}{row['task']}" if "task" in row else _failure(row))
            for row in queries
        ]
        nearest = [_nearest(matcher, vector, problems) for vector in given]
        off_topic = [_nearest(matcher, vector, problems)[0][1] for vector in tasks]
    for neighbours in (3, 5, 8):
        for weight in (0.0, 0.3, 0.5, 0.7, 1.0):
            common = weight * np.array([_common(tasks, vector, neighbours) for vector in given])
            theirs = weight * np.array([_common(tasks, vector, neighbours) for vector in tasks])
            own = [
                found[0][1] - common[place]
                for place, found in enumerate(nearest)
                if not queries[place]["expected"]
            ]
            least = float(np.quantile([*own, *(np.array(off_topic) - theirs)], SHARE))
            right = {
                kind: sum(
                    any(
                        problem in queries[place]["expected"]  # type: ignore[operator]
                        and cosine - common[place] > least
                        for problem, cosine in found
                    )
                    for place, found in enumerate(nearest)
                    if kind in queries[place]
                )
                for kind in ("task", "failure")
            }
            print(f"{neighbours} neighbours, weight {weight}: nearness {least:.3f}, {right}")


def _failure(row: dict[str, object]) -> str:
    return "\n".join(str(row[key]) for key in ("failure", "error") if key in row)


def _common(tasks: npt.NDArray[np.float32], query: npt.NDArray[np.float32], count: int) -> float:
    cosines = np.sort(tasks @ query)
    return float(cosines[cosines < ITSELF][-count:].mean())


def _nearest(
    matcher: Matcher, query: npt.NDArray[np.float32], problems: dict[str, str]
) -> list[tuple[str, float]]:
    """The first problems, each with the cosine of its nearest lesson."""
    best: dict[str, float] = {}
    for lesson_id, cosine in matcher.cosines(query, {}):
        best.setdefault(problems[lesson_id], cosine)
        if len(best) == FIRST:
            break
    return list(best.items())


if __name__ == "__main__":
    main()

"""Fit the calibration that ships with the bundled model.

    python benchmarks/quality/fit_calibration.py COLLECTION[:SPLIT] COLLECTION[:SPLIT] ...

Every collection (BEIR's format) is asked its own queries, whose judged documents among the five best
are answers, and the queries of the others and two hundred everyday questions, of which nothing is an
answer. SciFact is given as ``scifact:train``: its test split is for reporting.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import asdict
from itertools import islice
from math import log1p
from pathlib import Path
from tempfile import gettempdir

import numpy as np

from ragloom import Space, Workspace
from ragloom.evaluation import Collection, everyday_questions, read_collection
from ragloom.retrieval.calibration import fit_to_pairs
from ragloom.retrieval.relevance import DEFAULT_CALIBRATION
from ragloom.retrieval.search import candidates

DEPTH = 5
OWN_QUERIES = 250
FOREIGN_QUERIES = 60

Features = list[tuple[tuple[float, float, float], str]]


def best_features(space: Space, query: str) -> Features:
    """Cosine, coverage and ln(1 + matched) of the five best, with their files."""
    found: Features = []
    ranked = candidates(space.snapshot(), space.rank(query), DEFAULT_CALIBRATION)
    for hit, evidence in islice(ranked, DEPTH):
        numbers = (hit.cosine or 0.0, evidence.coverage, log1p(evidence.matched))
        found.append((numbers, hit.chunk.uri))
    return found


def main(names: Sequence[str], state: Path) -> None:
    """Print the calibration as JSON."""
    state.mkdir(parents=True, exist_ok=True)
    workspace = Workspace.open(state)
    collections: list[tuple[Collection, Space]] = []
    for name in names:
        folder, _, split = name.partition(":")
        collection = read_collection(Path(folder), split=split or "test")
        space = workspace.collection_space(collection)
        space.index()
        collections.append((collection, space))
    chosen = random.Random(0)  # noqa: S311 - a reproducible sample
    features: list[tuple[float, float, float]] = []
    answers: list[bool] = []
    off_topic: list[np.ndarray] = []
    for collection, space in collections:
        queries = sorted(collection.queries)
        for query in chosen.sample(queries, min(OWN_QUERIES, len(queries))):
            right = collection.judgments[query]
            for numbers, uri in best_features(space, collection.queries[query]):
                if collection.documents[int(Path(uri).stem)].id in right:
                    features.append(numbers)
                    answers.append(True)
        foreign = list(everyday_questions())
        for other, _ in collections:
            if other is not collection:
                texts = sorted(other.queries.values())
                foreign += chosen.sample(texts, min(FOREIGN_QUERIES, len(texts)))
        for text in foreign:
            if found := [numbers for numbers, _ in best_features(space, text)]:
                features += found
                answers += [False] * len(found)
                off_topic.append(np.array(found))

    def best_logits(weights: np.ndarray) -> np.ndarray:
        return np.array([(weights[0] + found @ weights[1:]).max() for found in off_topic])

    fitted = fit_to_pairs(
        np.array(features),
        np.array(answers),
        best_logits,
        source=f"benchmarks/quality/fit_calibration.py on {', '.join(c.name for c, _ in collections)}",
    )
    print(json.dumps(asdict(fitted), indent=1))
    print(
        f"{sum(answers)} answers, {len(answers) - sum(answers)} others, {len(off_topic)} off topic"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("collections", nargs="+", metavar="COLLECTION[:SPLIT]")
    parser.add_argument("--state", type=Path, default=Path(gettempdir()) / "ragloom-calibration")
    arguments = parser.parse_args()
    main(arguments.collections, arguments.state)

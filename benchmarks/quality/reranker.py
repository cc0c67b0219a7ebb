"""What a cross-encoder adds to the order of a search: fused with it at a weight, or in its place.

    python benchmarks/quality/reranker.py MODEL COLLECTION[:SPLIT] ... [CORPUS.zip=QUESTIONS ...]
    python benchmarks/quality/reranker.py MODEL --published COLLECTION   its score over BM25's best 100

MODEL is a folder with a cross-encoder (``benchmarks/models/build_twelve_layers.py`` makes one). The chunks
of the default order's first ``--depth`` are read with the query; both scores are scaled to 0..1 over those,
and added.
The weight of each collection is the one that is best on the mean of the others. Scores are kept in
``--cache``, so a run that was stopped goes on; ``--queries`` takes a sample of each with a fixed seed.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import fmean

import numpy as np
from corpora import note, opened, state_folder, table, write_json
from ndcg import compare_by_query, ndcg_by_query

from ragloom import PluginHost, Reranker, Space, Workspace
from ragloom.evaluation.collections import read_collection
from ragloom.text.chunks import embedded_text

WEIGHTS = tuple(round(0.05 * step, 2) for step in range(21))
HEADS = (
    "collection",
    "queries",
    "fused",
    "weight",
    "with it",
    "difference",
    "p",
    "in its place",
    "p",
)
Candidate = tuple[str, float, str]  # document, score of the order, text of the chunk


class Scores:
    """The model's scores of pairs, kept in a file."""

    def __init__(self, reranker: Reranker, cache: Path | None) -> None:
        self._reranker = reranker
        self._cache = cache
        self._known: dict[str, float] = {}
        self.seconds: list[float] = []
        if cache is not None and cache.is_file():
            for line in cache.read_text("utf-8").splitlines():
                key, score = line.split()
                self._known[key] = float(score)

    def of(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score for each text."""
        keys = [sha256(f"{query}\0{text}".encode()).hexdigest()[:32] for text in texts]
        fresh = [
            (key, text) for key, text in zip(keys, texts, strict=True) if key not in self._known
        ]
        if fresh:
            started = time.perf_counter()
            scores = self._reranker.rerank(query, [text for _, text in fresh])
            if len(fresh) == len(texts):
                self.seconds.append(time.perf_counter() - started)
            self._known.update((key, score) for (key, _), score in zip(fresh, scores, strict=True))
            if self._cache is not None:
                with self._cache.open("a", encoding="utf-8") as stream:
                    stream.writelines(f"{key} {self._known[key]}\n" for key, _ in fresh)
        return [self._known[key] for key in keys]


def candidates(
    space: Space, query: str, documents: Mapping[str, str], depth: int
) -> tuple[list[Candidate], list[str]]:
    """The first chunks of the default order, and all of its documents, best first."""
    ranking, snapshot = space.rank(query), space.snapshot()
    named = [documents[snapshot.uris[snapshot.file_of_row[row]]] for row in ranking.rows[:200]]
    head = [
        (name, float(score), embedded_text(snapshot.chunk(int(row))))
        for name, score, row in zip(
            named, ranking.scores[:depth], ranking.rows[:depth], strict=False
        )
    ]
    return head, list(dict.fromkeys(named))


def scaled(values: Sequence[float]) -> np.ndarray:
    """From 0 to 1; all alike are 0."""
    array = np.array(values, np.float64)
    width = np.ptp(array)
    return (array - array.min()) / width if width else np.zeros(len(array))


def reordered(
    head: Sequence[Candidate], scores: Sequence[float], rest: Sequence[str], weight: float
) -> list[str]:
    """The documents with the head in the order of both scores."""
    if not head:
        return list(rest)
    both = (1 - weight) * scaled([one[1] for one in head]) + weight * scaled(scores)
    order = np.argsort(-both, kind="stable")
    return list(dict.fromkeys([*(head[at][0] for at in order), *rest]))


def sample(names: Sequence[str], count: int) -> list[str]:
    """So many of them, in an order of their own, by a fixed seed."""
    shuffled = sorted(names)
    random.Random(21).shuffle(shuffled)  # noqa: S311 - a sample, no secret
    return shuffled[: count or None]


def by_weight(
    space: Space,
    queries: Mapping[str, str],
    judgments: Mapping[str, Mapping[str, int]],
    documents: Mapping[str, str],
    scores: Scores,
    depth: int,
) -> dict[float, dict[str, float]]:
    """nDCG@10 of each query at each weight."""
    runs: dict[float, dict[str, list[str]]] = {weight: {} for weight in WEIGHTS}
    for name, text in queries.items():
        head, rest = candidates(space, text, documents, depth)
        given = scores.of(text, [one[2] for one in head])
        for weight, run in runs.items():
            run[name] = reordered(head, given, rest, weight)
    judged = {name: judgments[name] for name in queries}
    return {weight: ndcg_by_query(judged, run) for weight, run in runs.items()}


def collection_weights(
    given: str, state: Path, scores: Scores, depth: int, count: int
) -> dict[float, dict[str, float]]:
    """As :func:`by_weight`, of a collection or of a corpus with questions."""
    if "=" in given:
        corpus_path, _, questions = given.partition("=")
        lines = [json.loads(line) for line in Path(questions).read_text("utf-8").splitlines()]
        plain = {
            line["id"]: line for line in lines if line.get("form") == "plain" and line["files"]
        }
        with opened(Path(corpus_path), state) as corpus:
            documents = {uri: uri for uri in corpus.texts}
            (space,) = corpus.group.spaces
            queries = {name: plain[name]["query"] for name in sample(list(plain), count)}
            judged = {name: dict.fromkeys(plain[name]["files"], 1) for name in queries}
            return by_weight(space, queries, judged, documents, scores, depth)
    folder, _, split = given.partition(":")
    collection = read_collection(Path(folder), split=split or "test")
    workspace = Workspace.open(state)
    space = workspace.collection_space(collection)
    space.index()
    documents = {f"{at:07}.md": one.id for at, one in enumerate(collection.documents)}
    queries = {name: collection.queries[name] for name in sample(list(collection.queries), count)}
    return by_weight(space, queries, collection.judgments, documents, scores, depth)


def published(given: str, state: Path, scores: Scores, count: int) -> None:
    """nDCG@10 of the model's order of BM25's first hundred documents, and of BM25's own."""
    folder, _, split = given.partition(":")
    collection = read_collection(Path(folder), split=split or "test")
    space = Workspace.open(state).collection_space(collection)
    space.index()
    texts = {one.id: f"{one.title} {one.text}" for one in collection.documents}
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    snapshot = space.snapshot()
    for name in sample(list(collection.queries), count):
        ranking = space.rank(collection.queries[name], mode="lexical")
        numbers = (int(Path(snapshot.uris[snapshot.file_of_row[row]]).stem) for row in ranking.rows)
        first = list(dict.fromkeys(collection.documents[number].id for number in numbers))[:100]
        given_scores = scores.of(collection.queries[name], [texts[one] for one in first])
        before[name] = first
        after[name] = [first[at] for at in np.argsort(-np.array(given_scores), kind="stable")]
        if len(after) % 10 == 0:
            judged = {one: collection.judgments[one] for one in after}
            figures = [fmean(ndcg_by_query(judged, run).values()) for run in (before, after)]
            note(f"{len(after)} queries: BM25 {figures[0]:.4f}, reranked {figures[1]:.4f}")
    judged = {one: collection.judgments[one] for one in after}
    figures = [fmean(ndcg_by_query(judged, run).values()) for run in (before, after)]
    print(
        f"{collection.name}, {len(after)} queries: BM25 {figures[0]:.4f}, reranked {figures[1]:.4f}"
    )


def rows(found: Mapping[str, Mapping[float, Mapping[str, float]]]) -> list[list[str]]:
    """A line for each collection, at the weight that the others choose."""
    means = {
        name: {weight: fmean(figures.values()) for weight, figures in by.items()}
        for name, by in found.items()
    }
    lines = []
    for name, by in found.items():
        others = [other for other in found if other != name] or [name]
        weight = max(WEIGHTS, key=lambda one: fmean(means[other][one] for other in others))
        gain, alone = (compare_by_query(by[one], by[0.0]) for one in (weight, 1.0))
        lines.append(
            [
                *(name, str(len(by[0.0])), f"{means[name][0.0]:.4f}", f"{weight:.2f}"),
                *(f"{means[name][weight]:.4f}", f"{gain.difference:+.4f}", f"{gain.p_value:.4f}"),
                *(f"{means[name][1.0]:.4f}", f"{alone.p_value:.4f}"),
            ]
        )
    return lines


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="folder of a cross-encoder")
    parser.add_argument("collections", nargs="*", help="COLLECTION[:SPLIT] or CORPUS.zip=QUESTIONS")
    parser.add_argument("--published", help="COLLECTION[:SPLIT], the best 100 of BM25")
    parser.add_argument("--depth", type=int, default=20, help="candidates that are read")
    parser.add_argument("--queries", type=int, default=0, help="of each collection; all by default")
    parser.add_argument("--cache", type=Path, help="keeps the model's scores")
    parser.add_argument("--state", type=Path, help="keeps the indexes")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    model = PluginHost.discover().reranker("onnx", {"model": arguments.model})
    scores = Scores(model, arguments.cache)
    found: dict[str, dict[float, dict[str, float]]] = {}
    with state_folder(arguments.state) as state:
        state.mkdir(parents=True, exist_ok=True)
        if arguments.published:
            published(arguments.published, state, scores, arguments.queries)
        for given in arguments.collections:
            name = Path(given.partition("=")[0].partition(":")[0]).stem
            name = f"xquad-{name}" if Path(given).parent.name == "xquad" else name
            found[name] = collection_weights(
                given, state, scores, arguments.depth, arguments.queries
            )
            note(f"{name}: done")
    if found:
        print(table(HEADS, rows(found)))
    if scores.seconds:
        p50, p95 = np.percentile(scores.seconds, (50, 95))
        print(f"{len(scores.seconds)} queries: p50 {p50:.2f} s, p95 {p95:.2f} s of the model")
    write_json(arguments.json, "reranker", results=found, seconds=scores.seconds)


if __name__ == "__main__":
    main()

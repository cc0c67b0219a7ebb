"""Whether queries that documents make of themselves rank settings as judged queries do.

    python benchmarks/quality/own_documents.py FOLDER [--only NAME ...] [--json FILE] [--state FOLDER]

Below FOLDER are judged collections in BEIR's format; ``chunking-evaluation`` (questions_df.csv and corpora,
blocks of whose texts are the documents) and ``mtrag-un`` (reference.jsonl.gz, whose passages are) are read,
too. Of each, nDCG@10 over documents is taken for every setting on the judged queries and on the
collection's own (``ragloom eval --own``), and the two rows of figures are compared by Spearman's rank
correlation. Beside it stand its standard deviation over samples of both kinds of queries, and the
correlation of one half of the judged queries with the other: what noise leaves to be found.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import log2
from pathlib import Path
from statistics import fmean
from typing import TypeAlias

import numpy as np
from corpora import note, state_folder, table, write_json
from ndcg import ndcg_by_query
from run_collections import collections, split_of

from ragloom import Embedder, Space, Workspace
from ragloom.config.component import Component
from ragloom.config.settings import with_values
from ragloom.evaluation.collections import Collection, JudgedDocument, read_collection
from ragloom.evaluation.own import rank_of
from ragloom.evaluation.own_queries import OwnQuery
from ragloom.retrieval.ranking import Ranking
from ragloom.snapshot import Snapshot
from ragloom.tuning.own_documents import (
    begin_with,
    parse_change,
    space_of_copy,
    write_own_copy,
)

Score: TypeAlias = Callable[[int, Ranking, Snapshot], float]

INDEXES: Mapping[str, str] = {
    "": "",
    "sentences": "chunker=sentence,size=500",
    "multilingual": "embedder=multilingual",
}
"""What needs an index of its own: changes of the default one, by name."""
SETTINGS: Mapping[str, tuple[str, str]] = {
    "as set": ("", ""),
    "lexical": ("", "mode=lexical"),
    "dense": ("", "mode=dense"),
    "rrf": ("", "mode=rrf"),
    "0.3": ("", "dense_weight=0.3"),
    "0.8": ("", "dense_weight=0.8"),
    "sentences": ("sentences", ""),
    "sentences, lexical": ("sentences", "mode=lexical"),
    "sentences, dense": ("sentences", "mode=dense"),
    "multilingual": ("multilingual", ""),
    "multilingual, dense": ("multilingual", "mode=dense"),
    "multilingual, 0.3": ("multilingual", "dense_weight=0.3"),
}
"""What is compared, by an index and a change; chosen before any of it was measured."""
BLOCK = 1000  # characters of a document of chunking-evaluation
SAMPLES = 500  # of the queries
OWN, JUDGED = 250, 300  # queries of either kind, at most


def ranks(values: Sequence[float] | np.ndarray) -> np.ndarray:
    """From 1; the mean of the places of those that are alike."""
    array = np.round(np.array(values), 6)
    return np.array([(array < one).sum() + ((array == one).sum() + 1) / 2 for one in array])


def spearman(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float:
    """Rank correlation; 0 where all of one are alike."""
    one, other = ranks(first), ranks(second)
    if not one.std() or not other.std():
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])


def blocks_with_excerpts(folder: Path) -> Collection:
    """Blocks of the corpora as documents; those that a reference overlaps answer."""
    documents: list[JudgedDocument] = []
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for path in sorted((folder / "corpora").glob("*.md")):
        text, start, number = path.read_bytes().decode("utf-8"), 0, 0
        while start < len(text):
            near = text.find("\n", start + BLOCK)
            end = min(near + 1 if 0 < near < start + 2 * BLOCK else start + BLOCK, len(text))
            name = f"{path.stem}-{number}"
            documents.append(JudgedDocument(id=name, title="", text=text[start:end]))
            spans.setdefault(path.stem, []).append((start, end, name))
            start, number = end, number + 1
    queries: dict[str, str] = {}
    judgments: dict[str, dict[str, int]] = {}
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as stream:
        for number, row in enumerate(csv.DictReader(stream)):
            names = {
                name: 1
                for one in json.loads(row["references"])
                for start, end, name in spans[row["corpus_id"]]
                if start < one["end_index"] and one["start_index"] < end
            }
            queries[str(number)], judgments[str(number)] = row["question"], names
    return Collection(name=folder.name, documents=documents, queries=queries, judgments=judgments)


def passages_of_tasks(folder: Path) -> Collection:
    """The reference passages as documents, and the last question of each answerable task."""
    documents: dict[str, JudgedDocument] = {}
    queries: dict[str, str] = {}
    judgments: dict[str, dict[str, int]] = {}
    with gzip.open(folder / "reference.jsonl.gz", "rt", encoding="utf-8") as stream:
        for number, line in enumerate(stream):
            task = json.loads(line)
            for one in task.get("contexts") or ():
                name = str(one.get("document_id") or one.get("id"))
                title = re.sub(r"\s+", " ", one.get("title") or "")
                documents[name] = JudgedDocument(id=name, title=title, text=one["text"])
                judgments.setdefault(str(number), {})[name] = 1
            if str(number) in judgments:
                queries[str(number)] = task["input"][-1]["text"]
    return Collection(
        name=folder.name, documents=list(documents.values()), queries=queries, judgments=judgments
    )


def all_collections(folder: Path) -> Iterator[Collection]:
    """The judged collections; of XQuAD's languages English."""
    for path in collections(folder):
        if path.parent.name == "xquad":
            if path.name != "en":
                continue
            yield replace(read_collection(path), name="xquad-en")
        else:
            yield read_collection(path, split=split_of(path, final=False))
    for csv_file in sorted(folder.rglob("questions_df.csv")):
        yield blocks_with_excerpts(csv_file.parent)
    for tasks in sorted(folder.rglob("mtrag-un/reference.jsonl.gz")):
        yield passages_of_tasks(tasks.parent)


class Remembered:
    """An embedder that embeds a query once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, np.ndarray] = {}

    def __getattr__(self, name: str) -> object:
        """All else is the embedder's."""
        return getattr(self._embedder, name)

    def embed_query(self, text: str) -> np.ndarray:
        """As the embedder does."""
        if text not in self._known:
            self._known[text] = self._embedder.embed_query(text)
        return self._known[text]


def changed(space: Space, change: str) -> Space:
    """The index with another setting."""
    if not change:
        return space
    other = space.with_settings(with_values(space.settings, parse_change(change).values, change))
    other.use_embedder_of(space)
    return other


def by_setting(
    space: Space, index: str, texts: Sequence[str], score: Score
) -> dict[str, list[float]]:
    """The score of each query for the settings of an index."""
    space.__dict__["embedder"] = Remembered(space.embedder)
    found: dict[str, list[float]] = {}
    for label, (needed, change) in SETTINGS.items():
        if needed == index:
            other = changed(space, change)
            snapshot = other.snapshot()
            found[label] = [score(at, other.rank(text), snapshot) for at, text in enumerate(texts)]
    return found


def judged_score(collection: Collection, names: Sequence[str]) -> Score:
    """nDCG@10 of a judged query, over documents."""

    def score(at: int, ranking: Ranking, snapshot: Snapshot) -> float:
        uris = (snapshot.uris[snapshot.file_of_row[row]] for row in ranking.rows)
        run = [
            collection.documents[int(Path(one).stem)].id for one in islice(dict.fromkeys(uris), 10)
        ]
        name = names[at]
        return float(ndcg_by_query({name: collection.judgments[name]}, {name: run})[name])

    return score


def own_score(queries: Sequence[OwnQuery]) -> Score:
    """nDCG@10 of one of the documents' own queries, over documents."""

    def score(at: int, ranking: Ranking, snapshot: Snapshot) -> float:
        rank = rank_of(queries[at], ranking, snapshot)
        return 1 / log2(1 + rank) if rank and rank <= 10 else 0.0

    return score


def index_of(workspace: Workspace, collection: Collection, name: str, first: Space | None) -> Space:
    """An index of a collection, which begins with the vectors of another."""
    base = workspace.collection_space(collection)
    settings = replace(base.settings, store=Component(name="memory"))
    if name:
        settings = with_values(settings, parse_change(INDEXES[name]).values, name)
    directory = f"eval/{collection.name}.{name or 'default'}"
    space = workspace.private_space(collection.name, settings, directory=directory, root=base.root)
    if first and not space.generation and first.settings.embedder == settings.embedder:
        begin_with(space, first)
    space.index()
    return space


def evenly(names: Sequence[str], limit: int) -> Sequence[str]:
    """So many of the names at most, evenly spaced."""
    count = min(limit, len(names))
    return [names[at * len(names) // count] for at in range(count)]


def sampled(collection: Collection, limit: int) -> Collection:
    """The judged documents and, up to ``limit`` in all, others, evenly spaced."""
    judged = {name for found in collection.judgments.values() for name in found}
    others = [one.id for one in collection.documents if one.id not in judged]
    kept = judged.union(evenly(others, max(limit - len(judged), 1)))
    documents = [one for one in collection.documents if one.id in kept]
    return replace(collection, documents=documents)


def measured(workspace: Workspace, collection: Collection) -> dict[str, dict[str, list[float]]]:
    """The scores of both kinds of queries for each setting."""
    names = evenly(list(collection.queries), JUDGED)
    texts = [collection.queries[name] for name in names]
    first = index_of(workspace, collection, "", None)
    queries, files = write_own_copy(workspace, first, limit=OWN)
    by_judgment: dict[str, list[float]] = {}
    by_own: dict[str, list[float]] = {}
    for name in INDEXES:
        space = index_of(workspace, collection, name, first) if name else first
        by_judgment |= by_setting(space, name, texts, judged_score(collection, names))
        copy = space_of_copy(workspace, space, space.settings, files)
        copy.index()
        by_own |= by_setting(copy, name, [one.text for one in queries], own_score(queries))
        copy.close()
    return {
        "own": {label: by_own[label] for label in SETTINGS},
        "judged": {label: by_judgment[label] for label in SETTINGS},
    }


def correlations(found: Mapping[str, Mapping[str, Sequence[float]]]) -> dict[str, float]:
    """Spearman's rho of both kinds of queries, its deviation, and that of two halves of the judged ones."""
    own, judged = (
        np.array([found[kind][label] for label in SETTINGS]) for kind in ("own", "judged")
    )
    random = np.random.default_rng(0)
    resampled, halves = [], []
    for _ in range(SAMPLES):
        drawn = [one[:, random.integers(0, one.shape[1], one.shape[1])] for one in (own, judged)]
        resampled.append(spearman(*(one.mean(axis=1) for one in drawn)))
        order = random.permutation(judged.shape[1])
        parts = np.array_split(order, 2)
        halves.append(spearman(*(judged[:, part].mean(axis=1) for part in parts)))
    return {
        "rho": spearman(own.mean(axis=1), judged.mean(axis=1)),
        "deviation": float(np.std(resampled)),
        "halves": fmean(halves),
    }


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these collections")
    parser.add_argument(
        "--documents", type=int, help="of a larger collection the judged and others"
    )
    parser.add_argument("--state", type=Path, help="keeps the indexes")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    with state_folder(arguments.state) as state:
        state.mkdir(parents=True, exist_ok=True)
        for collection in all_collections(arguments.folder):
            if arguments.only and collection.name not in arguments.only:
                continue
            limit = arguments.documents or len(collection.documents)
            part = sampled(collection, limit) if limit < len(collection.documents) else collection
            found[collection.name] = measured(Workspace.open(state), part)
            note(f"{collection.name}: {json.dumps(correlations(found[collection.name]))}")
            write_json(arguments.json, "own-documents", results=found)
    rows, all_rho = list[list[str]](), list[float]()
    for name, one in found.items():
        told = correlations(one)
        all_rho.append(told["rho"])
        for kind, figures in one.items():
            means = [f"{fmean(figures[label]):.3f}" for label in SETTINGS]
            told_last = (
                [f"{value:.2f}" for value in told.values()] if kind == "own" else ["", "", ""]
            )
            rows.append([name, kind, str(len(figures["as set"])), *means, *told_last])
    print(table(("collection", "by", "queries", *SETTINGS, "rho", "±", "halves"), rows))
    print(f"\nmean rho {fmean(all_rho):.3f}")


if __name__ == "__main__":
    main()

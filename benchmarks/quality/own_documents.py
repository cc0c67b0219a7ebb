"""Whether queries that documents make of themselves rank settings as judged queries do.

    python benchmarks/quality/own_documents.py FOLDER [--only NAME ...] [--json FILE] [--state FOLDER]

Below FOLDER are judged collections in BEIR's format; ``chunking-evaluation`` (questions_df.csv and corpora,
blocks of whose texts are the documents) and ``mtrag-un`` (reference.jsonl.gz, whose passages are) are read,
too. Of each, nDCG@10 is taken for every setting on the judged queries and on the collection's own
(``ragloom eval --own``), and the two rows of figures are compared by Spearman's rank correlation.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import log2
from pathlib import Path
from statistics import fmean

import numpy as np
from corpora import note, state_folder, table, write_json
from ndcg import ndcg_by_query
from run_collections import collections, split_of

from ragloom import Embedder, Space, Workspace
from ragloom.config.settings import with_values
from ragloom.evaluation.collections import Collection, JudgedDocument, read_collection
from ragloom.evaluation.own import rank_of
from ragloom.evaluation.own_queries import OwnQuery
from ragloom.retrieval.ranking import Ranking
from ragloom.snapshot import Snapshot
from ragloom.tuning.own_documents import parse_change, space_of_copy, write_own_copy

CHANGES = (
    *("mode=lexical", "mode=dense", "mode=rrf"),
    *(f"dense_weight={weight}" for weight in (0.15, 0.3, 0.45, 0.75, 0.9)),
)
BLOCK = 1000  # characters of a document of chunking-evaluation


def ranks(values: Sequence[float]) -> np.ndarray:
    """From 1; the mean of the places of those that are alike."""
    array = np.round(np.array(values), 6)
    return np.array([(array < one).sum() + ((array == one).sum() + 1) / 2 for one in array])


def spearman(first: Sequence[float], second: Sequence[float]) -> float:
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


def by_setting(
    space: Space, texts: Sequence[str], score: Callable[[int, Ranking, Snapshot], float]
) -> dict[str, float]:
    """The mean score of some queries for each setting."""
    space.__dict__["embedder"] = Remembered(space.embedder)
    found: dict[str, float] = {}
    for label in ("as set", *CHANGES):
        other = space
        if label != "as set":
            settings = with_values(space.settings, parse_change(label).values, label)
            other = space.with_settings(settings)
            other.use_embedder_of(space)
        snapshot = other.snapshot()
        found[label] = fmean(score(at, other.rank(text), snapshot) for at, text in enumerate(texts))
    return found


def judged(space: Space, collection: Collection, limit: int) -> dict[str, float]:
    """Mean nDCG@10 of the judged queries for each setting."""
    names = list(collection.queries)[:limit]

    def score(at: int, ranking: Ranking, snapshot: Snapshot) -> float:
        numbers = (
            int(Path(snapshot.uris[snapshot.file_of_row[row]]).stem) for row in ranking.rows[:100]
        )
        run = list(dict.fromkeys(collection.documents[number].id for number in numbers))
        name = names[at]
        return ndcg_by_query({name: collection.judgments[name]}, {name: run})[name]

    return by_setting(space, [collection.queries[name] for name in names], score)


def own(space: Space, queries: Sequence[OwnQuery]) -> dict[str, float]:
    """Mean nDCG@10 of the documents' own queries for each setting."""

    def score(at: int, ranking: Ranking, snapshot: Snapshot) -> float:
        rank = rank_of(queries[at], ranking, snapshot)
        return 1 / log2(1 + rank) if rank and rank <= 10 else 0.0

    return by_setting(space, [query.text for query in queries], score)


def measured(workspace: Workspace, collection: Collection, limit: int) -> dict[str, object]:
    """Both rows of figures and their correlation."""
    space = workspace.collection_space(collection)
    space.index()
    by_judgment = judged(space, collection, limit)
    queries, files = write_own_copy(workspace, space, limit=limit)
    copy = space_of_copy(workspace, space, space.settings, files)
    copy.index()
    by_own = own(copy, queries)
    space.close()
    copy.close()
    return {
        "queries": len(queries),
        "kinds": Counter(query.kind for query in queries),
        "own": by_own,
        "judged": by_judgment,
        "rho": spearman(list(by_own.values()), list(by_judgment.values())),
    }


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these collections")
    parser.add_argument("--queries", type=int, default=200, help="the most, of either kind")
    parser.add_argument("--state", type=Path, help="keeps the indexes")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    found: dict[str, dict[str, object]] = {}
    with state_folder(arguments.state) as state:
        state.mkdir(parents=True, exist_ok=True)
        for collection in all_collections(arguments.folder):
            if arguments.only and collection.name not in arguments.only:
                continue
            found[collection.name] = measured(Workspace.open(state), collection, arguments.queries)
            note(f"{collection.name}: {json.dumps(found[collection.name])}")
            write_json(arguments.json, "own-documents", results=found)
    labels = ("as set", *CHANGES)
    rows = [
        [name, kind, *(f"{one[kind][label]:.3f}" for label in labels), f"{one['rho']:.2f}"]
        for name, one in found.items()
        for kind in ("own", "judged")
    ]
    print(table(("collection", "queries", *labels, "rho"), rows))
    print(f"\nmean rho {fmean(float(str(one['rho'])) for one in found.values()):.3f}")


if __name__ == "__main__":
    main()

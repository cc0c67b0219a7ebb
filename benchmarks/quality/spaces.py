"""What splitting a collection into several spaces costs: nDCG@10 in one space and as a SpaceGroup.

    python benchmarks/quality/spaces.py COLLECTION[:SPLIT] [--spaces N] [--json FILE]

The documents of a collection in BEIR's format are written round-robin into folders, which are indexed as
one space and as one space each, with the same embedder. Every query is asked of both with the gate open, as
``ragloom search --min-relevance 0`` asks; a document counts as its first hit.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from corpora import note, state_folder, table, write_json
from ndcg import compare_by_query, ndcg_by_query

from ragloom import Query, Space, SpaceGroup, Workspace
from ragloom.evaluation.collections import Collection, read_collection, write_documents

HITS = 50  # of a query, so that ten documents are among them
SPACES = 3
HEADS = ("collection, split", "queries", "one space", "spaces", "as a group", "difference", "p")


class Split:
    """A collection in the folders of a workspace, with an index of all and an index of each."""

    def __init__(self, collection: Collection, state: Path, count: int) -> None:
        root = state / f"{collection.name}-{count}"
        self.ids: dict[str, str] = {}
        folders = []
        for part in range(count):
            documents = collection.documents[part::count]
            folder = root / f"s{part}"
            write_documents(replace(collection, documents=documents), folder)
            folders.append(folder)
            for number, document in enumerate(documents):
                self.ids[f"{folder.name}/{number:07}.md"] = document.id
        workspace = Workspace.open(root)
        self.spaces: Sequence[Space] = [workspace.space_for([folder]) for folder in folders]
        self.group = SpaceGroup(self.spaces)
        self.whole = workspace.space_for(folders, name="whole")
        self.whole.use_embedder_of(self.spaces[0])

    def index(self) -> None:
        """Bring every index up to date."""
        for space in (*self.spaces, self.whole):
            report = space.index()
            note(f"{space.name}: {report.chunks} chunks, {report.seconds:.1f} s")

    def documents(self, asked: Space | SpaceGroup, text: str) -> list[str]:
        """The documents of the hits, best first."""
        result = asked.answer(Query(text, top_k=HITS, min_relevance=0.0))
        return list(dict.fromkeys(self.ids[hit.chunk.uri] for hit in result.hits))


def measure(folder: Path, split: str, state: Path, count: int) -> dict[str, Any]:
    """Ask every query of the one space and of the group."""
    collection = read_collection(folder, split=split)
    parted = Split(collection, state, count)
    with parted.group, parted.whole:
        parted.index()
        one: dict[str, list[str]] = {}
        several: dict[str, list[str]] = {}
        for number, (query, text) in enumerate(collection.queries.items()):
            if number % 100 == 0:
                note(f"{collection.name}: {number} of {len(collection.queries)} queries")
            one[query] = parted.documents(parted.whole, text)
            several[query] = parted.documents(parted.group, text)
    whole = ndcg_by_query(collection.judgments, one)
    group = ndcg_by_query(collection.judgments, several)
    return {
        "collection": collection.name,
        "split": split,
        "queries": len(whole),
        "spaces": count,
        "one": fmean(whole.values()),
        "group": fmean(group.values()),
        "comparison": asdict(compare_by_query(group, whole)),
        "one_by_query": whole,
        "group_by_query": group,
    }


def shown(results: Sequence[Mapping[str, Any]]) -> str:
    """Every collection as a table."""
    rows = [
        [
            f"{each['collection']}, {each['split']}",
            str(each["queries"]),
            f"{each['one']:.4f}",
            str(each["spaces"]),
            f"{each['group']:.4f}",
            f"{each['comparison']['difference']:+.4f}",
            f"{each['comparison']['p_value']:.4f}",
        ]
        for each in results
    ]
    return table(HEADS, rows)


def parsed(name: str) -> tuple[Path, str]:
    """Folder and split of ``COLLECTION[:SPLIT]``."""
    folder, colon, split = name.rpartition(":")
    return (Path(folder), split) if colon and not Path(name).is_dir() else (Path(name), "test")


def test_spaces(tmp_path: Path) -> None:
    """Every collection below the folder that RAGLOOM_BENCH_COLLECTIONS names."""
    import pytest  # the command line needs none
    from run_collections import collections, split_of

    folder = os.environ.get("RAGLOOM_BENCH_COLLECTIONS")
    if not folder:
        pytest.skip("RAGLOOM_BENCH_COLLECTIONS names no folder")
    chosen = [(each, split_of(each, final=False)) for each in collections(Path(folder))]
    print(shown([measure(each, split, tmp_path, SPACES) for each, split in chosen]))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    given = "folder in BEIR's format; its test queries by default"
    parser.add_argument("collections", nargs="+", metavar="COLLECTION[:SPLIT]", help=given)
    parser.add_argument("--spaces", type=int, default=SPACES, help="how many; three by default")
    parser.add_argument("--state", type=Path, help="keeps the indexes for the next time")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    with state_folder(arguments.state) as state:
        chosen = [parsed(name) for name in arguments.collections]
        results = [measure(each, split, state, arguments.spaces) for each, split in chosen]
    print(shown(results))
    write_json(arguments.json, "spaces", results=results)


if __name__ == "__main__":
    main()

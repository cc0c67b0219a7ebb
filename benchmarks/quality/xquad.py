"""Retrieval in twelve languages: XQuAD's paragraphs as documents, its questions as queries.

    python benchmarks/quality/xquad.py FOLDER [--languages hi,th] [--json FILE] [--state FOLDER]

FOLDER holds a collection in BEIR's format for each language, named by its code: the 240 paragraphs, the
1,190 questions, and which paragraph answers each (https://github.com/google-deepmind/xquad, CC BY-SA
4.0, which is why it is not part of this repository). Prints nDCG@10 of hybrid, lexical and dense, what
hybrid has more than lexical with the p of a paired randomisation test, what the default gate keeps of
the questions whose paragraph is among the five best without it, and how many of 100 questions find anything
whose paragraph is not in the half that is indexed. The JSON holds nDCG@10 by query.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import fmean

import numpy as np
from ndcg import ndcg_by_query

from ragloom import Space, Workspace
from ragloom.evaluation.collections import Collection, read_collection
from ragloom.evaluation.measures import Comparison, compare_by_query, evaluate
from ragloom.types import Mode

OTHERS: Sequence[Mode] = ("lexical", "dense")
MODES: Sequence[Mode] = ("hybrid", *OTHERS)
HEADS = ("language", *MODES, "hybrid less lexical", "p", "kept behind the gate", "let in")
ABSENT = 100  # questions whose paragraph is not indexed


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was found in one language.

    Attributes:
        by_query: nDCG@10 by query, by mode.
        kept: The share of the answerable questions that mode hybrid keeps.
        let_in: How many of :data:`ABSENT` questions without an answer find anything in mode hybrid.
    """

    by_query: Mapping[Mode, Mapping[str, float]]
    kept: float
    let_in: int

    def mean(self, mode: Mode) -> float:
        """nDCG@10."""
        return fmean(self.by_query[mode].values())

    @property
    def beside_words(self) -> Comparison:
        """Hybrid less lexical."""
        return compare_by_query(self.by_query["hybrid"], self.by_query["lexical"])


def measured(folder: Path, workspace: Workspace, queries: int) -> Measured:
    """Measure one language: so many of its queries, evenly spaced, or all for 0."""
    collection = read_collection(folder)
    if queries:
        step = max(1, len(collection.queries) // queries)
        asked = dict(list(collection.queries.items())[::step][:queries])
        judged = {name: collection.judgments[name] for name in asked}
        collection = replace(collection, queries=asked, judgments=judged)
    space = workspace.collection_space(collection)
    space.index()
    embedder = space.embedder
    embedder.embed_query = cache(embedder.embed_query)  # each question is embedded once
    hybrid = evaluate(space, collection, off_topic=())
    others = {
        mode: ndcg_by_query(collection.judgments, ranked(space, collection, mode))
        for mode in OTHERS
    }
    return Measured(
        by_query={"hybrid": hybrid.by_query, **others},
        kept=hybrid.gate.kept_rate,
        let_in=let_in(read_collection(folder), workspace),
    )


def let_in(collection: Collection, workspace: Workspace) -> int:
    """How many questions find anything whose paragraph is not indexed, as every other one is not."""
    half = collection.documents[::2]
    there = {document.id for document in half}
    absent = [name for name in collection.queries if there.isdisjoint(collection.judgments[name])]
    absent = absent[:: max(1, len(absent) // ABSENT)][:ABSENT]
    space = workspace.collection_space(
        replace(collection, name=f"{collection.name}-half", documents=half)
    )
    space.index()
    return sum(bool(space.search(collection.queries[name]).hits) for name in absent)


def ranked(space: Space, collection: Collection, mode: Mode) -> Mapping[str, Sequence[str]]:
    """The documents of every query, best first."""
    snapshot = space.snapshot()
    uris = np.array(snapshot.uris)[snapshot.file_of_row]
    found = {}
    for name, text in collection.queries.items():
        numbers = (int(Path(uri).stem) for uri in uris[space.rank(text, mode=mode).rows])
        found[name] = list(dict.fromkeys(collection.documents[at].id for at in numbers))
    return found


def row(name: str, found: Measured) -> str:
    """One line of the table."""
    beside = found.beside_words
    figures = [*(f"{found.mean(mode):.4f}" for mode in MODES), f"{beside.difference:+.4f}"]
    gate = [f"{found.kept:.1%}", str(found.let_in)]
    return f"| {' | '.join([name, *figures, f'{beside.p_value:.4f}', *gate])} |"


def main() -> int:
    """Read the arguments and print the table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--languages", default="", help="codes, separated by commas; all by default"
    )
    parser.add_argument("--queries", type=int, default=0, help="of each language; all by default")
    parser.add_argument("--json", type=Path, help="write the figures there")
    parser.add_argument("--state", type=Path, help="keep the indexes there")
    options = parser.parse_args()
    found = sorted(path.parent.name for path in options.folder.glob("*/queries.jsonl"))
    results: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory(prefix="ragloom-xquad-") as temporary:
        state = options.state or Path(temporary)
        state.mkdir(parents=True, exist_ok=True)
        workspace = Workspace.open(state)
        print(f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}")
        for name in options.languages.split(",") if options.languages else found:
            results[name] = measured(options.folder / name, workspace, options.queries)
            print(row(name, results[name]), flush=True)
    means = [f"{fmean(one.mean(mode) for one in results.values()):.4f}" for mode in MODES]
    kept = fmean(one.kept for one in results.values())
    print(f"| {' | '.join(['mean', *means, '', '', f'{kept:.1%}', ''])} |")
    if options.json:
        versions = {"python": platform.python_version(), "ragloom": version("ragloom")}
        languages = {name: asdict(one) for name, one in results.items()}
        told = {"machine": platform.machine(), **versions, "languages": languages}
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Retrieval in twelve languages: XQuAD's paragraphs as documents, its questions as queries.

    python benchmarks/quality/xquad.py FOLDER [--languages hi,th] [--json FILE] [--state FOLDER]

FOLDER holds a collection in BEIR's format for each language, named by its code: the 240 paragraphs, the
1,190 questions, and which paragraph answers each (https://github.com/google-deepmind/xquad, CC BY-SA
4.0, which is why it is not part of this repository). Prints nDCG@10 of hybrid, lexical and dense, and
what the default gate keeps of the questions whose paragraph is among the five best without it.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from ragloom import Workspace
from ragloom.evaluation.collections import read_collection
from ragloom.evaluation.measures import evaluate
from ragloom.types import Mode

MODES: Sequence[Mode] = ("hybrid", "lexical", "dense")
HEADS = ("language", *MODES, "kept behind the gate")


def measured(folder: Path, workspace: Workspace, queries: int) -> Mapping[str, float]:
    """nDCG@10 by mode, and the share of the answerable questions kept in mode hybrid."""
    collection = read_collection(folder)
    if queries:
        step = max(1, len(collection.queries) // queries)
        asked = dict(list(collection.queries.items())[::step][:queries])
        judged = {name: collection.judgments[name] for name in asked}
        collection = replace(collection, queries=asked, judgments=judged)
    space = workspace.collection_space(collection)
    space.index()
    found: dict[str, float] = {}
    for mode in MODES:
        evaluation = evaluate(space, collection, mode=mode, off_topic=())
        found[mode] = evaluation.metrics["ndcg@10"]
        if mode == "hybrid":
            found["kept"] = evaluation.gate.kept_rate
    return found


def row(name: str, found: Mapping[str, float]) -> str:
    """One line of the table."""
    figures = [*(f"{found[mode]:.4f}" for mode in MODES), f"{found['kept']:.1%}"]
    return f"| {' | '.join([name, *figures])} |"


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
    results: dict[str, Mapping[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="ragloom-xquad-") as temporary:
        state = options.state or Path(temporary)
        state.mkdir(parents=True, exist_ok=True)
        workspace = Workspace.open(state)
        print(f"| {' | '.join(HEADS)} |\n|{' --- |' * len(HEADS)}")
        for name in options.languages.split(",") if options.languages else found:
            results[name] = measured(options.folder / name, workspace, options.queries)
            print(row(name, results[name]), flush=True)
    mean = {
        key: sum(one[key] for one in results.values()) / len(results) for key in (*MODES, "kept")
    }
    print(row("mean", mean))
    if options.json:
        versions = {"python": platform.python_version(), "ragloom": version("ragloom")}
        told = {"machine": platform.machine(), **versions, "languages": results, "mean": mean}
        options.json.write_text(json.dumps(told, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Retrieval quality on every judged collection below a folder, as one table.

    python benchmarks/quality/run_collections.py FOLDER [--final] [--only NAME…] [--json FILE]

FOLDER holds collections in BEIR's format (corpus.jsonl or .gz, queries.jsonl, qrels/SPLIT.tsv). Each is
measured by ``ragloom eval`` in hybrid mode against dense and lexical; the p-values are of a paired
randomisation test. A collection that has judgments for training is what the weights were tuned
on, so those are used; --final asks the test queries, once, when nothing is tuned any more. The JSON
holds nDCG@10 of each query, so that compare_runs.py compares two runs of the code; --save-runs keeps the
documents that were found, too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from corpora import write_json
from ndcg import ndcg_by_query, read_run

from ragloom.evaluation.collections import read_collection

HEADS = (
    "collection, split",
    "queries",
    "hybrid",
    "dense",
    "lexical",
    "p (dense)",
    "p (lexical)",
    "off-topic let in",
    "answerable kept",
    "p50 / p95 ms",
)


def collections(folder: Path) -> Iterator[Path]:
    """Every folder at or below ``folder`` with a corpus, queries and judgments, sorted."""
    for queries in sorted(folder.rglob("queries.jsonl")):
        here = queries.parent
        if (here / "qrels").is_dir() and any(here.glob("corpus.jsonl*")):
            yield here


def split_of(collection: Path, *, final: bool) -> str:
    """``train`` where it is judged, unless the last figures are asked for."""
    train = (collection / "qrels" / "train.tsv").is_file()
    return "train" if train and not final else "test"


def evaluated(collection: Path, split: str, workspace: Path, runs: Path) -> dict[str, Any]:
    """What ``ragloom eval --json`` says, with nDCG@10 by query; progress goes to the terminal."""
    command = [sys.executable, "-m", "ragloom", "eval", str(collection), "--split", split, "--json"]
    command += ["--against", "dense", "--against", "lexical"]
    runs.mkdir(parents=True, exist_ok=True)
    run_file = runs.resolve() / f"{collection.name}-{split}.txt"
    command += ["--run", str(run_file)]
    done = subprocess.run(command, cwd=workspace, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    judgments = read_collection(collection, split=split).judgments
    by_query = ndcg_by_query(judgments, read_run(run_file))
    return {**found, "split": split, "ndcg@10_by_query": by_query}


def scores(found: dict[str, Any]) -> list[float]:
    """nDCG@10 of hybrid, dense and lexical."""
    others = found["comparisons"]
    figures = (found, others["dense"], others["lexical"])
    return [float(each["metrics"]["ndcg@10"]) for each in figures]


def row(found: dict[str, Any]) -> list[str]:
    """One line of the table."""
    gate, latency, others = found["gate"], found["latency_ms"], found["comparisons"]
    return [
        f"{found['collection']}, {found['split']}",
        str(found["queries"]),
        *(f"{value:.4f}" for value in scores(found)),
        *(f"{others[mode]['p_value']:.4f}" for mode in ("dense", "lexical")),
        f"{gate['injected']} of {gate['off_topic']} ({gate['injection_rate']:.1%})",
        f"{gate['kept']} of {gate['answerable']} ({gate['kept_rate']:.1%})",
        f"{latency['p50']:.1f} / {latency['p95']:.1f}",
    ]


def table(results: Sequence[dict[str, Any]]) -> str:
    """Every collection, and the mean of the three ways of searching."""
    columns = zip(*map(scores, results), strict=True)
    means = [f"{sum(column) / len(results):.4f}" for column in columns]
    mean = ["mean", "", *means, *[""] * (len(HEADS) - 5)]
    lines = [HEADS, ["---"] * len(HEADS), *map(row, results), mean]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def run(
    chosen: Sequence[Path], workspace: Path, *, final: bool = False, runs: Path | None = None
) -> list[dict[str, Any]]:
    """Measure collections one after another; indexes stay in ``workspace``, run files in ``runs``."""
    workspace.mkdir(parents=True, exist_ok=True)
    runs = runs or workspace / "runs"
    return [evaluated(each, split_of(each, final=final), workspace, runs) for each in chosen]


def test_collections(tmp_path: Path) -> None:
    """Every collection below the folder that RAGLOOM_BENCH_COLLECTIONS names."""
    import pytest  # the command line needs none

    folder = os.environ.get("RAGLOOM_BENCH_COLLECTIONS")
    if not folder:
        pytest.skip("RAGLOOM_BENCH_COLLECTIONS names no folder")
    print(table(run([each.resolve() for each in collections(Path(folder))], tmp_path)))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the collections are at or below it")
    parser.add_argument("--final", action="store_true", help="the test queries even where tuned")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these collections")
    parser.add_argument("--workspace", type=Path, help="keeps the indexes for the next time")
    parser.add_argument("--save-runs", type=Path, metavar="FOLDER", help="keep TREC run files here")
    parser.add_argument("--json", type=Path, help="write everything to this file, too")
    arguments = parser.parse_args()
    chosen = [
        each.resolve()
        for each in collections(arguments.folder)
        if not arguments.only or each.name in arguments.only
    ]
    if not chosen:
        sys.exit(f"{arguments.folder}: there is no such collection in BEIR's format at or below it")
    with tempfile.TemporaryDirectory() as made:
        workspace = arguments.workspace or Path(made)
        results = run(chosen, workspace, final=arguments.final, runs=arguments.save_runs)
    print("nDCG@10\n")
    print(table(results))
    write_json(arguments.json, "collections", results=results)


if __name__ == "__main__":
    main()

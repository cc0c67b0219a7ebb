"""Whether an index that was completed in stages answers byte for byte as one that was made at once.

    python benchmarks/quality/stages.py COLLECTION ... [--queries N] [--kills N] [--json FILE]

The documents of each collection in BEIR's format are indexed twice, by processes: by one ``ragloom index``;
and by searches over a folder without an index, index runs that are killed at random moments, more searches,
and one run that completes it. Then the queries are asked of both as ``ragloom search --json``.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from corpora import note, state_folder, table, write_json

from ragloom.cli import cli
from ragloom.evaluation.collections import read_collection, write_documents

FOLDER = "documents"
HEADS = ("collection", "documents", "searches", "killed", "queries", "same bytes")
SEARCHES = 5  # before the runs that are killed, and again after them


def ragloom(root: Path, *arguments: str, seconds: float | None = None) -> bool:
    """Run a command in a process; whether it was killed after so many seconds."""
    command = [sys.executable, "-m", "ragloom", *arguments]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.DEVNULL) as process:
        with suppress(subprocess.TimeoutExpired):
            if process.wait(timeout=seconds):
                raise SystemExit(f"ragloom {' '.join(arguments)} failed in {root}")
            return False
        process.kill()
    return True


def answers(root: Path, queries: Sequence[str]) -> list[str]:
    """What ``ragloom search --json`` prints for each query."""
    runner = CliRunner()
    arguments = ["-C", str(root), "search", "--json", "--no-refresh", "--space", FOLDER]
    return [runner.invoke(cli, [*arguments, "--", query]).stdout for query in queries]


def measure(folder: Path, state: Path, asked: int, kills: int) -> Mapping[str, Any]:
    """Index a collection in both ways, and compare what is found."""
    collection = read_collection(folder)
    chance = random.Random(0)  # noqa: S311 - a reproducible sample
    texts = list(dict.fromkeys(collection.queries[one] for one in sorted(collection.queries)))
    queries = chance.sample(texts, min(asked, len(texts)))
    at_once, staged = state / f"{collection.name}-at-once", state / f"{collection.name}-staged"
    for root in (at_once, staged):
        write_documents(collection, root / FOLDER)
    started = time.monotonic()
    ragloom(at_once, "index", FOLDER)
    whole = time.monotonic() - started
    note(f"{collection.name}: indexed at once in {whole:.0f} s")
    early = chance.sample(queries, min(2 * SEARCHES, len(queries)))
    for query in early[:SEARCHES]:
        ragloom(staged, "search", "--", query, FOLDER)
    killed = sum(
        ragloom(staged, "index", FOLDER, seconds=chance.uniform(0.5, whole / (kills + 1)))
        for _ in range(kills)
    )
    for query in early[SEARCHES:]:
        ragloom(staged, "search", "--", query, FOLDER)
    ragloom(staged, "index", FOLDER)
    pairs = list(zip(answers(at_once, queries), answers(staged, queries), strict=True))
    return {
        "collection": collection.name,
        "documents": len(collection.documents),
        "searches": len(early),
        "killed": killed,
        "queries": len(pairs),
        "same": sum(one == other and '"hits"' in one for one, other in pairs),
    }


def main() -> None:
    """Measure every collection and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("collections", nargs="+", type=Path, metavar="COLLECTION")
    parser.add_argument("--queries", type=int, default=200, help="of a collection; default 200")
    parser.add_argument(
        "--kills", type=int, default=5, help="index runs that are killed; default 5"
    )
    parser.add_argument("--state", type=Path, help="keeps the indexes")
    parser.add_argument("--json", type=Path, help="writes the figures to a file")
    arguments = parser.parse_args()
    with state_folder(arguments.state) as state:
        results = [
            measure(one, state, arguments.queries, arguments.kills) for one in arguments.collections
        ]
    print(table(HEADS, [[str(value) for value in one.values()] for one in results]))
    write_json(arguments.json, "stages", results=results)


if __name__ == "__main__":
    main()

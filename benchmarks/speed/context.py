"""How long it takes to pack hits into a budget, to build the prompt, and to write the audit line.

    python benchmarks/speed/context.py [FOLDER] [--queries N] [--top-k N] [--max-tokens N]

Indexes a folder of documents (``examples/docs`` by default) in a temporary place with the bundled
model, asks it, and prints JSON: milliseconds at p50, p95 and the most, of each step by itself and of
the whole pipeline, embedding included, with machine and versions. Before anything is timed, model
and vocabulary are loaded.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from ragloom import SearchFinished, SearchResult, Space, Workspace
from ragloom.audit import AuditLog, AuditSettings
from ragloom.context import STRATEGIES, build_context
from ragloom.context.prompt import build_augmented_prompt
from ragloom.text.decoding import decode
from ragloom.text.tokens import counter

EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
PACKAGES = ("numpy", "onnxruntime", "tantivy", "tiktoken", "tokenizers")
QUERIES = (
    "how do I log errors?",
    "when should a pull request be reviewed?",
    "what is a good unit test?",
    "how are secrets kept out of source control?",
    "difference between metrics and traces",
    "correlation id across services",
    "branching strategy for releases",
    "load testing before a release",
    "who approves a design decision?",
    "alerts that nobody acts on",
)

T = TypeVar("T")


class Timings:
    """Milliseconds by the name of the step."""

    def __init__(self) -> None:
        self._of: dict[str, list[float]] = {}

    def time(self, name: str, work: Callable[[], T]) -> T:
        """Call ``work`` and note how long it took."""
        start = time.perf_counter()
        result = work()
        self._of.setdefault(name, []).append((time.perf_counter() - start) * 1000)
        return result

    def report(self) -> dict[str, dict[str, float]]:
        """p50, p95 and the most of each step."""
        return {name: _quantiles(sorted(took)) for name, took in self._of.items()}


def _quantiles(took: list[float]) -> dict[str, float]:
    last = len(took) - 1
    return {
        "p50": round(took[round(0.5 * last)], 3),
        "p95": round(took[round(0.95 * last)], 3),
        "max": round(took[last], 3),
        "n": len(took),
    }


def measure(space: Space, timings: Timings, *, queries: int, top_k: int, max_tokens: int) -> None:
    """Ask ``queries`` times; each step is timed by itself and once as a whole."""
    root = space.workspace.root
    counting = counter()
    log = AuditLog(AuditSettings(path="bench.jsonl"), root)
    texts = {uri: decode((root / uri).read_bytes()).text for uri in space.snapshot().files}
    for number in range(queries + len(QUERIES)):
        query = QUERIES[number % len(QUERIES)]
        kept = timings if number >= len(QUERIES) else Timings()  # the first round warms up
        result: SearchResult = kept.time(
            "retrieve", lambda query=query: space.search(query, top_k=top_k, min_relevance=0)
        )
        snapshot = space.snapshot()
        vectors = snapshot.vectors(snapshot.rows_of(hit.chunk.id for hit in result.hits))
        for strategy in STRATEGIES:
            context = kept.time(
                f"pack, {strategy}",
                lambda result=result, strategy=strategy, vectors=vectors: build_context(
                    result.hits,
                    max_tokens=max_tokens,
                    strategy=strategy,
                    counter=counting,
                    formatter=space.formatter,
                    read_text=texts.get,
                    root=root,
                    vectors=vectors,
                ),
            )
        kept.time(
            "prompt",
            lambda query=query, context=context: build_augmented_prompt(
                query, context, "Be brief."
            ),
        )
        kept.time(
            "audit",
            lambda query=query, result=result: log.record(
                SearchFinished(
                    operation="search",
                    query=query,
                    space="x",
                    generation=1,
                    hits=result.hits,
                    seconds=0.0,
                )
            ),
        )
        kept.time(
            "whole pipeline",
            lambda query=query: build_augmented_prompt(
                query,
                space.context(
                    query, top_k=top_k, max_tokens=max_tokens, min_relevance=0, counter=counting
                ),
            ),
        )


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    cpu = platform.processor()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": [round(one, 1) for one in os.getloadavg()] if hasattr(os, "getloadavg") else [],
        "system": platform.system(),
        "python": platform.python_version(),
    }


def versions() -> dict[str, str]:
    """Of the packages that matter here."""
    found = {}
    for name in ("ragloom", *PACKAGES):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def main() -> None:
    """Index, measure, and print JSON."""
    parser = argparse.ArgumentParser(description="Speed of packing and of prompts.")
    parser.add_argument("folder", type=Path, nargs="?", default=EXAMPLES)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--top-k", type=int, default=10)
    parser.add_argument("--max-tokens", type=int, default=4000)
    options = parser.parse_args()
    timings = Timings()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(options.folder, Path(folder) / "docs")
        (Path(folder) / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")
        with Workspace.open(folder).space() as space:
            report = space.index()
            measure(
                space,
                timings,
                queries=options.queries,
                top_k=options.top_k,
                max_tokens=options.max_tokens,
            )
    json.dump(
        {
            "chunks": report.chunks,
            "top_k": options.top_k,
            "max_tokens": options.max_tokens,
            "counter": counter().name,
            "milliseconds": timings.report(),
            "machine": machine(),
            "versions": versions(),
        },
        sys.stdout,
        indent=2,
    )
    print()


if __name__ == "__main__":
    main()

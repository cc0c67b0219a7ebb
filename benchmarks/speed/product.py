"""What the command line costs: whole processes, Python's start included.

    python benchmarks/speed/product.py [--docs FOLDER|ZIP] [--repeat N] [--json FILE]

A hundred Markdown files of about 500 kB in all are indexed, indexed again with nothing changed and
with one file changed, and searched; each time by a new process, whose time on the wall and most
resident memory are taken from ``wait4``. Medians are printed beside their targets. Files are in the
system's cache and Python's bytecode is compiled, as they are from the second run on.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from processes import (
    EXAMPLES,
    Run,
    documents,
    edit,
    installed,
    machine,
    measured,
    median,
    pick,
    table,
    write_files,
)

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

TARGETS: Mapping[str, float] = {
    "first index": 10.0,
    "again, nothing changed": 0.5,
    "one file changed": 1.5,
    "cold search": 0.8,
    "--help": 0.2,
}
"""Seconds."""
MOST_MEMORY = 400.0  # MiB while indexing
INDEXING = ("first index", "again, nothing changed", "one file changed")
QUESTION = "How often are keys rotated?"
RAGLOOM = (sys.executable, "-m", "ragloom")
PACKAGES = ("ragloom", "numpy", "tantivy", "onnxruntime", "tokenizers", "pymilvus", "milvus-lite")


def operations(
    folder: Path, scratch: Path, texts: Mapping[str, str]
) -> dict[str, Callable[[int], Run]]:
    """What is measured, in order; each takes the number of the repetition."""

    def ragloom(*arguments: str) -> Run:
        return measured([*RAGLOOM, *arguments], folder=folder, scratch=scratch)

    def first(_: int) -> Run:
        shutil.rmtree(folder / ".ragloom", ignore_errors=True)
        return ragloom("index")

    def changed(number: int) -> Run:
        edit(folder, texts, number)
        return ragloom("index")

    return {
        "first index": first,
        "again, nothing changed": lambda _: ragloom("index"),
        "one file changed": changed,
        "cold search": lambda _: ragloom("search", QUESTION, "--min-relevance", "0"),
        "--help": lambda _: ragloom("--help"),
    }


def measure(texts: Mapping[str, str], *, repeat: int) -> dict[str, list[Run]]:
    """Every operation, ``repeat`` times; one round of them all after another."""
    runs: dict[str, list[Run]] = {name: [] for name in TARGETS}
    with tempfile.TemporaryDirectory() as made:
        folder, scratch = Path(made, "docs"), Path(made)
        write_files(folder, texts)
        work = operations(folder, scratch, texts)
        work["--help"](0)  # compiles the bytecode
        for number in range(repeat):
            for name, operation in work.items():
                run = operation(number)
                runs[name].append(run)
                if name == "cold search" and not run.output.strip():
                    message = "the search found nothing: what was measured is no search"
                    raise RuntimeError(message)
    return runs


def report(texts: Mapping[str, str], runs: Mapping[str, list[Run]]) -> dict[str, object]:
    """The figures, as they are written to JSON."""
    figures = {
        name: {
            "target_seconds": TARGETS[name],
            "seconds": round(median(run.seconds for run in each), 3),
            "all_seconds": [round(run.seconds, 3) for run in each],
            "processor_seconds": round(median(run.processor for run in each), 3),
            "peak_mb": round(max(run.peak_mb for run in each), 1),
        }
        for name, each in runs.items()
    }
    return {
        "benchmark": "product",
        "files": len(texts),
        "bytes": sum(len(text.encode()) for text in texts.values()),
        "operations": figures,
        "peak_indexing_mb": {
            "target": MOST_MEMORY,
            "measured": max(run.peak_mb for name in INDEXING for run in runs[name]),
        },
        "machine": machine(),
        "versions": installed(*PACKAGES),
    }


def shown(runs: Mapping[str, list[Run]]) -> str:
    """The figures as a table for people."""
    rows = []
    for name, each in runs.items():
        seconds = median(run.seconds for run in each)
        peak = max(run.peak_mb for run in each)
        busy = median(run.processor for run in each)
        verdict = "met" if seconds < TARGETS[name] else "MISSED"
        times = [f"< {TARGETS[name]:g} s", f"{seconds:.2f} s", f"{busy:.2f} s"]
        rows.append([name, *times, f"{peak:.0f} MiB", verdict])
    peak = max(run.peak_mb for name in INDEXING for run in runs[name])
    verdict = "met" if peak < MOST_MEMORY else "MISSED"
    rows.append(
        ["memory while indexing", f"< {MOST_MEMORY:.0f} MiB", "", "", f"{peak:.0f} MiB", verdict]
    )
    return table(("operation", "target", "median", "processor time", "peak memory", ""), rows)


def test_product(benchmark: BenchmarkFixture) -> None:
    """One round over the examples; the time of the round is pytest-benchmark's."""
    texts = pick(documents(EXAMPLES))
    runs = benchmark.pedantic(measure, (texts,), {"repeat": 3}, rounds=1)  # type: ignore[no-untyped-call]
    benchmark.extra_info.update(report(texts, runs))
    print(shown(runs))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, default=EXAMPLES, help="folder or zip of Markdown")
    parser.add_argument("--repeat", type=int, default=5, help="rounds; medians are printed")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    texts = pick(documents(arguments.docs))
    runs = measure(texts, repeat=arguments.repeat)
    print(f"{len(texts)} files, {sum(len(text.encode()) for text in texts.values()):,} bytes\n")
    print(shown(runs))
    if arguments.json:
        arguments.json.write_text(json.dumps(report(texts, runs), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()

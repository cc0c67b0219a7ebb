"""What the librarian costs a workflow: rebuilding, a cold model, and each answer after that.

    python benchmarks/speed/librarian.py [--docs FOLDER|ZIP] [--repeat N] [--json FILE]

A hundred Markdown files of about 500 kB in all stand in ``docs/adrs`` and ``docs/standards``. Rebuilds
are whole processes, Python's start included. The node is called in a process of its own: its first call
opens the knowledge base and loads the model (cold), the next hundred find it in memory (warm).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
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
    "rebuild from nothing": 10.0,
    "rebuild, nothing changed": 0.5,
    "rebuild, one file changed": 2.0,
    "cold node": 2.0,
    "warm node": 0.05,
}
"""Seconds. The seed asks for 10 s and, for a warm node, 0.5 s."""
MOST_MEMORY = 350.0  # MiB, of any of the processes
CALLS = 100
PACKAGES = ("ragloom", "numpy", "tantivy", "onnxruntime", "tokenizers", "pymilvus", "milvus-lite")
REBUILD = (sys.executable, "-m", "ragloom", "librarian", "rebuild")
NODE = f"""
import json, time; began = time.perf_counter()
from ragloom_librarian import librarian_node
briefs = ["How do I log errors?", "Klingon localization", "Who reviews a pull request?",
          "Which metrics does a service expose, and how are dashboards made of them?"]
times = []
for number in range({CALLS + 1}):
    start = time.perf_counter() if number else began
    update = librarian_node({{"issue_brief": briefs[number % len(briefs)]}})
    times.append(time.perf_counter() - start)
    assert "degraded_reason" not in update, update
    assert number or update["retrieved_context"], update
print(json.dumps(times))
"""


def measure(texts: Mapping[str, str], *, repeat: int) -> dict[str, list[Run]]:
    """Every operation, ``repeat`` times; the seconds of a warm node are the median of its calls."""
    runs: dict[str, list[Run]] = {name: [] for name in TARGETS}
    with tempfile.TemporaryDirectory() as made:
        folder, scratch = Path(made, "project"), Path(made)
        names = sorted(texts)
        placed = {
            f"docs/{'adrs' if at % 2 else 'standards'}/{name}": texts[name]
            for at, name in enumerate(names)
        }
        write_files(folder, placed)

        def run(*command: str) -> Run:
            return measured(command, folder=folder, scratch=scratch)

        run(sys.executable, "-m", "ragloom", "--help")  # compiles the bytecode
        for number in range(repeat):
            shutil.rmtree(folder / ".ragloom", ignore_errors=True)
            runs["rebuild from nothing"].append(run(*REBUILD))
            runs["rebuild, nothing changed"].append(run(*REBUILD))
            edit(folder, placed, number)
            runs["rebuild, one file changed"].append(run(*REBUILD))
            node = run(sys.executable, "-c", NODE)
            times: Sequence[float] = json.loads(node.output.splitlines()[-1])
            runs["cold node"].append(node._replace(seconds=times[0]))
            runs["warm node"].append(node._replace(seconds=median(times[1:]), output=node.output))
    return runs


def report(texts: Mapping[str, str], runs: Mapping[str, list[Run]]) -> dict[str, object]:
    """The figures, as they are written to JSON."""
    warm = sorted(
        seconds
        for run in runs["warm node"]
        for seconds in json.loads(run.output.splitlines()[-1])[1:]
    )
    return {
        "benchmark": "librarian",
        "files": len(texts),
        "bytes": sum(len(text.encode()) for text in texts.values()),
        "operations": {
            name: {
                "target_seconds": TARGETS[name],
                "seconds": round(median(run.seconds for run in each), 4),
                "all_seconds": [round(run.seconds, 4) for run in each],
                "peak_mb": round(max(run.peak_mb for run in each), 1),
            }
            for name, each in runs.items()
        },
        "warm_calls": {"count": len(warm), "p95": round(warm[int(len(warm) * 0.95)], 4)},
        "peak_mb": {"target": MOST_MEMORY, "measured": _peak(runs)},
        "machine": machine(),
        "versions": installed(*PACKAGES),
    }


def _peak(runs: Mapping[str, list[Run]]) -> float:
    return round(max(run.peak_mb for each in runs.values() for run in each), 1)


def shown(runs: Mapping[str, list[Run]]) -> str:
    """The figures as a table for people."""
    rows = []
    for name, each in runs.items():
        seconds = median(run.seconds for run in each)
        verdict = "met" if seconds < TARGETS[name] else "MISSED"
        peak = max(run.peak_mb for run in each)
        rows.append(
            [name, f"< {TARGETS[name]:g} s", f"{seconds:.3f} s", f"{peak:.0f} MiB", verdict]
        )
    peak = _peak(runs)
    verdict = "met" if peak < MOST_MEMORY else "MISSED"
    rows.append(["memory", f"< {MOST_MEMORY:.0f} MiB", "", f"{peak:.0f} MiB", verdict])
    return table(("operation", "target", "median", "peak memory", ""), rows)


def test_librarian(benchmark: BenchmarkFixture) -> None:
    """One round over the examples; the time of the round is pytest-benchmark's."""
    texts = pick(documents(EXAMPLES))
    runs = benchmark.pedantic(measure, (texts,), {"repeat": 3}, rounds=1)  # type: ignore[no-untyped-call]
    benchmark.extra_info.update(report(texts, runs))
    print(shown(runs))


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--docs", type=Path, default=EXAMPLES, help="Markdown files, or a zip")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    texts = pick(documents(arguments.docs))
    runs = measure(texts, repeat=arguments.repeat)
    print(shown(runs))
    if arguments.json:
        arguments.json.write_text(json.dumps(report(texts, runs), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()

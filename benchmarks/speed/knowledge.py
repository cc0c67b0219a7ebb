"""How long lessons take: capturing, a checkpoint, and a warm query with filters.

    python benchmarks/speed/knowledge.py [--lessons N] [--queries N] [--embedder NAME] [--store NAME]

Prints JSON: seconds of a checkpoint of N lessons and of one more of 1,000 on top, and milliseconds of a
query (p50, p95): its embedding, the filter by agent and technology, the table and the ranking included.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

AGENTS = ("backend", "frontend", "qa", "architect")
TECHNOLOGIES = ("python", "go", "rust")
THINGS = ("migration", "deployment", "login form", "cache", "payment", "search index", "mail queue")
FAULTS = ("times out", "is refused", "loses rows", "is started twice", "cannot be parsed", "leaks")
PACKAGES = ("ragloom", "sqlalchemy", "numpy", "onnxruntime", "tantivy")


def lessons(start: int, count: int) -> Iterator[object]:
    """Lessons that differ in their words, not in their numbers alone, which would be folded."""
    from ragloom_knowledge.capturing import new_lesson

    for number in range(start, start + count):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        thing, fault = THINGS[number % 7], FAULTS[number // 7 % 6]
        texts = {
            "project": "one",
            "agent_type": AGENTS[number % 4],
            "technology": TECHNOLOGIES[number % 3],
            "failure_description": f"The {thing} of the service {word} {fault}",
            "error_message": f"{word.title()}Error: {thing} {fault}",
            "solution_steps": f"Give the {thing} of {word} a limit, then restart and watch it",
        }
        yield new_lesson("failure_solution", texts, verified=True)


def measure(*, count: int, queries: int, embedder: str, store: str) -> dict[str, object]:
    """Capture, process and ask, and time each."""
    from ragloom import PluginHost, Workspace
    from ragloom_knowledge import KnowledgeBase

    host = PluginHost.discover()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "ragloom.yaml").write_text(f"embedder: {embedder}\nstore: {store}\n", "utf-8")
        with KnowledgeBase.of(Workspace.open(root, host=host)) as knowledge:
            knowledge.table.restore(list(lessons(0, count)))  # type: ignore[arg-type]
            began = time.perf_counter()
            knowledge.process_checkpoint("one", "manual")
            first = time.perf_counter() - began
            began = time.perf_counter()
            for lesson in lessons(count, 1000):
                knowledge.capture(lesson)  # type: ignore[arg-type]
            captured = time.perf_counter() - began
            began = time.perf_counter()
            knowledge.process_checkpoint("one", "manual")
            thousand = time.perf_counter() - began
            times: list[float] = []
            found = 0
            for number in range(queries + 1):
                asked = f"Mend the {THINGS[number % 7]}: it {FAULTS[number % 6]}"
                began = time.perf_counter()
                patterns = knowledge.query_for_task(asked, "backend", technology="python")
                times.append(time.perf_counter() - began)
                found += bool(patterns)
    cold, *warm = times
    warm.sort()
    return {
        "lessons": count,
        "embedder": embedder,
        "store": store,
        "checkpoint_s": round(first, 2),
        "capture_1000_s": round(captured, 2),
        "checkpoint_1000_more_s": round(thousand, 2),
        "query_cold_ms": round(cold * 1000, 1),
        "query_p50_ms": round(warm[len(warm) // 2] * 1000, 1),
        "query_p95_ms": round(warm[int(len(warm) * 0.95)] * 1000, 1),
        "queries_answered": found,
        "queries": queries + 1,
        "machine": {"cpus": os.cpu_count(), "system": platform.platform()},
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PACKAGES},
    }


def main() -> None:
    """Run it as asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lessons", type=int, default=20000)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--embedder", default="onnx")
    parser.add_argument("--store", default="sqlite")
    given = parser.parse_args()
    result = measure(
        count=given.lessons, queries=given.queries, embedder=given.embedder, store=given.store
    )
    json.dump(result, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()

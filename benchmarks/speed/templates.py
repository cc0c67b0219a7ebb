"""What a library of 1,000 templates costs: the first index, one where nothing changed, and a match.

    python benchmarks/speed/templates.py [--count N] [--json FILE]

The templates are made from the real ones in ``tests/data/templates``, each with a name and a first line of
its own, and cut at a thousand characters. A match is measured on a warm library: the model is
loaded and every problem is new.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from processes import installed, machine

from ragloom import Workspace
from ragloom_templates import TemplateLibrary
from ragloom_templates.evaluating import read_problems

DATA = Path(__file__).parents[2] / "tests" / "data" / "templates"
TARGETS = {"again": 1.0, "match": 0.02}
"""Seconds."""
PACKAGES = ("ragloom", "numpy", "tantivy", "onnxruntime", "tokenizers", "milvus-lite")


def write_templates(folder: Path, count: int) -> None:
    """Write ``count`` templates below ``folder``."""
    originals = sorted((DATA / "templates").rglob("*.md"))
    texts = [path.read_text("utf-8").removeprefix("---\n")[:1000] for path in originals]
    folder.mkdir()
    for number in range(count):
        text = texts[number % len(texts)].replace("---", "")
        head = f"---\nname: Template {number}\ndescription: The template number {number}.\n---\n"
        (folder / f"{number:04}.md").write_text(f"{head}Template {number}.\n\n{text}\n", "utf-8")


def measure(root: Path, count: int) -> dict[str, float]:
    """Seconds of each operation, and what was embedded the second time."""
    write_templates(root / "templates", count)
    with TemplateLibrary(["templates"], workspace=Workspace.open(root)) as library:
        first = library.refresh()
    with TemplateLibrary(["templates"], workspace=Workspace.open(root)) as library:
        again: list[float] = []
        for _ in range(5):
            started = perf_counter()
            report = library.refresh()
            again.append(perf_counter() - started)
        problems = read_problems(DATA / "problems.jsonl")
        library.search(problems[0].problem)
        matches: list[float] = []
        for problem in problems[1:]:
            started = perf_counter()
            library.search(problem.problem)
            matches.append(perf_counter() - started)
    return {
        "templates": count,
        "chunks": first.chunks,
        "first": first.seconds,
        "again": median(again),
        "embedded again": report.embedded,
        "match": median(matches),
        "match p95": quantiles(matches, n=20)[-1],
    }


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), options.count)
    for name, value in figures.items():
        target = f" (target {TARGETS[name]})" if name in TARGETS else ""
        print(f"{name}: {value:.4g}{target}")
    if options.json:
        found = {"machine": machine(), "packages": installed(*PACKAGES), "figures": figures}
        options.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""How long ``rag_search`` takes, the query's embedding included, and what bringing an index up costs.

    python benchmarks/speed/agents.py [FOLDER_OR_ZIP…] [--chunks N] [--searches N] [--store NAME]

Gives an agent Markdown documents, sorted by path, until they make N chunks of 2,000 characters with 200
shared (``examples/docs`` alone makes fewer; the output says how many). Asks for the headings of the
documents, each query once before any comes again, and prints JSON: milliseconds of a warm call (p50,
p95, slowest), of the first call in the process, and of a run that finds nothing changed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
SIZE, OVERLAP = 2000, 200
PACKAGES = ("ragloom", "numpy", "onnxruntime", "tantivy", "tokenizers")
CONFIG = """\
rag: {{store: {store}, chunk_size: {size}, chunk_overlap: {overlap}}}
agents: [{{id: a, docs: {{strategy: rag, sources: ["docs/*.md"]}}}}]
"""


def documents(paths: list[Path]) -> Iterator[str]:
    """The text of every Markdown file in folders and zip files, sorted by path."""
    for path in paths:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".md"):
                        yield archive.read(name).decode("utf-8", "replace")
        else:
            for file in sorted([path] if path.is_file() else path.rglob("*.md")):
                yield file.read_text(encoding="utf-8", errors="replace")


def measure(paths: list[Path], *, chunks: int, searches: int, store: str) -> dict[str, object]:
    """Index, ask, and time each."""
    from ragloom_agents import Agents

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "docs").mkdir()
        config = CONFIG.format(store=store, size=SIZE, overlap=OVERLAP)
        (root / "agents.yaml").write_text(config, encoding="utf-8")
        texts = documents(paths)
        agents = Agents.open(root, environment={"HOME": folder})
        indexed = written = 0
        seconds = 0.0
        headings: list[str] = []
        while indexed < chunks:
            # As many documents as are surely still needed, then look again.
            wanted = max((chunks - indexed) * (SIZE - OVERLAP) // 2, 1)
            batch = 0
            for text in texts:
                (root / "docs" / f"{written:05}.md").write_text(text, encoding="utf-8")
                headings += re.findall(r"(?m)^#{1,4} +(.{8,})$", text)
                written += 1
                batch += len(text)
                if batch >= wanted:
                    break
            if not batch:
                break
            report = agents.index.ensure("a")
            seconds += report.seconds
            indexed = report.chunks
        queries = list(dict.fromkeys(headings))[:searches] or ["how is this done?"]
        tool = agents.tool("a")
        if tool is None:
            raise SystemExit("the embedder is not installed: pip install 'ragloom[onnx]'")
        first = timed(tool, queries[0])
        calls = sorted(timed(tool, queries[n % len(queries)]) for n in range(searches))
        unchanged = Agents.open(root, environment={"HOME": folder}).index.ensure("a")
        return {
            "chunks": indexed,
            "files": written,
            "store": store,
            "index_seconds": round(seconds, 2),
            "searches": searches,
            "queries": len(queries),
            "first_call_ms": round(first, 2),
            "warm_ms": {
                "p50": round(calls[len(calls) // 2], 2),
                "p95": round(calls[int(len(calls) * 0.95)], 2),
                "max": round(calls[-1], 2),
            },
            "unchanged_ms": round(unchanged.seconds * 1000, 2),
        }


def timed(tool: object, query: str) -> float:
    """Milliseconds of a call."""
    assert callable(tool)
    started = time.perf_counter()
    tool(query)
    return (time.perf_counter() - started) * 1000


def machine() -> dict[str, object]:
    """What it was measured on."""
    return {
        "cpus": os.cpu_count(),
        "load": [round(value, 1) for value in os.getloadavg()],
        "machine": platform.machine(),
        "python": platform.python_version(),
        "system": platform.system(),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[EXAMPLES])
    parser.add_argument("--chunks", type=int, default=500)
    parser.add_argument("--searches", type=int, default=300)
    parser.add_argument("--store", default="sqlite")
    given = parser.parse_args()
    figures = measure(given.paths, chunks=given.chunks, searches=given.searches, store=given.store)
    versions = {name: metadata.version(name) for name in PACKAGES}
    json.dump({"agents": figures, "machine": machine(), "versions": versions}, sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()

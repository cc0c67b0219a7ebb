"""How fast the embedder is, how near to fp32, and what it costs in memory.

    python benchmarks/speed/embedding.py [FOLDER_OR_ZIP…] [--model NAME] [--threads N]

Cuts Markdown into passages of at most 240 tokens at paragraph ends, embeds them, and prints JSON:
passages and tokens a second (best and median of the repetitions), milliseconds until a first query
is embedded in this process, megabytes a second of token counting, cosine to the fp32 vectors in
``tests/data/onnx/`` (bundled model only), resident memory, machine and versions.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
REFERENCE = Path(__file__).parents[2] / "tests" / "data" / "onnx"
LONGEST = 240
PACKAGES = ("numpy", "onnxruntime", "tokenizers")


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


def passages(text: str, count: Callable[[str], int]) -> Iterator[str]:
    """Sections, packed from paragraphs; a longer paragraph is left whole, to be truncated."""
    for section in re.split(r"(?m)^(?=#{1,2} )", text):
        packed, tokens = "", 0
        for paragraph in re.split(r"\n{2,}", section):
            size = count(paragraph)
            if packed and tokens + size > LONGEST:
                yield packed
                packed, tokens = "", 0
            packed += paragraph + "\n\n"
            tokens += size
        if packed.strip():
            yield packed


def seconds(work: Callable[[], object]) -> float:
    """How long ``work`` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def memory() -> dict[str, float]:
    """Resident megabytes of this process, now and at the most; empty where /proc is missing."""
    status = Path("/proc/self/status")
    if not status.exists():
        return {}
    values = dict(re.findall(r"(VmRSS|VmHWM):\s+(\d+) kB", status.read_text()))
    return {
        "resident_mb": round(int(values["VmRSS"]) / 1024, 1),
        "peak_mb": round(int(values["VmHWM"]) / 1024, 1),
    }


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    cpu = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists() and (found := re.search(r"model name\s*: (.+)", info.read_text())):
        cpu = found[1]
    return {
        "system": platform.platform(),
        "cpu": cpu,
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()] if hasattr(os, "getloadavg") else [],
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "paths", nargs="*", type=Path, default=[EXAMPLES], help="folders or zip files of Markdown"
    )
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--limit", type=int, default=1000, help="passages embedded in a repetition")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()

    begun = time.perf_counter()
    import numpy as np

    numpy_loaded = time.perf_counter()
    from ragloom_onnx import OnnxOptions
    from ragloom_onnx.embedder import OnnxEmbedder

    embedder = OnnxEmbedder(OnnxOptions(model=arguments.model, threads=arguments.threads))
    embedder.embed_query("how do I log errors?")
    first_query = time.perf_counter()
    after_query = memory()
    query_ms = statistics.median(
        1000 * seconds(lambda: embedder.embed_query("how do I log errors?")) for _ in range(20)
    )

    counter = embedder.counter
    texts = list(documents(arguments.paths))
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    if not texts:
        sys.exit("no Markdown file in the paths given")
    cold = seconds(lambda: [counter.count(text) for text in texts])
    warm = seconds(lambda: [counter.count(text) for text in texts])

    cut = [passage for text in texts for passage in passages(text, counter.count)]
    step = max(1, len(cut) // arguments.limit)
    cut = cut[::step][: arguments.limit]
    tokens = sum(min(counter.count(text), embedder.max_tokens) for text in cut)
    durations = [seconds(lambda: embedder.embed_passages(cut)) for _ in range(arguments.repeat)]
    best, median = min(durations), statistics.median(durations)

    result: dict[str, object] = {
        "benchmark": "embedding",
        "model": arguments.model,
        "threads": arguments.threads or "one a core",
        "passages": len(cut),
        "tokens_a_passage": round(tokens / len(cut), 1),
        "passages_per_second": {
            "best": round(len(cut) / best, 1),
            "median": round(len(cut) / median, 1),
        },
        "tokens_per_second": {"best": round(tokens / best), "median": round(tokens / median)},
        "import_numpy_ms": round(1000 * (numpy_loaded - begun), 1),
        "first_query_ms": round(1000 * (first_query - numpy_loaded), 1),
        "query_ms": round(query_ms, 2),
        "counting_mb_per_second": {
            "cold": round(megabytes / cold, 1),
            "warm": round(megabytes / warm, 1),
        },
        "memory_after_first_query": after_query,
        "memory_after_all": memory(),
    }
    if arguments.model == "all-MiniLM-L6-v2" and REFERENCE.is_dir():
        known = json.loads((REFERENCE / "texts.json").read_text(encoding="utf-8"))
        cosines = (embedder.embed_passages(known) * np.load(REFERENCE / "vectors.npy")).sum(axis=1)
        result["cosine_to_fp32"] = {
            "mean": round(float(cosines.mean()), 5),
            "min": round(float(cosines.min()), 5),
        }
    embedder.close()
    result["memory_after_close"] = memory()
    result["machine"] = machine()
    result["versions"] = {"python": platform.python_version()} | {
        name: metadata.version(name) for name in PACKAGES
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

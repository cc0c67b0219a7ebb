"""What an index of up to a million chunks costs, and how each cost grows.

    python benchmarks/speed/scale.py [--sizes N,N,...] [--files N] [--store NAME] [--json FILE]

For every size a folder of 5,000 files is written in the words of the examples, and indexed by the command
line with an embedder that costs next to nothing (``scale_embedder.py``): first, again with nothing changed,
and with one paragraph changed. Then a process opens the index and searches it. Beside each figure is its
exponent of growth, the slope of its logarithm over that of the size: 1 is proportional, 0 independent.

What is written are the files that are new or changed, and what the system counts.
The ten best in mode ``dense`` are compared with a scan of all vectors in float32.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from processes import EXAMPLES, Run, documents, installed, machine, measured, median, table
from scale_embedder import embed, mark, number_of, vectors_of

from ragloom import Query, Workspace

SIZES, FILES, QUERIES, WORDS = "100000,500000,1000000", 5000, 100, 45
NEAREST, SAME = 10, 1e-6  # cosines that differ by less are the same
OPENINGS, BLOCK = 5, 50_000
RAGLOOM = (sys.executable, "-m", "ragloom")
_SETTLED = (
    3.0  # seconds: a file that was just written may change unseen, so the next run reads it again
)


class Stored(NamedTuple):
    """A file of the index."""

    size: int
    changed: int


def words() -> Sequence[str]:
    """The words of the examples, as often as they stand there."""
    return re.findall(r"[A-Za-z][a-z]+", " ".join(documents(EXAMPLES).values()))


def write_corpus(folder: Path, size: int, files: int) -> None:
    """``size`` sections over ``files`` files, each marked with its number."""
    choose, known = random.Random(7), words()  # noqa: S311 - the same text every time
    for file in range(files):
        sections = []
        for number in range(file * size // files, (file + 1) * size // files):
            chosen = choose.choices(known, k=WORDS + 3)
            heading, text = " ".join(chosen[:3]), " ".join(chosen[3:])
            sections.append(f"## {heading}\n\n{mark(number)} {text}.\n")
        path = folder / f"{file % 50:02}" / f"{file:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(sections), "ascii")


def change_paragraph(folder: Path, files: int) -> None:
    """Add a sentence to the first paragraph of a file in the middle."""
    path = next(folder.glob(f"*/{files // 2:05}.md"))
    text = path.read_text("ascii")
    path.write_text(text.replace(".\n", ". Rotate the signing keys every week.\n", 1), "ascii")


def plugin(scratch: Path) -> dict[str, str]:
    """What a process needs to find the embedder as an installed plugin."""
    made = scratch / "ragloom_scale-1.dist-info"
    made.mkdir()
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: ragloom-scale\nVersion: 1\n")
    (made / "entry_points.txt").write_text("[ragloom]\nscale = scale_embedder\n")
    places = [str(scratch), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, places)), "RAGLOOM_EMBEDDER": "scale"}


def stored(state: Path) -> Mapping[int, tuple[Path, Stored]]:
    """The files of an index by their number on the disk: a link is no second file."""
    found = {}
    for path in state.rglob("*"):
        if path.is_file():
            status = path.stat()
            found[status.st_ino] = path, Stored(status.st_size, status.st_mtime_ns)
    return found


def written(
    before: Mapping[int, tuple[Path, Stored]], after: Mapping[int, tuple[Path, Stored]]
) -> float:
    """MiB of files that are new or changed, the store's apart, of which a part of one file is written."""
    files = [
        file.size
        for node, (path, file) in after.items()
        if before.get(node, (None, None))[1] != file and "store" not in path.parts
    ]
    return sum(files) / 2**20


def questions(count: int) -> Sequence[str]:
    """Two to five words each."""
    choose, known = random.Random(3), words()  # noqa: S311 - the same text every time
    return [" ".join(choose.choices(known, k=2 + at % 4)) for at in range(count)]


def probe(folder: Path, count: int) -> dict[str, object]:
    """Open an index and search it; in a process of its own."""
    opening = []
    for _ in range(OPENINGS + 1):
        with Workspace.open(folder).space() as space:
            started = time.perf_counter()
            space.snapshot()
            opening.append(1000 * (time.perf_counter() - started))
    asked = questions(count)
    with Workspace.open(folder).space() as space:
        for question in asked[:5]:
            space.search(question)
        wall, busy = [], []
        for question in asked:
            started, begun = time.perf_counter(), time.process_time()
            space.search(question)
            busy.append(1000 * (time.process_time() - begun))
            wall.append(1000 * (time.perf_counter() - started))
        dense = [
            space.search(
                Query(question, mode="dense", top_k=NEAREST, min_relevance=0.0, per_file=0)
            )
            for question in asked
        ]
    return {
        "opening_ms": median(opening[1:]),
        "hybrid_ms": median(wall),
        "hybrid_cpu_ms": median(busy),
        "dense": [[number_of(hit.chunk.text) for hit in found.hits] for found in dense],
    }


def exact(dense: Sequence[Sequence[int]], size: int) -> int:
    """For how many questions the ten nearest are those of a full scan."""
    asked = embed(questions(len(dense)))
    best = np.full((len(asked), 0), -1.0, np.float32)
    for start in range(0, size, BLOCK):
        block = vectors_of(np.arange(start, min(size, start + BLOCK)))
        both = np.concatenate([best, asked @ block.T], axis=1)
        best = -np.partition(-both, min(NEAREST, both.shape[1]) - 1, axis=1)[:, :NEAREST]
    least = best.min(axis=1)
    right = 0
    for at, numbers in enumerate(dense):
        own = vectors_of(np.array(numbers, np.int64)) @ asked[at]
        right += len(set(numbers)) == min(NEAREST, size) and bool((own >= least[at] - SAME).all())
    return right


def measure(size: int, *, files: int, store: str, count: int) -> dict[str, float]:
    """Every figure of one size."""
    files = min(files, size)
    with tempfile.TemporaryDirectory() as made:
        folder, scratch = Path(made, "docs"), Path(made, "scratch")
        scratch.mkdir()
        environment = plugin(scratch) | ({"RAGLOOM_STORE": store} if store else {})
        write_corpus(folder, size, files)
        time.sleep(_SETTLED)
        state = folder / ".ragloom"

        def run(*arguments: str) -> Run:
            return measured(arguments, folder=folder, scratch=scratch, environment=environment)

        first = run(*RAGLOOM, "index", "--json")
        if json.loads(first.output)["chunks"]["total"] != size:
            raise RuntimeError(f"there are not {size} chunks: {first.output}")
        again = run(*RAGLOOM, "index")
        change_paragraph(folder, files)
        before = stored(state)
        changed = run(*RAGLOOM, "index")
        after = stored(state)
        cold = run(*RAGLOOM, "search", questions(1)[0], "--min-relevance", "0")
        probing = (sys.executable, __file__, "--probe", str(folder), "--queries", str(count))
        probed = json.loads(run(*probing).output)
        of_store = sum(file.size for path, file in after.values() if "store" in path.parts)
        whole = sum(file.size for _, file in after.values())
        return {
            "first index, s": first.seconds,
            "first index, CPU s": first.processor,
            "first index, peak MiB": first.peak_mb,
            "nothing changed, s": again.seconds,
            "nothing changed, CPU s": again.processor,
            "one paragraph, s": changed.seconds,
            "one paragraph, CPU s": changed.processor,
            "one paragraph, peak MiB": changed.peak_mb,
            "one paragraph, MiB written, the store apart": written(before, after),
            "one paragraph, MiB written, as the system counts": changed.written_mb,
            "cold search, s": cold.seconds,
            "cold search, CPU s": cold.processor,
            "opening, ms": probed["opening_ms"],
            "hybrid p50, ms": probed["hybrid_ms"],
            "hybrid p50, CPU ms": probed["hybrid_cpu_ms"],
            f"dense top ten exact, of {count}": exact(probed["dense"], size),
            "disk a chunk, bytes": whole / size,
            "disk a chunk without the store, bytes": (whole - of_store) / size,
        }


def exponent(sizes: Sequence[int], values: Sequence[float]) -> str:
    """The slope of the logarithms, by least squares; empty where there is one size only."""
    if len(sizes) == 1 or min(values) <= 0:
        return ""
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return f"{round(float(slope), 2) + 0.0:.2f}"  # no -0.00


def shown(figures: Mapping[int, Mapping[str, float]]) -> str:
    """The figures of every size, and how each grows."""
    sizes = list(figures)
    names = list(figures[sizes[0]])
    rows = []
    for name in names:
        values = [figures[size][name] for size in sizes]
        growth = "" if "exact" in name else exponent(sizes, values)
        rows.append([name, *(_number(value) for value in values), growth])
    return table(("chunks", *(f"{size:,}" for size in sizes), "exponent"), rows)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=SIZES, help="chunks, separated by commas")
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--store", default="", help="by default the one that is ragloom's")
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--probe", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        print(json.dumps(probe(arguments.probe, arguments.queries)))
        return
    figures: dict[int, dict[str, float]] = {}
    for size in sorted(map(int, arguments.sizes.split(","))):
        print(f"{size:,} chunks", file=sys.stderr)
        figures[size] = measure(
            size, files=arguments.files, store=arguments.store, count=arguments.queries
        )
        if arguments.json:  # after each size: the next one may fill the disk
            content = {
                "benchmark": "scale",
                "files": arguments.files,
                "store": arguments.store,
                "figures": figures,
                "machine": machine(),
                "versions": installed("ragloom", "numpy", "tantivy", "pymilvus", "milvus-lite"),
            }
            arguments.json.write_text(json.dumps(content, indent=2) + "\n", "utf-8")
    print(shown(figures))


if __name__ == "__main__":
    main()

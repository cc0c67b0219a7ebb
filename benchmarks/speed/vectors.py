"""What a scan of vectors in 24 bits costs beside one of float32, and whether it finds the nearest.

    python benchmarks/speed/vectors.py [--docs FOLDER|ZIP ...] [--sizes N,N] [--json FILE]

Random unit vectors of 384 dimensions are read from a mapped file, as a snapshot's are. Figures are medians
in milliseconds of processor time and on the wall; "beside" is measured while another process keeps each
core busy. Last, for how many queries the ten nearest of real passages are among the best of the scan.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numkong
import numpy as np
from embedding import passages
from processes import EXAMPLES, documents, installed, machine, median, table

from ragloom import Workspace
from ragloom.protocols import Embedder, Embeddings
from ragloom.snapshot.vector_codes import approximate, decode, encode

DIMENSION, ROUNDS, BATCH = 384, 21, 20_000
RESCORED, WIDE, NEAREST = 300, 1000, 10
CLUSTER, SPREAD = 100, 0.25  # vectors around a real one, and how far
BUSY = "while True: pass"
IMPORT = "import time, numpy; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"


def units(count: int, seed: int = 7) -> Embeddings:
    """``(count, DIMENSION)`` random vectors."""
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION), np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def timed(work: Callable[[], object]) -> list[float]:
    """Milliseconds of processor time and on the wall: medians."""
    work()
    busy, wall = [], []
    for _ in range(ROUNDS):
        started, begun = time.perf_counter(), time.process_time()
        work()
        busy.append(1000 * (time.process_time() - begun))
        wall.append(1000 * (time.perf_counter() - started))
    return [round(median(busy), 2), round(median(wall), 2)]


@contextmanager
def other_work() -> Iterator[None]:
    """A process for each core that does nothing but keep it busy."""
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def scan(size: int, folder: Path) -> dict[str, list[float]]:
    """The ways to scan ``size`` vectors."""
    shape = (size, DIMENSION)
    made = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", dtype, shape)
        for name, dtype in (("coarse", np.int8), ("fine", np.int16), ("whole", np.float32))
    }
    exponents = np.empty(size, np.int8)
    for start in range(0, size, BATCH):
        part = slice(start, min(size, start + BATCH))
        vectors = units(part.stop - start, seed=start)
        made["coarse"][part], made["fine"][part], exponents[part] = encode(vectors)
        made["whole"][part] = vectors
    coarse, fine, whole = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in made)
    query = units(1, seed=1)[0]
    rounded = (query * 127 / np.abs(query).max()).astype(np.int8)[None]
    rows = np.sort(np.random.default_rng(3).permutation(size)[:RESCORED])
    ways: dict[str, Callable[[], object]] = {
        "approximate": partial(approximate, coarse, exponents, query),
        "numkong, 1 thread": partial(numkong.cdist, rounded, coarse, "dot", threads=1),
        "numkong, 2 threads": partial(numkong.cdist, rounded, coarse, "dot", threads=2),
        "numkong, 2 threads, columns": partial(numkong.cdist, coarse, rounded, "dot", threads=2),
        "numpy float32, einsum": partial(np.einsum, "ij,j->i", whole, query),
        "numpy float32, BLAS": partial(np.matmul, whole, query),
        f"decode {RESCORED} rows": lambda: decode(coarse[rows], fine[rows], exponents[rows]),
    }
    figures = {name: timed(work) for name, work in ways.items()}
    with other_work():
        figures |= {f"{name}, beside": timed(work) for name, work in ways.items()}
    return figures


def found(vectors: Embeddings, queries: Embeddings) -> str:
    """For how many queries the nearest are among the best of the scan."""
    codes = encode(vectors)
    kept = decode(*codes)
    right = 0
    for query in queries:
        nearest = np.argsort(-np.einsum("ij,j->i", kept, query), kind="stable")[:NEAREST]
        best = np.argsort(-approximate(codes.coarse, codes.exponents, query), kind="stable")
        right += bool(np.isin(nearest, best[:WIDE]).all())
    return f"{right} of {len(queries)}"


def nearest_found(sources: list[Path], embedder: Embedder) -> dict[str, str]:
    """The same of random vectors, of real passages, and of clusters around them."""
    texts = [
        passage
        for source in sources
        for text in documents(source).values()
        for passage in passages(text, embedder.counter.count)
    ]
    real = embedder.embed_passages(texts)
    queries = np.array(
        [embedder.embed_query(text[:80]) for text in texts[:: len(texts) // 200 + 1]]
    )
    choose = np.random.default_rng(5)
    centres = real[choose.integers(0, len(real), 50_000 // CLUSTER)].repeat(CLUSTER, axis=0)
    around = centres + SPREAD * units(len(centres)) * choose.uniform(0, 2, (len(centres), 1))
    around = (around / np.linalg.norm(around, axis=1, keepdims=True)).astype(np.float32)
    return {
        "50000 random vectors": found(units(50_000), units(1000, seed=9)),
        f"{len(real)} passages": found(real, queries),
        f"{len(around)} around them": found(around, queries),
    }


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, nargs="+", default=[EXAMPLES])
    parser.add_argument("--sizes", default="50000,500000", help="vectors, separated by commas")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    figures: dict[str, object] = {"benchmark": "vectors"}
    loading = [
        float(subprocess.check_output([sys.executable, "-c", IMPORT.format("numkong")]))
        for _ in range(5)
    ]
    figures["import_ms"] = round(1000 * median(loading), 2)
    with tempfile.TemporaryDirectory() as made, Workspace.open(Path(made)).space() as space:
        sizes = {size: scan(int(size), Path(made)) for size in arguments.sizes.split(",")}
        figures["scan_ms"] = sizes
        figures["nearest_found"] = nearest_found(arguments.docs, space.embedder)
    figures["machine"] = machine()
    figures["versions"] = installed("ragloom", "numkong", "numpy")
    heads = ["processor time / wall, ms", *sizes]
    ways = next(iter(sizes.values()))
    rows = [
        [way, *(f"{sizes[size][way][0]} / {sizes[size][way][1]}" for size in sizes)] for way in ways
    ]
    print(table(heads, rows))
    print(json.dumps({name: figures[name] for name in ("import_ms", "nearest_found")}, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()

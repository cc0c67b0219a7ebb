"""What a search costs at 50,000 chunks.

    python benchmarks/speed/search.py [--docs FOLDER|ZIP] [--chunks N] [--json FILE]

Files are written from the words of real documents, in the proportions in which those use them, and
published as a snapshot; one chunk in fifty is a real passage with its real vector, the others have
random unit vectors. Every search is asked with a heading of the real documents. Measured are a
warm hybrid search with a fixed query vector, whether its dense part is exact, the whole way from
the question to a packed context, and the most memory of a process that searches once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from processes import EXAMPLES, documents, installed, machine, table

from ragloom import Query, Space, Workspace
from ragloom.config import SpaceSettings
from ragloom.protocols import Embedder, Embeddings, TokenCounter
from ragloom.retrieval.parsed_query import ParsedQuery
from ragloom.retrieval.ranking import find_candidates, order
from ragloom.retrieval.search import search
from ragloom.snapshot import GenerationWriter, Snapshot
from ragloom.snapshot.manifest import FileEntry, fingerprint
from ragloom.snapshot.segment import SegmentWriter, VectorWriter, pack
from ragloom.sources.loading import content_hash
from ragloom.types import Calibration, Chunk, Hit, Lines, Span

if TYPE_CHECKING:
    from pytest_benchmark.fixture import BenchmarkFixture

CHUNKS, CHUNKS_OF_A_FILE, WORDS_OF_A_CHUNK = 50_000, 100, 120
ONE_REAL_IN = 50
SEGMENT, FULL = "benchmark", "full.npy"
ROUNDS = 3
TARGETS = {
    "hybrid search, warm, without embedding": "< 15 ms",
    "question to packed context": "< 60 ms",
    "cold process, one search": "< 250 MiB",
}


@dataclass(frozen=True, slots=True)
class FixedVector:
    """An embedder that knows one vector, and costs nothing."""

    real: Embedder
    vector: Embeddings

    @property
    def fingerprint(self) -> str:
        """The real one's."""
        return self.real.fingerprint

    @property
    def dimension(self) -> int:
        """The real one's."""
        return self.real.dimension

    @property
    def counter(self) -> TokenCounter:
        """The real one's."""
        return self.real.counter

    @property
    def max_tokens(self) -> int:
        """The real one's."""
        return self.real.max_tokens

    @property
    def truncated(self) -> int:
        """None."""
        return 0

    @property
    def calibration(self) -> Calibration | None:
        """The real one's."""
        return self.real.calibration

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """The vector for every text."""
        return np.tile(self.vector, (len(texts), 1))

    def embed_query(self, text: str) -> Embeddings:  # noqa: ARG002 - its cost is left out
        """The vector."""
        return self.vector

    def close(self) -> None:
        """Nothing to give back."""


def synthetic(
    folder: Path, words: Sequence[str], real: Sequence[str], embedder: Embedder, chunks: int
) -> tuple[Embeddings, dict[str, FileEntry]]:
    """Files below ``folder``, and a segment of chunks that are exact slices of them, with their vectors."""
    choose = random.Random(7)  # noqa: S311 - the same text every time
    vectors = np.random.default_rng(7).standard_normal((chunks, embedder.dimension), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    places = range(0, min(chunks, len(real) * ONE_REAL_IN), ONE_REAL_IN)
    vectors[list(places)] = embedder.embed_passages(real[: len(places)])

    segment = SegmentWriter(folder / SEGMENT)
    files: dict[str, FileEntry] = {}
    for first in range(0, chunks, CHUNKS_OF_A_FILE):
        uri = f"docs/{first // CHUNKS_OF_A_FILE:04}.md"
        start = 0
        texts: list[str] = []
        for number in range(first, min(chunks, first + CHUNKS_OF_A_FILE)):
            text = (
                real[number // ONE_REAL_IN]
                if number in places
                else " ".join(choose.choices(words, k=WORDS_OF_A_CHUNK))
            )
            span, line = Span(start, start + len(text)), 2 * len(texts) + 1
            chunk = Chunk(
                id=hashlib.blake2b(f"{uri} {number}".encode(), digest_size=16).hexdigest(),
                uri=uri,
                text=text,
                span=span,
                lines=Lines(line, line),
                bytes=span,
                headings=(uri,),
                ordinal=len(texts),
                tokens=len(text.split()),
            )
            key = f"{number:032x}".encode()
            segment.add(uri, pack(chunk), chunk.id.encode(), key)
            texts.append(text)
            start += len(text) + 2
        path = folder / uri
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join(texts) + "\n", "ascii")
        files[uri] = FileEntry(
            uri=uri,
            fingerprint=fingerprint(path.stat()),
            content_hash=content_hash(path.read_bytes()),
            parts="",
            chunks=len(texts),
        )
    segment.close()
    filled = VectorWriter(chunks, embedder.dimension)
    filled.put(np.arange(chunks), vectors)
    filled.write(folder / SEGMENT)
    return vectors, files


def build(folder: Path, source: Path, chunks: int) -> Sequence[str]:
    """A workspace in ``folder`` with one index of ``chunks`` chunks; the questions to ask it."""
    texts = list(documents(source).values())
    plain = [" ".join(part.split()) for text in texts for part in re.split(r"\n\s*\n", text)]
    real = [part.encode("ascii", "ignore").decode() for part in plain if 200 < len(part) < 900]
    words = re.findall(r"[A-Za-z][A-Za-z0-9_]+", " ".join(texts))
    headings = re.findall(r"(?m)^#{1,3} ([A-Za-z][^\n#`\[]{12,70})$", "\n".join(texts))
    questions = sorted(set(headings))
    space = Workspace.open(folder).space()
    vectors, files = synthetic(folder, words, real, space.embedder, chunks)
    np.save(folder / FULL, vectors)
    space.directory.mkdir(parents=True)
    with GenerationWriter(
        space.directory,
        previous=None,
        files=files,
        dimension=space.embedder.dimension,
        dropped=np.empty(0, np.intp),
    ) as writer:
        writer.adopt(folder / SEGMENT)
        writer.build(
            embedder=space.embedder.fingerprint, store=space.store.fingerprint, searchable=False
        )
        writer.publish()
    return questions[:: max(1, len(questions) // 100)][:100]


def milliseconds(work: Callable[[str], object], questions: Sequence[str]) -> dict[str, float]:
    """Median and 95th percentile over the questions, after one that is not counted.

    ``cpu`` is the median of this process's own time, which other work on the machine changes little.
    """
    work(questions[0])
    taken = []
    busy = []
    for question in list(questions) * ROUNDS:
        started, begun = time.perf_counter(), time.process_time()
        work(question)
        busy.append(1000 * (time.process_time() - begun))
        taken.append(1000 * (time.perf_counter() - started))
    p50, p95 = np.percentile(taken, (50, 95))
    cpu = float(np.median(busy))
    return {"p50": round(float(p50), 2), "p95": round(float(p95), 2), "cpu": round(cpu, 2)}


def exact(
    snapshot: Snapshot, vectors: Embeddings, embedder: Embedder, questions: Sequence[str]
) -> int:
    """For how many questions the dense part's ten best are those of a full sort of the float32 vectors."""
    right = 0
    for question in questions:
        cosine = vectors @ embedder.embed_query(question)
        expected = np.lexsort((snapshot.ids, -cosine))[:10]
        query = ParsedQuery(text=question, words=(), terms={})
        nearest = find_candidates(query, snapshot=snapshot, embedder=embedder, mode="dense")
        found = order([nearest], "dense")[0].rows[:10]
        right += bool(np.array_equal(expected, found))
    return right


def parts(snapshot: Snapshot, vector: Embeddings, questions: Sequence[str]) -> dict[str, float]:
    """Where a hybrid search spends its time: medians in milliseconds."""
    lexical = snapshot.lexical
    return {
        "dense scan": milliseconds(lambda _: snapshot.approximate(vector), questions)["p50"],
        "words": milliseconds(
            lambda question: lexical.search(lexical.query_terms(question), limit=1000), questions
        )["p50"],
    }


def cold(folder: Path, question: str) -> list[float]:
    """Peak MiB and seconds of three processes that search once, started by a small one."""
    command = [sys.executable, "-m", "ragloom", "search", question, "--no-refresh"]
    code = (
        "import json, pathlib, processes as p, sys\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        "runs = [p.measured(sys.argv[2:], folder=folder, scratch=folder) for _ in range(3)]\n"
        "print(json.dumps([max(r.peak_mb for r in runs), p.median(r.seconds for r in runs)]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), *command],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    peak, seconds = json.loads(done.stdout)
    return [float(peak), float(seconds)]


def measure(folder: Path, questions: Sequence[str]) -> dict[str, object]:
    """Every figure, as it is written to JSON."""
    peak, seconds = cold(folder, questions[0])  # before this process warms anything but the files
    with Workspace.open(folder).space() as space:
        snapshot = space.snapshot()
        vectors = np.load(folder / FULL, mmap_mode="r")
        vector = space.embedder.embed_query("How are services traced across process boundaries?")
        stub = FixedVector(space.embedder, vector)
        return {
            "benchmark": "search",
            "chunks": len(snapshot),
            "questions": len(questions),
            "hybrid_ms": milliseconds(lambda asked: ask(snapshot, stub, asked), questions),
            "parts_ms": parts(snapshot, vector, questions),
            "exact_top_10": f"{exact(snapshot, vectors, space.embedder, questions)} of {len(questions)}",
            "search_with_embedding_ms": milliseconds(space.search, questions),
            "context_ms": milliseconds(context_of(space), questions),
            "cold_search_peak_mb": round(peak, 1),
            "cold_search_seconds": round(seconds, 3),
            "machine": machine(),
            "versions": installed("ragloom", "numpy", "tantivy", "onnxruntime", "tokenizers"),
        }


@dataclass(frozen=True, slots=True)
class Memory:
    """What answers without a look at the files."""

    opened: Snapshot
    embedder: Embedder
    name: str = "default"
    settings: SpaceSettings = SpaceSettings()  # noqa: RUF009 - frozen
    reranker: None = None
    narrowing: tuple[()] = ()

    def snapshot(self) -> Snapshot:
        """The generation."""
        return self.opened

    def native(self) -> None:
        """No store is searched."""

    def calibration(self) -> None:
        """The embedder's own."""

    def complete(self, rows: object) -> None:
        """Every chunk has its vector."""

    def follow(self, hit: Hit) -> Hit:
        """The hit, unchecked."""
        return hit


def ask(snapshot: Snapshot, embedder: Embedder, question: str) -> object:
    """One hybrid search at the default gate."""
    return search(Query(question), Memory(snapshot, embedder))


def context_of(space: Space) -> Callable[[str], object]:
    """The whole way: embedding, search, gate and packing; the gate open, so that there is much to pack."""
    return lambda question: space.context(question, max_tokens=4000, min_relevance=0.0)


def test_search(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    """A warm hybrid search, timed by pytest-benchmark; the other figures beside it."""
    questions = build(tmp_path, EXAMPLES, CHUNKS)
    figures = measure(tmp_path, questions)
    benchmark.extra_info.update(figures)
    with Workspace.open(tmp_path).space() as space:
        snapshot = space.snapshot()
        stub = FixedVector(space.embedder, space.embedder.embed_query(questions[0]))
        every = cycle(questions)
        benchmark(lambda: ask(snapshot, stub, next(every)))
    print(shown(figures))
    assert figures["exact_top_10"] == f"{len(questions)} of {len(questions)}"


def shown(figures: Mapping[str, object]) -> str:
    """The figures beside their targets."""
    measured = (figures["hybrid_ms"], figures["context_ms"], figures["cold_search_peak_mb"])
    rows = [
        [name, target, str(value)]
        for (name, target), value in zip(TARGETS.items(), measured, strict=True)
    ]
    rows.append(["ten best of the dense part exact", "all", str(figures["exact_top_10"])])
    return table((f"at {figures['chunks']} chunks", "target", "measured"), rows)


def main() -> None:
    """Build, measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=Path, default=EXAMPLES, help="folder or zip of Markdown")
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        start = time.perf_counter()
        questions = build(Path(made), arguments.docs, arguments.chunks)
        print(f"built in {time.perf_counter() - start:.0f} s", file=sys.stderr)
        figures = measure(Path(made), questions)
    print(shown(figures))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()

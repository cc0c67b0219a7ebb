"""How fast documents are cut.

    python benchmarks/speed/chunking.py [FOLDER_OR_ZIP…] [--json FILE]

For each chunker prints megabytes a second over all Markdown of the arguments (source code for the
chunker ``code``: this Python's standard library), best of three, in processor time: of cutting
alone, and with ids, lines, bytes and tokens made. Then milliseconds for one document of 10,000
lines, made of the same files. Token limits are those of the bundled model.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import sysconfig
import time
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "quality"))

from verify_collections import LIMIT, embedder_counter, parts

from ragloom import Chunker, Document, Source, TokenCounter
from ragloom.text.chunks import make_chunks
from ragloom_markdown.loader import MarkdownLoader
from ragloom_text.plain import CodeLoader

EXAMPLES = Path(__file__).parents[2] / "examples" / "docs"
LINES = 10_000
PACKAGES = ("pyromark", "tokenizers", "tree-sitter-language-pack", "tiktoken")


def markdown(paths: list[Path]) -> Iterator[Document]:
    """Every Markdown file in folders and archives, sorted."""
    loader = MarkdownLoader()
    for path in paths:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                for name in sorted(archive.namelist()):
                    if name.endswith(".md"):
                        yield loader.load(Source(uri=name, path=Path(name)), archive.read(name))
        else:
            for file in sorted(path.rglob("*.md")):
                yield loader.load(Source(uri=file.name, path=file), file.read_bytes())


def code() -> Iterator[Document]:
    """The modules of the standard library."""
    loader = CodeLoader()
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        yield loader.load(Source(uri=file.name, path=file), file.read_bytes())


def best(work: Callable[[], object], *, times: int = 3) -> float:
    """The fewest seconds of processor time that ``work`` takes; waiting for others does not count."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def long_document(documents: list[Document]) -> Document:
    """One document of 10,000 lines, from the beginning of the collection."""
    lines: list[str] = []
    for document in documents:
        lines += document.text.splitlines(keepends=True)
        if len(lines) >= LINES:
            break
    kind = documents[0].media_type
    return Document(uri="long", text="".join(lines[:LINES]), media_type=kind)


def measure(chunker: Chunker, documents: list[Document], counter: TokenCounter) -> dict[str, float]:
    """The figures of one chunker."""
    size = sum(len(document.text.encode()) for document in documents)
    found = 0

    def cut() -> None:
        for document in documents:
            list(chunker.split(document, counter=counter, max_tokens=LIMIT))

    def make() -> None:
        nonlocal found
        found = 0
        for document in documents:
            pieces = chunker.split(document, counter=counter, max_tokens=LIMIT)
            found += len(make_chunks(document, pieces, counter))

    long = long_document(documents)
    return {
        "megabytes": round(size / 1e6, 2),
        "cut_mb_s": round(size / best(cut) / 1e6, 2),
        "chunks_mb_s": round(size / best(make) / 1e6, 2),
        "chunks": found,
        "long_lines": long.text.count("\n"),
        "long_kb": round(len(long.text.encode()) / 1e3),
        "long_ms": round(
            1e3
            * best(
                lambda: make_chunks(
                    long, chunker.split(long, counter=counter, max_tokens=LIMIT), counter
                )
            )
        ),
    }


def main() -> None:
    """Read the arguments and print JSON."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("paths", type=Path, nargs="*", default=[EXAMPLES])
    arguments.add_argument("--json", type=Path, help="also write the figures here")
    arguments.add_argument("--chunker", action="append", help="only this one; may be repeated")
    options = arguments.parse_args()
    counter = embedder_counter()
    prose, source_code = list(markdown(options.paths)), list(code())
    figures = {
        name: measure(chunker, source_code if name == "code" else prose, counter)
        for name, chunker in parts()[1].items()
        if not options.chunker or name in options.chunker
    }
    installed = {distribution.name for distribution in metadata.distributions()}
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in PACKAGES if name in installed},
        "counter": counter.name,
        "chunkers": figures,
    }
    print(json.dumps(report, indent=2))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Whether every chunk of real collections is what its file says, for each chunker.

    python benchmarks/quality/verify_collections.py FOLDER [--json FILE]

Reads every file in the zip archives below FOLDER with the loader for its ending, cuts it with each
chunker, and proves each chunk against the bytes of the file: text, lines and bytes. A chunk that is
longer than asked for, text that no chunk covers, and ids given twice are counted as well. Prints how
many of how many, and exits with 1 unless it is all of them.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path, PurePosixPath

import ragloom_markdown
import ragloom_text
from ragloom import Chunk, Chunker, Document, Loader, Source, SourceError, TokenCounter
from ragloom.retrieval.verify import verify_chunks
from ragloom.text.chunks import make_chunks

LIMIT = 256


@dataclass
class Tally:
    """What was found of one chunker."""

    files: int = 0
    chunks: int = 0
    exact: int = 0
    too_long: int = 0
    uncovered: int = 0
    same_id: int = 0
    why: Counter[str] = field(default_factory=Counter)


def embedder_counter() -> TokenCounter:
    """The bundled model's tokenizer, or words and signs where it is not installed."""
    try:
        from tokenizers import Tokenizer

        from ragloom_onnx.counter import counter_for
    except ImportError:
        from ragloom.testing.fakes import RegexCounter

        return RegexCounter()
    folder = Path(sys.modules["ragloom_onnx"].__file__ or "").parent
    tokenizer = Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return counter_for("bundled", tokenizer)


def parts() -> tuple[dict[str, Loader], dict[str, Chunker]]:
    """Every loader by ending and every chunker by name that can be made here."""
    plugins = (ragloom_markdown, ragloom_text)
    loaders = [provider for plugin in plugins for provider in plugin.ragloom_loaders()]
    made = [provider.create(provider.options()) for provider in loaders]
    chunkers: dict[str, Chunker] = {}
    for plugin in plugins:
        for provider in plugin.ragloom_chunkers():
            chunkers[provider.name] = provider.create(provider.options())
    return {ending: loader for loader in made for ending in loader.suffixes}, chunkers


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every file in every archive, sorted."""
    for path in sorted(folder.rglob("*.zip")):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if not name.endswith("/"):
                    yield f"{path.stem}/{name}", archive.read(name)


def examine(tally: Tally, document: Document, chunks: list[Chunk], content: bytes) -> None:
    """Add one file's chunks to the tally."""
    decoded = document.prefix + document.text
    encoding = document.encoding
    if document.extracted:
        content, encoding = decoded.encode(), "utf-8"
    tally.files += 1
    tally.chunks += len(chunks)
    tally.same_id += len(chunks) - len({chunk.id for chunk in chunks})
    position = len(document.prefix)
    for chunk, why in zip(chunks, verify_chunks(chunks, document), strict=True):
        if why is None and content[slice(*chunk.bytes)].decode(encoding) != chunk.text:
            why = "the bytes on disk differ"  # noqa: PLW2901 - a second proof, from the bytes
        tally.exact += why is None
        tally.too_long += chunk.tokens > LIMIT
        tally.why[why or ""] += why is not None
        tally.uncovered += bool(decoded[position : chunk.span.start].strip())
        position = max(position, chunk.span.end)
    tally.uncovered += bool(decoded[position:].strip())


def main() -> int:
    """Read the arguments and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--json", type=Path, help="also write the figures here")
    options = arguments.parse_args()
    counter = embedder_counter()
    loaders, chunkers = parts()
    tallies = {name: Tally() for name in chunkers}
    refused: dict[str, str] = {}
    for name, content in files(options.folder):
        loader = loaders.get(PurePosixPath(name).suffix.lower())
        if loader is None:
            continue
        try:
            document = loader.load(Source(uri=name, path=Path(name)), content)
        except SourceError as error:
            refused[name] = str(error)
            continue
        for chunker_name, chunker in chunkers.items():
            pieces = chunker.split(document, counter=counter, max_tokens=LIMIT)
            chunks = make_chunks(document, pieces, counter)
            examine(tallies[chunker_name], document, chunks, content)
    for name, tally in tallies.items():
        print(
            f"{name}: {tally.exact} of {tally.chunks} chunks of {tally.files} files are exact; "
            f"{tally.too_long} longer than {LIMIT} tokens, {tally.uncovered} gaps, "
            f"{tally.same_id} ids given twice"
        )
    for name, reason in refused.items():
        print(f"refused {name}: {reason}")
    if options.json:
        packages = ("ragloom", "pyromark", "tokenizers")
        figures = {
            "machine": f"{platform.machine()} {platform.python_version()}",
            "versions": {package: metadata.version(package) for package in packages},
            "refused": refused,
            "chunkers": {
                name: {
                    "files": tally.files,
                    "chunks": tally.chunks,
                    "exact": tally.exact,
                    "too_long": tally.too_long,
                    "uncovered": tally.uncovered,
                    "same_id": tally.same_id,
                }
                for name, tally in tallies.items()
            },
        }
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    faults = sum(
        tally.chunks - tally.exact + tally.too_long + tally.uncovered + tally.same_id
        for tally in tallies.values()
    )
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())

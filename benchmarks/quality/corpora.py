"""What the quality benchmarks share: a corpus, indexed and searched as the command line does it."""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ragloom import Hit, Query, SpaceGroup, Workspace

sys.path.append(str(Path(__file__).parents[1] / "speed"))
from processes import EXAMPLES, installed, machine, table

__all__ = [
    "EXAMPLES",
    "FIRST",
    "Corpus",
    "corpora_below",
    "indexed",
    "note",
    "opened",
    "percent",
    "state_folder",
    "table",
    "write_json",
]

FIRST = 5
"""A right file counts when it is among so many hits."""
PACKAGES = ("ragloom", "numpy", "tantivy", "onnxruntime", "tokenizers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Files, and the index that holds them.

    Attributes:
        name: The zip file's or folder's.
        texts: By path, as ``grep`` sees them.
        group: Answers as ``ragloom search`` does.
    """

    name: str
    texts: Mapping[str, str]
    group: SpaceGroup

    def files(
        self, text: str, *, top_k: int | None = None, min_relevance: float | None = None
    ) -> Sequence[str]:
        """The files of the hits, best first, a file for each hit."""
        query = Query(text, top_k=top_k, min_relevance=min_relevance)
        return [hit.chunk.uri for hit in self.group.search(query).hits]

    def first(self, text: str, *, min_relevance: float | None = None) -> Sequence[Hit]:
        """The first five hits at defaults."""
        return self.group.search(Query(text, min_relevance=min_relevance)).hits[:FIRST]


def contents(source: Path) -> dict[str, bytes]:
    """Every file of a folder or zip file by path, sorted; no hidden files, and no settings.

    Raises:
        SystemExit: There is none.
    """
    if source.suffix == ".zip" and source.is_file():
        with zipfile.ZipFile(source) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            found = {name: archive.read(name) for name in names}
    else:
        paths = [path for path in source.rglob("*") if path.is_file()]
        found = {path.relative_to(source).as_posix(): path.read_bytes() for path in paths}
    kept = {name: found[name] for name in sorted(found) if _is_content(name)}
    if not kept:
        sys.exit(f"{source}: no files; expected a folder or a zip file")
    return kept


def _is_content(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith(".") for part in parts)
    return not hidden and parts[0] not in ("ragloom.yaml", "ragloom.yml", "/")


def _write(files: Mapping[str, bytes], folder: Path) -> None:
    """Make ``folder`` hold these files and no others; what is the same already stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and _is_content(name) and name not in files:
            path.unlink()
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


@contextmanager
def opened(source: Path, state: Path) -> Iterator[Corpus]:
    """A corpus, its files and index in a folder of its name below ``state``, brought up to date."""
    files = contents(source)
    name = source.resolve().stem
    folder = state / name
    _write(files, folder)
    with SpaceGroup([Workspace.open(folder).space()]) as group:
        for space in group.spaces:
            report = space.index()
            note(f"{name}: {report.chunks} chunks of {len(files)} files, {report.seconds:.1f} s")
        texts = {path: content.decode("utf-8", "replace") for path, content in files.items()}
        yield Corpus(name=name, texts=texts, group=group)


def indexed(corpus: Corpus) -> Mapping[str, str]:
    """What chunks hold, by file: texts, headings and what is embedded before them."""
    parts: dict[str, list[str]] = {}
    for space in corpus.group.spaces:
        snapshot = space.snapshot()
        for row in range(len(snapshot)):
            chunk = snapshot.chunk(row)
            held = parts.setdefault(chunk.uri, [])
            held += [chunk.text, chunk.context, *chunk.headings]
    return {uri: "\n".join(held) for uri, held in parts.items()}


def corpora_below(folder: Path) -> Sequence[Path]:
    """The zip files at or below a folder, sorted by name."""
    return sorted(folder.rglob("*.zip"), key=lambda path: (path.stem, path))


@contextmanager
def state_folder(chosen: Path | None) -> Iterator[Path]:
    """The folder that keeps indexes, or one that lasts as long as the measurement."""
    if chosen is not None:
        yield chosen
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


def note(message: str) -> None:
    """Progress, on stderr."""
    print(message, file=sys.stderr, flush=True)


def percent(count: int, of: int) -> str:
    """``19 of 20 (95.0%)``; ``-`` of none."""
    return f"{count} of {of} ({count / of:.1%})" if of else "-"


def write_json(path: Path | None, benchmark: str, **figures: object) -> None:
    """Write figures with the machine and the versions, where a file is given."""
    if path is not None:
        whole = {
            "benchmark": benchmark,
            **figures,
            "machine": machine(),
            "versions": installed(*PACKAGES),
        }
        path.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")

"""Opening a generation and asking it."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tokenize import TokenError
from zipfile import BadZipFile
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ragloom._manifest import FileEntry, read_files
from ragloom.errors import NotIndexedError, StoreDamagedError
from ragloom.protocols import Embeddings
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.types import Chunk, Lines, Span

__all__ = ["FORMAT", "Meta", "Snapshot", "checksum", "chunk_line", "current_name", "last_meta"]

FORMAT = 1
_ATTEMPTS = 5
_MAPPED = frozenset({"chunks.jsonl", "vectors.npy"})  # too large to be read whole at every opening
_READ_AT_ONCE = 1 << 20  # bytes
_HEADER = (SyntaxError, TokenError)  # of numpy's, which are read as Python
_UNREADABLE = (
    OSError,
    EOFError,
    BadZipFile,
    RecursionError,
    ValueError,
    TypeError,
    LookupError,
    *_HEADER,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What a generation says of itself; ``checksums`` holds the CRC-32 of every other file."""

    format: int
    generation: int
    rows: int
    dimension: int
    next_serial: int
    embedder: str
    store: str
    created: float
    checksums: Mapping[str, int] = field(default_factory=dict)


def chunk_line(chunk: Chunk) -> bytes:
    """A chunk as a line of ``chunks.jsonl``; its metadata stands in the manifest, once a file."""
    row = [
        chunk.text,
        chunk.context,
        [*chunk.span, *chunk.lines, *chunk.bytes],
        chunk.ordinal,
        chunk.tokens,
        chunk.headings,
    ]
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Snapshot:
    """One generation, open for reading.

    Everything that is read later is opened here, so it keeps answering after newer generations have
    been published and its files are gone.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        with self._named_damage():
            self.meta: Meta = _read_meta(directory)
            self._compare(self.meta.checksums.keys() - _MAPPED)
            self.vectors: Embeddings = np.load(directory / "vectors.npy", mmap_mode="r")
            self._offsets = np.load(directory / "chunks.npy", mmap_mode="r")
            with np.load(directory / "columns.npz") as columns:
                self.serials: npt.NDArray[np.uint64] = columns["serials"]
                self.ids: npt.NDArray[np.bytes_] = columns["ids"]
                self.keys: npt.NDArray[np.bytes_] = columns["keys"]
                self.file_of_row: npt.NDArray[np.int32] = columns["files"]
            with (directory / "chunks.jsonl").open("rb") as lines:
                self._lines = (
                    mmap.mmap(lines.fileno(), 0, access=mmap.ACCESS_READ) if len(self.ids) else b""
                )
            shape = (self.meta.rows, self.meta.dimension)
            if self.vectors.shape != shape or len(self._lines) != self._offsets[-1]:
                raise ValueError(f"it does not hold {shape[0]} chunks with vectors of {shape[1]}")
            self._manifest = (directory / "files.json").read_bytes()
            self.lexical: LexicalIndex = LexicalIndex(directory / "lexical")

    @classmethod
    def open_current(cls, space_directory: Path) -> Snapshot:
        """Open the generation that ``CURRENT`` names.

        Raises:
            NotIndexedError: There is none yet.
            StoreDamagedError: It does not open.
        """
        name = current_name(space_directory)
        for attempt in range(_ATTEMPTS):
            if name is None:
                break
            try:
                return cls(space_directory / name)
            except StoreDamagedError:
                newer = current_name(space_directory)
                if newer == name or attempt == _ATTEMPTS - 1:
                    raise
                name = newer  # replaced while it was being opened
        message = f"nothing is indexed in {space_directory.name!r} yet: run 'ragloom index'"
        raise NotIndexedError(message)

    def __len__(self) -> int:
        """Chunks in the generation."""
        return self.meta.rows

    def check(self) -> None:
        """Compare those files, too, that are opened without being read.

        Raises:
            StoreDamagedError: One is not as it was written.
        """
        with self._named_damage():
            self._compare(self.meta.checksums.keys() & _MAPPED)

    def _compare(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if checksum(self.directory / name) != self.meta.checksums[name]:
                raise ValueError(f"{name} is not as it was written")

    @contextmanager
    def _named_damage(self) -> Iterator[None]:
        try:
            yield
        except _UNREADABLE as error:
            raise _damaged(self.directory, error) from error

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """The manifest, by uri."""
        with self._named_damage():
            return read_files(self._manifest)

    @cached_property
    def uris(self) -> Sequence[str]:
        """The files' uris, in the order that ``file_of_row`` counts."""
        return list(self.files)

    @cached_property
    def row_of_id(self) -> Mapping[str, int]:
        """Rows by chunk id."""
        return {value.decode("ascii"): row for row, value in enumerate(self.ids)}

    def line(self, row: int) -> bytes:
        """The raw line of a row."""
        return self._lines[int(self._offsets[row]) : int(self._offsets[row + 1])]

    def chunk(self, row: int) -> Chunk:
        """The chunk in a row."""
        with self._named_damage():
            text, context, (s0, s1, l0, l1, b0, b1), ordinal, tokens, headings = json.loads(
                self.line(row)
            )
        uri = self.uris[self.file_of_row[row]]
        return Chunk(
            id=self.ids[row].decode("ascii"),
            uri=uri,
            text=text,
            span=Span(s0, s1),
            lines=Lines(l0, l1),
            bytes=Span(b0, b1),
            headings=tuple(headings),
            ordinal=ordinal,
            tokens=tokens,
            context=context,
            metadata=self.files[uri].metadata,
        )

    def rows_of_serials(self, serials: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
        """Rows of serial numbers that the lexical index gave."""
        return np.searchsorted(self.serials, serials)

    def cosines(
        self, query: Embeddings, rows: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.float32]:
        """``(n,)`` float32: the exact cosine of every row, or of some, with a query of unit length.

        Memory bounds the scan, so that BLAS would gain a millisecond from a second thread and lose
        tens of them waiting for it where another process holds the core: einsum stays in this one.
        """
        vectors = self.vectors if rows is None else self.vectors[rows]
        scores: npt.NDArray[np.float32] = np.einsum("ij,j->i", vectors, query)
        return scores


def checksum(path: Path) -> int:
    """The CRC-32 of a file."""
    value = 0
    with path.open("rb") as stream:
        while block := stream.read(_READ_AT_ONCE):
            value = crc32(block, value)
    return value


def current_name(space_directory: Path) -> str | None:
    """The folder that ``CURRENT`` names; None where there is no generation yet.

    Raises:
        StoreDamagedError: It names none.
    """
    path = space_directory / "CURRENT"
    try:
        name = path.read_bytes().strip()
    except FileNotFoundError:
        return None
    if not re.fullmatch(rb"gen-\d+", name):
        raise _damaged(path, "it names no generation")
    return name.decode("ascii")


def last_meta(space_directory: Path) -> Meta | None:
    """What the newest generation that still can says of itself."""
    for path in sorted(space_directory.glob("gen-*/meta.json"), reverse=True):
        try:
            return _read_meta(path.parent)
        except _UNREADABLE:
            continue
    return None


def _read_meta(directory: Path) -> Meta:
    return Meta(**json.loads((directory / "meta.json").read_bytes()))


def _damaged(path: Path, why: object) -> StoreDamagedError:
    return StoreDamagedError(
        f"{path} is damaged ({' '.join(str(why).split())}): index again, with 'ragloom index' or the "
        "command of the plugin whose space it is, and it is made anew"
    )

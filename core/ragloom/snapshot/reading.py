"""Opening a generation and asking it."""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom._manifest import FileEntry, read_files
from ragloom.errors import NotIndexedError, StoreDamagedError
from ragloom.protocols import Embeddings
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.types import Chunk, Lines, Span

__all__ = ["FORMAT", "Meta", "Snapshot", "chunk_line"]

FORMAT = 1
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Meta:
    """What a generation says of itself."""

    format: int
    generation: int
    rows: int
    dimension: int
    next_serial: int
    embedder: str
    store: str
    created: float


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
        try:
            self.meta: Meta = Meta(**json.loads((directory / "meta.json").read_bytes()))
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
            self._manifest = (directory / "files.json").read_bytes()
            self.lexical: LexicalIndex = LexicalIndex(directory / "lexical")
        except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
            message = f"snapshot {directory} does not open ({error}): run 'ragloom repair'"
            raise StoreDamagedError(message) from error

    @classmethod
    def open_current(cls, space_directory: Path) -> Snapshot:
        """Open the generation that ``CURRENT`` names.

        Raises:
            NotIndexedError: There is none yet.
            StoreDamagedError: It does not open.
        """
        name = _current(space_directory)
        for attempt in range(_ATTEMPTS):
            if name is None:
                break
            try:
                return cls(space_directory / name)
            except StoreDamagedError:
                newer = _current(space_directory)
                if newer == name or attempt == _ATTEMPTS - 1:
                    raise
                name = newer  # replaced while it was being opened
        message = f"nothing is indexed in {space_directory.name!r} yet: run 'ragloom index'"
        raise NotIndexedError(message)

    def __len__(self) -> int:
        """Chunks in the generation."""
        return self.meta.rows

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """The manifest, by uri."""
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


def _current(space_directory: Path) -> str | None:
    """The folder that ``CURRENT`` names."""
    try:
        return (space_directory / "CURRENT").read_text("ascii").strip()
    except FileNotFoundError:
        return None

"""Open a generation and search it."""

from __future__ import annotations

import json
import mmap
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from tokenize import TokenError
from typing import Any, cast
from zipfile import BadZipFile
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError, StoreDamagedError, StoreError, StoreOutdatedError
from ragloom.protocols import Embeddings
from ragloom.snapshot.columns import Columns
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.manifest import SEEN_NAME, FileEntry, read_files, write_seen
from ragloom.stores.faults import entries_of, fault_error, fault_of, is_folder
from ragloom.stores.formats import check_format
from ragloom.text.parsing import parse_json
from ragloom.types import Chunk, Lines, Span

FORMAT = 3  # 3: words of every script, the languages of the documents, and an index of whole files
LEXICAL, FILE_LEXICAL = "lexical", "lexical-files"  # of chunks, and of whole files
_ATTEMPTS = 5
_GENERATION = re.compile(r"gen-([0-9]+)")
_MAPPED = frozenset({"chunks.jsonl", "vectors.npy"})  # too large to be read whole at every opening
_READ_AT_ONCE = 1 << 20  # bytes
_HEADER = (SyntaxError, TokenError)  # of numpy's, which are read as Python
_REBUILD = (
    ": index again with 'ragloom index', or the command of the plugin whose space it is, "
    "to rebuild it"
)
_UNREADABLE = (
    *(OSError, MemoryError),  # a missing file, or a fault of the machine
    *(EOFError, BadZipFile, ValueError, TypeError, LookupError, *_HEADER),
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
    release: str = ""
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
            read = _read_meta(directory)
            _check_format(directory, read)
            self.meta: Meta = Meta(**read)
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
            if any(self.serials[-1:] >= self.meta.next_serial):
                raise ValueError("it would give a serial number twice")
            self._manifest = (directory / "files.json").read_bytes()
            self._seen = b""
            with suppress(FileNotFoundError):
                self._seen = (directory / SEEN_NAME).read_bytes()
            self.lexical: LexicalIndex = LexicalIndex(directory / LEXICAL)
            self.file_lexical: LexicalIndex = LexicalIndex(directory / FILE_LEXICAL)

    @classmethod
    def open_current(cls, space_directory: Path) -> Snapshot:
        """Open the generation that ``CURRENT`` names, or where it names none the newest that is whole.

        Raises:
            NotIndexedError: There is none yet.
            StoreDamagedError: None opens; a StoreOutdatedError where an older ragloom wrote it.
            StoreError: A newer ragloom wrote it, or the machine keeps it from being read.
        """
        found = generations(space_directory)
        for attempt in range(_ATTEMPTS):
            damage: StoreDamagedError | None = None
            for directory in found:
                try:
                    return cls(directory)
                except StoreDamagedError as error:
                    damage = damage or error
            newer = generations(space_directory)
            if damage and (newer == found or attempt == _ATTEMPTS - 1):
                raise damage
            found = newer  # replaced while they were being opened
            if not found:
                break
        pointer = space_directory / "CURRENT"
        if pointer.exists():
            raise _damaged(pointer, "there is no generation beside it")
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
            raise _unreadable(self.directory, error) from error

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """The manifest, by uri."""
        with self._named_damage():
            return read_files(self._manifest, self._seen)

    def note_seen(self, files: Mapping[str, FileEntry]) -> None:
        """Keep the fingerprints of files that were read again and are what they were.

        Args:
            files: The whole manifest, of the same contents. What the next run would not trust is omitted.
        """
        if not any(_learnt(entry, self.files) for entry in files.values()):
            return
        before = read_files(self._manifest)
        learnt = [entry for entry in files.values() if _learnt(entry, before)]
        with suppress(OSError):  # read-only, or replaced: then the files are read once more
            write_seen(self.directory / SEEN_NAME, learnt)

    @cached_property
    def uris(self) -> Sequence[str]:
        """The files' uris, in the order that ``file_of_row`` counts."""
        return list(self.files)

    @cached_property
    def columns(self) -> Columns:
        """What the files hold, in the order that ``file_of_row`` counts."""
        return Columns([(uri, entry.metadata) for uri, entry in self.files.items()])

    @cached_property
    def contents(self) -> str:
        """Names its chunks and their embeddings: the same wherever they are the same."""
        return contents(self.ids, self.keys)

    @cached_property
    def first_rows(self) -> npt.NDArray[np.intp]:
        """``(f,)``: the first row of each file; 0 for a file without any."""
        rows = np.zeros(len(self.uris), np.intp)
        numbers, first = np.unique(self.file_of_row, return_index=True)
        rows[numbers] = first
        return rows

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
            read = cast("tuple[Any, ...]", parse_json(self.line(row)))
            text, context, (s0, s1, l0, l1, b0, b1), ordinal, tokens, headings = read
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


def contents(ids: npt.NDArray[np.bytes_], keys: npt.NDArray[np.bytes_]) -> str:
    """32 hex digits naming a set of chunks and their embeddings, in whatever order."""
    order = np.argsort(ids)
    return blake2b(ids[order].tobytes() + keys[order].tobytes(), digest_size=16).hexdigest()


def current(space_directory: Path) -> Path | None:
    """The generation that ``CURRENT`` names, there or not; None where it is lost or names none.

    Raises:
        StoreError: The machine keeps it from being read.
    """
    pointer = space_directory / "CURRENT"
    try:
        name = pointer.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        if fault := fault_of(error):
            raise fault_error(pointer, fault) from error
        return None
    return space_directory / name if _GENERATION.fullmatch(name) else None


def generations(space_directory: Path) -> Sequence[Path]:
    """The generations to be opened, best first: the one that ``CURRENT`` names, and that alone.

    Where it names none that is there, these are all of them: a pointer alone hides nothing.
    """
    named = current(space_directory)
    return [named] if named and is_folder(named) else all_generations(space_directory)


def all_generations(space_directory: Path) -> Sequence[Path]:
    """All that are there, the newest first, whichever ``CURRENT`` names."""
    named = _numbered(space_directory)
    return [one for one in named if _GENERATION.fullmatch(one.name) and is_folder(one)]


def last_meta(space_directory: Path) -> Meta | None:
    """What the newest generation says of itself, damaged or not; None where that cannot be read."""
    found = _numbered(space_directory)
    try:
        return Meta(**_read_meta(found[0])) if found else None
    except _UNREADABLE as error:
        if fault := fault_of(error):
            raise fault_error(found[0], fault) from error
        return None


def last_number(space_directory: Path) -> int:
    """The highest number so far: that of a lost one is not used again, or readers would not see it."""
    named = current(space_directory)
    found = [*_numbered(space_directory)[:1], *([named] if named else [])]
    return max((_number(entry) for entry in found), default=0)


def _numbered(space_directory: Path) -> Sequence[Path]:
    """What is or was a generation, the newest first."""
    entries = entries_of(space_directory)
    written = [one for one in entries if _GENERATION.match(one.name) and one.suffix != ".tmp"]
    return sorted(written, key=lambda entry: (_number(entry), entry), reverse=True)


def _number(entry: Path) -> int:
    match = _GENERATION.match(entry.name)
    return int(match[1]) if match else 0


def _learnt(entry: FileEntry, files: Mapping[str, FileEntry]) -> bool:
    """Whether a file's fingerprint is of a later reading than the manifest's, and can be trusted."""
    seen = entry.fingerprint
    return seen.changed_ns != 0 and seen != files[entry.uri].fingerprint


def _read_meta(directory: Path) -> dict[str, Any]:
    return cast("dict[str, Any]", parse_json((directory / "meta.json").read_bytes()))


def _check_format(directory: Path, read: Mapping[str, Any]) -> None:
    """Of another format nothing else can be taken for known."""
    found = read["format"]
    check_format(found, FORMAT, place=directory, release=read.get("release"))
    if found < FORMAT:
        message = (
            f"{directory}: an older ragloom wrote it (format {found}, this one reads {FORMAT})"
        )
        raise StoreOutdatedError(message + _REBUILD)


def _unreadable(path: Path, error: Exception) -> StoreError:
    """What keeps a generation from being read: a fault of the machine, or else damage."""
    fault = fault_of(error)
    return fault_error(path, fault) if fault else _damaged(path, error)


def _damaged(path: Path, why: object) -> StoreDamagedError:
    return StoreDamagedError(f"{path} is damaged ({' '.join(str(why).split())}){_REBUILD}")

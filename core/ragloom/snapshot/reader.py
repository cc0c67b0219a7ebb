"""Open a generation and search it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragloom.errors import NotIndexedError, StoreDamagedError
from ragloom.protocols import Embeddings
from ragloom.snapshot.columns import Columns
from ragloom.snapshot.file_names import FileNames
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.manifest import SEEN_NAME, FileEntry, Manifest, seen_since, write_seen
from ragloom.snapshot.meta import (
    UNREADABLE,
    Meta,
    checksum,
    contents,
    damaged,
    generations,
    read_meta,
    unreadable,
)
from ragloom.snapshot.segment import KEY, Segment, is_quick, unpack_chunk
from ragloom.snapshot.vector_codes import approximate, decode, encode, highest
from ragloom.types import Chunk

LEXICAL, FILE_LEXICAL = "lexical", "lexical-files"  # of chunks, and of whole files
_ATTEMPTS = 5
EXACT = 2000
"""Cosines that are exact where those of all rows are computed."""
_AT_ONCE = 1024  # vectors that are decoded, which the cache holds
_FEW = 512  # ids, which are found by a look at 8 bytes of each sooner than by sorting


class Snapshot:
    """One generation, open for reading.

    Everything that is read later is opened here, so it keeps answering after newer generations have
    been published and its files are gone. Its rows are the chunks that are not removed, in the order of
    their serial numbers. Who wrote it may pass its ``files``, in their order.
    """

    def __init__(self, directory: Path, files: Mapping[str, FileEntry] | None = None) -> None:
        self.directory = directory
        if files is not None:
            self.files = files
        with self._named_damage():
            self.meta: Meta = read_meta(directory)
            for name, size in self.meta.sizes.items():
                if (directory / name).stat().st_size != size:
                    raise ValueError(f"{name} is not as it was written")
            self._compare(name for name, size in self.meta.sizes.items() if is_quick(name, size))
            self.segments: Sequence[Segment] = [
                Segment(directory / name, first) for name, first in self.meta.segments
            ]
            rows = [len(segment) - len(segment.removed) for segment in self.segments]
            if any(segment.next_serial > self.meta.next_serial for segment in self.segments):
                raise ValueError("it would give a serial number twice")
            if sum(rows) != self.meta.rows:
                raise ValueError(f"it does not hold {self.meta.rows} chunks")
            self._starts: Sequence[int] = list(accumulate(rows, initial=0))
            self._manifest = (directory / "files.json").read_bytes()
            self._seen = b""
            with suppress(FileNotFoundError):
                self._seen = (directory / SEEN_NAME).read_bytes()
            self.lexical: LexicalIndex = LexicalIndex(directory / LEXICAL)
            self.file_lexical: LexicalIndex = LexicalIndex(directory / FILE_LEXICAL)
        self._late: dict[int, Embeddings] = {}

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
            raise damaged(pointer, "there is no generation beside it")
        message = f"nothing is indexed in {space_directory.name!r} yet: run 'ragloom index'"
        raise NotIndexedError(message)

    def __len__(self) -> int:
        """Chunks in the generation."""
        return self.meta.rows

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return sum(self.meta.sizes.values())

    def check(self) -> None:
        """Compare with their checksums those files, too, that are too large to be read at every opening.

        Raises:
            StoreDamagedError: One is not as it was written.
        """
        with self._named_damage():
            self._compare(
                name for name, size in self.meta.sizes.items() if not is_quick(name, size)
            )

    def _compare(self, names: Iterable[str]) -> None:
        for name in sorted(names):
            if checksum(self.directory / name) != self.meta.checksums[name]:
                raise ValueError(f"{name} is not as it was written")

    @contextmanager
    def _named_damage(self) -> Iterator[None]:
        try:
            yield
        except UNREADABLE as error:
            raise unreadable(self.directory, error) from error

    def release(self) -> None:
        """Have the system take back what was read of its files, until it is read again."""
        for segment in self.segments:
            segment.release()

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """The manifest, by uri."""
        with self._named_damage():
            return Manifest(self._manifest, self._seen, place=self.directory)

    def note_seen(self, files: Mapping[str, FileEntry]) -> None:
        """Keep the fingerprints of files that were read again and are what they were.

        Args:
            files: The whole manifest, of the same contents. What the next run would not trust is omitted.
        """
        if not any(seen_since(entry, self.files) for entry in files.values()):
            return
        before = Manifest(self._manifest, place=self.directory)
        learnt = [entry for entry in files.values() if seen_since(entry, before)]
        with suppress(OSError):  # read-only, or replaced: then the files are read once more
            write_seen(self.directory / SEEN_NAME, learnt)

    @cached_property
    def uris(self) -> Sequence[str]:
        """The files' uris, in the order that ``file_of_row`` counts."""
        return list(self.files)

    @cached_property
    def file_names(self) -> FileNames:
        """The files by their names."""
        return FileNames(self.uris)

    @cached_property
    def columns(self) -> Columns:
        """What the files hold, in the order that ``file_of_row`` counts."""
        return Columns([(uri, entry.metadata) for uri, entry in self.files.items()])

    @cached_property
    def contents(self) -> str:
        """Names its chunks and their embeddings: the same wherever they are the same."""
        return contents(self.ids, self.keys)

    @cached_property
    def serials(self) -> npt.NDArray[np.uint64]:
        """``(n,)`` the serial numbers, ascending."""
        parts = [self._live(segment, segment.serials) for segment in self.segments]
        return np.concatenate([np.empty(0, np.uint64), *parts])

    @cached_property
    def ids(self) -> npt.NDArray[np.bytes_]:
        """``(n,)`` the chunks' ids."""
        parts = [self._live(segment, segment.ids) for segment in self.segments]
        return np.concatenate([np.empty(0, "S32"), *parts])

    @cached_property
    def keys(self) -> npt.NDArray[np.bytes_]:
        """``(n,)`` the embedding keys."""
        parts = [self._live(segment, segment.keys) for segment in self.segments]
        return np.concatenate([np.empty(0, "S32"), *parts])

    @cached_property
    def file_of_row(self) -> npt.NDArray[np.int32]:
        """``(n,)`` the file of each chunk, by its place in ``uris``."""
        places = {uri: place for place, uri in enumerate(self.uris)}
        parts = [np.empty(0, np.int32)]
        for segment in self.segments:
            with self._named_damage():
                of_segment = np.array([places.get(uri, -1) for uri in segment.uris], np.int32)
                parts.append(self._live(segment, of_segment[segment.files]))
        return np.concatenate(parts)

    @staticmethod
    def _live(segment: Segment, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.delete(values, segment.removed) if len(segment.removed) else values

    @cached_property
    def first_rows(self) -> npt.NDArray[np.intp]:
        """``(f,)``: the first row of each file; 0 for a file without any."""
        rows = np.zeros(len(self.uris), np.intp)
        numbers, first = np.unique(self.file_of_row, return_index=True)
        rows[numbers] = first
        return rows

    def ids_of(self, rows: npt.NDArray[np.intp]) -> list[str]:
        """The ids of some rows, without a look at the others'."""
        return self._named(rows, attrgetter("ids"))

    def keys_of(self, rows: npt.NDArray[np.intp]) -> list[str]:
        """The embedding keys of some rows, without a look at the others'."""
        return self._named(rows, attrgetter("keys"))

    def _named(self, rows: npt.NDArray[np.intp], column: Callable[[Segment], Any]) -> list[str]:
        found = np.empty(len(rows), KEY)
        for segment, at, inside in self._places(rows):
            found[at] = column(segment)[inside]
        return [name.decode("ascii") for name in found.tolist()]

    def rows_of(self, ids: Iterable[str]) -> npt.NDArray[np.intp]:
        """The rows of chunks by their ids, in that order; those that are not here are omitted."""
        wanted = [name.encode("ascii", "replace") for name in ids]
        if not wanted or not len(self):
            return np.empty(0, np.intp)
        if len(wanted) <= _FEW and "_by_id" not in self.__dict__:
            known: dict[bytes, int] = {}
            for segment, start in zip(reversed(self.segments), self._starts[-2::-1], strict=True):
                found = segment.rows_of({*wanted} - known.keys())  # the newest most often has all
                known |= {name: start + row for name, row in found.items()}
            return np.array([known[name] for name in wanted if name in known], np.intp)
        names = np.array(wanted, "S")
        at = np.minimum(np.searchsorted(self.ids, names, sorter=self._by_id), len(self) - 1)
        rows = self._by_id[at]
        same: npt.NDArray[np.intp] = rows[self.ids[rows] == names]
        return same

    @cached_property
    def _by_id(self) -> npt.NDArray[np.intp]:
        return np.argsort(self.ids)

    def _places(
        self, rows: npt.NDArray[np.intp]
    ) -> Iterator[tuple[Segment, npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Which of ``rows`` are of each segment, by their places, and their rows in it."""
        of_segment = np.searchsorted(self._starts, rows, side="right") - 1
        for number in np.unique(of_segment):
            segment, at = self.segments[number], np.flatnonzero(of_segment == number)
            yield segment, at, segment.inside(rows[at] - self._starts[number])

    def _place(self, row: int) -> tuple[Segment, int]:
        """The segment that a row is of, and its row there."""
        number = bisect_right(self._starts, row) - 1
        segment, own = self.segments[number], row - self._starts[number]
        return segment, int(segment.inside(np.array([own]))[0]) if len(segment.removed) else own

    def by_segment(self, rows: npt.NDArray[np.intp]) -> Iterator[tuple[str, npt.NDArray[np.intp]]]:
        """The names of the segments that rows are of, and their rows in them."""
        return ((segment.name, inside) for segment, _, inside in self._places(rows))

    def packed(self, row: int) -> bytes:
        """The chunk in a row as it is kept."""
        segment, inside = self._place(row)
        return segment.packed(inside)

    def embedded_text(self, row: int) -> str:
        """What the embedder reads of a row."""
        segment, inside = self._place(row)
        return segment.embedded_text(inside)

    def chunk(self, row: int) -> Chunk:
        """The chunk in a row."""
        with self._named_damage():
            segment, inside = self._place(row)
            uri = segment.uris[segment.files[inside]]
            return unpack_chunk(
                segment.packed(inside),
                name=segment.ids[inside].decode("ascii"),
                uri=uri,
                metadata=self.files[uri].metadata,
            )

    @property
    def pending(self) -> npt.NDArray[np.intp]:
        """Rows that have no vector yet, ascending."""
        if not self.meta.pending:
            return np.empty(0, np.intp)
        rows = np.flatnonzero(self._missing)
        return rows[~np.isin(rows, list(self._late))] if self._late else rows

    @cached_property
    def _missing(self) -> npt.NDArray[np.bool_]:
        """``(n,)`` bool: which rows had no vector when the generation was written."""
        parts = [self._live(segment, segment.missing) for segment in self.segments]
        return np.concatenate([np.empty(0, np.bool_), *parts])

    def learn(self, rows: npt.NDArray[np.intp], vectors: Embeddings) -> None:
        """Use vectors of pending rows, which were made since the generation was written."""
        kept = decode(*encode(vectors))
        self._late.update(zip(rows.tolist(), kept, strict=True))

    def vectors(self, rows: npt.NDArray[np.intp]) -> Embeddings:
        """``(len(rows), d)`` float32 of unit length; NaN where a row has none yet."""
        places = list(self._places(rows))
        if len(places) == 1 and not self._late:
            segment, _, inside = places[0]
            if not segment.missing[inside].any():  # nothing is to be put together
                return segment.vectors(inside)
        found = np.full((len(rows), self.meta.dimension), np.nan, np.float32)
        for segment, at, inside in places:
            has = ~segment.missing[inside]
            if has.any():
                found[at[has]] = segment.vectors(inside[has])
        if self._late:
            for place, row in enumerate(rows.tolist()):
                if row in self._late:
                    found[place] = self._late[row]
        return found

    def knows(self, keys: npt.NDArray[np.bytes_]) -> npt.NDArray[np.bool_]:
        """``(len(keys),)`` bool: for which embedding keys :meth:`known_vectors` has a vector."""
        found = np.zeros(len(keys), np.bool_)
        for segment in self.segments:
            found |= segment.find(keys) >= 0
        return found

    def known_vectors(self, keys: npt.NDArray[np.bytes_]) -> Mapping[str, Embeddings]:
        """Vectors by their embedding key, as far as chunks have them that are or were in its segments."""
        found: dict[str, Embeddings] = {}
        for segment in self.segments:
            rows = segment.find(keys)
            here = np.flatnonzero(rows >= 0)
            if len(here):
                names = (key.decode("ascii") for key in keys[here])
                found |= zip(names, segment.vectors(rows[here]), strict=True)
        return found

    def cosines(
        self, query: Embeddings, rows: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.float32]:
        """``(n,)`` float32: the cosine of every row, or of some, with a query of unit length.

        That of some is exact; of every row, the highest :data:`EXACT` are, and the others are off by about
        0.001. NaN where a row has no vector yet.
        """
        if rows is None:
            every = self.approximate(query)
            best = highest(every, EXACT)
            every[best] = self.cosines(query, best)
            every[every == -np.inf] = np.nan
            return every
        scores = np.empty(len(rows), np.float32)
        for start in range(0, len(rows), _AT_ONCE):
            vectors = self.vectors(rows[start : start + _AT_ONCE])
            # BLAS would use more threads, and wait for them where another process holds the core.
            scores[start : start + _AT_ONCE] = np.einsum("ij,j->i", vectors, query)
        return scores

    def approximate(self, query: Embeddings) -> npt.NDArray[np.float32]:
        """``(n,)`` float32: about the cosine of every row, by 8 of the 24 bits of each number.

        -inf where a row has no vector yet.
        """
        parts = [self._live(segment, segment.approximate(query)) for segment in self.segments]
        scores = parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.float32), *parts])
        if self._late:
            codes = encode(np.stack(list(self._late.values())))
            late = np.fromiter(self._late, np.intp)
            scores[late] = approximate(codes.coarse, codes.exponents, query)
        return scores

    def nearest(
        self, query: Embeddings, limit: int, among: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.intp]:
        """The ``limit`` rows with about the highest cosines, in no order; or those ``among`` some.

        The best tenth of them is exact, as is measured in ``benchmarks/README.md``. Rows without a vector
        are not among them.
        """
        return highest(self.approximate(query), limit, among)

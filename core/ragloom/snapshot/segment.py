"""A segment: chunks in immutable files, with or without their vectors.

Of a segment ``NAME`` a generation holds::

    NAME.chunks     every chunk as JSON, deflated (RFC 1951); its metadata stands in the manifest, once
                    a file
    NAME.columns    per chunk: where it begins there, chunk id, embedding key, file, and after a merge
                    its serial number; and the order of the embedding keys
    NAME.vectors    per chunk: its vector in 24 bits a number; see ragloom.snapshot.vector_codes. It
                    is not there while no chunk has one
    NAME.removed    the rows that are removed since, where any are
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ragloom.protocols import Embeddings
from ragloom.snapshot.array_file import read_arrays, release, write_arrays
from ragloom.snapshot.vector_codes import Codes, approximate, decode, encode
from ragloom.text.chunks import join_context
from ragloom.text.parsing import parse_json
from ragloom.types import Chunk, Lines, Metadata, Span

CHUNKS, COLUMNS, VECTORS, REMOVED = ".chunks", ".columns", ".vectors", ".removed"
_QUICK = 1 << 20  # bytes of a file that is read in less than a millisecond
_MISSING = 127  # an exponent that no vector has
KEY = "S32"  # of embedding keys and chunk ids
_WORDS = 4  # of eight bytes each in it
_AT_ONCE = 1024  # vectors that are encoded
_MANY = 512  # keys, which are found sooner by numbers made of all keys than by steps of a search
_DEFLATE = -15  # zlib's window for a stream without header and checksum: the file has one


def is_quick(name: str, size: int) -> bool:
    """Whether a file of a generation is compared with its checksum at every opening."""
    return size <= _QUICK and not name.endswith((CHUNKS, VECTORS))


def pack(chunk: Chunk) -> bytes:
    """A chunk as it is kept in a segment."""
    row = [
        chunk.text,
        chunk.context,
        [*chunk.span, *chunk.lines, *chunk.bytes],
        chunk.ordinal,
        chunk.tokens,
        chunk.headings,
    ]
    content = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode()
    return zlib.compress(content, wbits=_DEFLATE)


def unpack(packed: bytes) -> tuple[Any, ...]:
    """The text of a chunk, its context, the six ends of its places, ordinal, tokens and headings.

    Raises:
        ValueError: That is none.
    """
    try:
        return cast("tuple[Any, ...]", parse_json(zlib.decompress(packed, _DEFLATE).decode()))
    except zlib.error as error:
        raise ValueError(f"no chunk: {error}") from error


def unpack_chunk(packed: bytes, *, name: str, uri: str, metadata: Metadata) -> Chunk:
    """What was packed, with its id, its file, and the metadata of that; raises as :func:`unpack`."""
    text, context, (s0, s1, l0, l1, b0, b1), ordinal, tokens, headings = unpack(packed)
    return Chunk(
        id=name,
        uri=uri,
        text=text,
        span=Span(s0, s1),
        lines=Lines(l0, l1),
        bytes=Span(b0, b1),
        headings=tuple(headings),
        ordinal=ordinal,
        tokens=tokens,
        context=context,
        metadata=metadata,
    )


class Segment:
    """A segment, open for reading.

    Args:
        stem: The path of its files without their endings.
        first: The serial number of its first chunk; the others follow, unless it was merged.

    Attributes:
        removed: ``(r,)``: the rows that are removed, ascending.
        ids: ``(n,)`` chunk ids.
        keys: ``(n,)`` embedding keys.
        files: ``(n,)``: the place of each chunk's file in ``uris``.
    """

    def __init__(self, stem: Path, first: int = 0) -> None:
        self.name: str = stem.name
        columns, memory = read_arrays(_file(stem, COLUMNS))
        self._offsets: npt.NDArray[np.uint64] = columns["offsets"]
        self.first: int = first
        self._serials: npt.NDArray[np.uint64] | None = columns.get("serials")
        self.ids: npt.NDArray[np.bytes_] = columns["ids"]
        self.keys: npt.NDArray[np.bytes_] = columns["keys"]
        self.files: npt.NDArray[np.int32] = columns["files"]
        self._key_order: npt.NDArray[np.uint32] = columns["key_order"]
        self._uris: npt.NDArray[np.uint8] = columns["uris"]
        with _file(stem, CHUNKS).open("rb") as chunks:
            self._packed = mmap.mmap(chunks.fileno(), 0, access=mmap.ACCESS_READ)
        self._mapped = [self._packed, memory]
        if len(self._packed) != self._offsets[-1]:
            raise ValueError(f"{self.name}{CHUNKS} has not its chunks")
        self.removed: npt.NDArray[np.uint32] = np.empty(0, np.uint32)
        if _file(stem, REMOVED).exists():
            self.removed = read_arrays(_file(stem, REMOVED)).arrays["rows"]
        self._codes: Codes | None = None
        if _file(stem, VECTORS).exists():
            codes, memory = read_arrays(_file(stem, VECTORS))
            self._codes = Codes(**codes)
            self._mapped.append(memory)

    def release(self) -> None:
        """Have the system take back what was read of its files, until it is read again."""
        for memory in self._mapped:
            release(memory)

    def __len__(self) -> int:
        """Chunks in its files, removed ones included."""
        return len(self.ids)

    @property
    def serials(self) -> npt.NDArray[np.uint64]:
        """``(n,)`` serial numbers, ascending."""
        if self._serials is None:
            return np.arange(self.first, self.first + len(self), dtype=np.uint64)
        return self._serials

    @property
    def next_serial(self) -> int:
        """The serial number behind that of its last chunk."""
        if self._serials is None:
            return self.first + len(self)
        return int(self._serials[-1]) + 1

    @cached_property
    def uris(self) -> Sequence[str]:
        """The files that its chunks are of."""
        return [str(uri) for uri in json.loads(self._uris.tobytes())]

    @property
    def has_vectors(self) -> bool:
        """Whether any of its chunks has a vector."""
        return self._codes is not None

    @cached_property
    def missing(self) -> npt.NDArray[np.bool_]:
        """``(n,)`` bool: which chunks have no vector."""
        missing: npt.NDArray[np.bool_] = np.ones(len(self), np.bool_)
        if self._codes is not None:
            missing = self._codes.exponents == _MISSING
        return missing

    def inside(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        """The rows, of all of its chunks, of those counted among the ones that are left."""
        if not len(self.removed):
            return rows
        # The k-th row that is left stands behind as many removed ones as precede it.
        left = self.removed - np.arange(len(self.removed))
        found: npt.NDArray[np.intp] = rows + np.searchsorted(left, rows, side="right")
        return found

    def rows_of(self, names: Collection[bytes]) -> Mapping[bytes, int]:
        """The rows of chunks by their ids, counted among those that are left.

        By the first eight bytes of each, which costs less than sorting.
        """
        if not names:
            return {}
        heads = np.array([*names], KEY).view(np.uint64)[::_WORDS]
        near = np.flatnonzero(np.isin(self.ids.view(np.uint64)[::_WORDS], heads))
        near = near[~np.isin(near, self.removed)]
        rows = near - np.searchsorted(self.removed, near)
        ids = self.ids[near].tolist()
        return {one: row for one, row in zip(ids, rows.tolist(), strict=True) if one in names}

    def packed(self, row: int) -> bytes:
        """A chunk as it is kept."""
        return self._packed[int(self._offsets[row]) : int(self._offsets[row + 1])]

    def text(self, row: int) -> tuple[str, Sequence[str]]:
        """The text of a chunk, and the headings above it."""
        text, *_, headings = unpack(self.packed(row))
        return text, headings

    def embedded_text(self, row: int) -> str:
        """What the embedder reads of a chunk."""
        text, context, *_ = unpack(self.packed(row))
        return join_context(context, text)

    def vectors(self, rows: npt.NDArray[np.intp]) -> Embeddings:
        """``(len(rows), d)`` float32: the vectors of chunks that have one."""
        return decode(*self.codes(rows))

    def codes(self, rows: npt.NDArray[np.intp]) -> Codes:
        """The vectors of chunks that have one, as they are kept."""
        if self._codes is None:
            raise ValueError(f"{self.name} has no vectors")
        coarse, fine, exponents = self._codes
        # take() gathers rows in half the time of an index.
        return Codes(coarse.take(rows, 0), fine.take(rows, 0), exponents.take(rows))

    def approximate(self, query: Embeddings) -> npt.NDArray[np.float32]:
        """``(n,)`` float32: about the cosine of every chunk; -inf of those without a vector."""
        if self._codes is None:
            return np.full(len(self), -np.inf, np.float32)
        found = approximate(self._codes.coarse, self._codes.exponents, query)
        if self.missing.any():
            found[self.missing] = -np.inf
        return found

    def find(self, keys: npt.NDArray[np.bytes_]) -> npt.NDArray[np.intp]:
        """``(len(keys),)``: a row that has a vector with each embedding key; -1 where none has."""
        if self._codes is None or not len(keys):
            return np.full(len(keys), -1, np.intp)
        if len(keys) > _MANY:
            return self._find_many(keys)
        low, high = np.zeros(len(keys), np.intp), np.full(len(keys), len(self), np.intp)
        while (open_ := low < high).any():
            middle = (low + high) // 2
            less = np.zeros(len(keys), np.bool_)
            less[open_] = self.keys[self._key_order[middle[open_]]] < keys[open_]
            low = np.where(open_ & less, middle + 1, low)
            high = np.where(open_ & ~less, middle, high)
        at = np.minimum(low, len(self) - 1)
        rows = self._key_order[at].astype(np.intp)
        rows[(self.keys[rows] != keys) | self.missing[rows]] = -1
        return rows

    def _find_many(self, keys: npt.NDArray[np.bytes_]) -> npt.NDArray[np.intp]:
        """As :meth:`find`, by the first eight bytes, which tell nearly all of them apart."""
        wanted, heads = _heads(keys), _heads(self.keys)[self._key_order]
        at = np.minimum(np.searchsorted(heads, wanted), len(self) - 1)
        rows = self._key_order[at].astype(np.intp)
        same = self.keys[rows] == keys
        alike = np.flatnonzero(~same & (heads[at] == wanted))
        rows[~same | self.missing[rows]] = -1
        for start in range(0, len(alike), _MANY):
            some = alike[start : start + _MANY]
            rows[some] = self.find(keys[some])
        return rows


def _heads(keys: npt.NDArray[np.bytes_]) -> npt.NDArray[np.uint64]:
    """``(n,)``: the first eight bytes of each key as a number, in the order of the keys."""
    return np.ascontiguousarray(keys, KEY).view(">u8")[::_WORDS].astype(np.uint64)


class SegmentWriter:
    """Writes the chunks of a new segment, one after the other.

    Args:
        stem: The path of its files without their endings.
    """

    def __init__(self, stem: Path) -> None:
        self._stem = stem
        self._packed = _file(stem, CHUNKS).open("wb")
        self._content = blake2b(digest_size=10)
        self._offsets = [0]
        self._ids: list[bytes] = []
        self._keys: list[bytes] = []
        self._files: list[int] = []
        self._serials: list[int] = []
        self._uris: dict[str, int] = {}

    def __len__(self) -> int:
        """Chunks so far."""
        return len(self._ids)

    def add(self, uri: str, packed: bytes, name: bytes, key: bytes, serial: int = -1) -> None:
        """Append a chunk; each of them, or none, with its serial number."""
        self._packed.write(packed)
        self._content.update(b"".join((uri.encode("utf-8", "surrogatepass"), name, key, packed)))
        self._offsets.append(self._offsets[-1] + len(packed))
        self._ids.append(name)
        self._keys.append(key)
        self._files.append(self._uris.setdefault(uri, len(self._uris)))
        if serial >= 0:
            self._serials.append(serial)

    def close(self) -> str:
        """Write what is left; 20 hex digits that name its content."""
        self._packed.close()
        keys = np.array(self._keys, KEY)
        names = json.dumps(list(self._uris), ensure_ascii=False).encode("utf-8", "surrogatepass")
        arrays: dict[str, npt.NDArray[Any]] = {
            "offsets": np.array(self._offsets, np.uint64),
            "ids": np.array(self._ids, KEY),
            "keys": keys,
            "files": np.array(self._files, np.int32),
            "key_order": np.argsort(keys, kind="stable").astype(np.uint32),
            "uris": np.frombuffer(names, np.uint8),
        }
        if self._serials:
            arrays["serials"] = np.array(self._serials, np.uint64)
        write_arrays(_file(self._stem, COLUMNS), arrays)
        return self._content.hexdigest()


class VectorWriter:
    """The vectors of a segment, filled in any order.

    Args:
        rows: Of the segment.
        dimension: Numbers in a vector.
        before: The segment as it was, whose vectors stay.
    """

    def __init__(self, rows: int, dimension: int, before: Segment | None = None) -> None:
        if before is not None and before.has_vectors:
            self._codes = before.codes(np.arange(rows))
        else:
            self._codes = Codes(
                np.zeros((rows, dimension), np.int8),
                np.zeros((rows, dimension), np.int16),
                np.full(rows, _MISSING, np.int8),
            )

    def put(self, rows: npt.NDArray[np.intp], vectors: Embeddings | Codes) -> None:
        """Keep vectors of rows; a part at a time, since their encoding takes several times their memory."""
        if not isinstance(vectors, Codes):
            for start in range(0, len(rows), _AT_ONCE):
                some = slice(start, start + _AT_ONCE)
                self.put(rows[some], encode(vectors[some]))
            return
        coarse, fine, exponents = vectors
        self._codes.coarse[rows] = coarse
        self._codes.fine[rows] = fine
        self._codes.exponents[rows] = exponents

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return bool((self._codes.exponents != _MISSING).any())

    def write(self, stem: Path) -> None:
        """Write them to a new file."""
        write_arrays(_file(stem, VECTORS), self._codes._asdict())


def write_removed(stem: Path, rows: npt.NDArray[np.intp]) -> None:
    """Write which rows are removed."""
    write_arrays(_file(stem, REMOVED), {"rows": rows.astype(np.uint32)})


def files_of(stem: Path) -> Iterable[Path]:
    """The files of a segment that are there."""
    every = (_file(stem, ending) for ending in (CHUNKS, COLUMNS, VECTORS, REMOVED))
    return [path for path in every if path.exists()]


def _file(stem: Path, ending: str) -> Path:
    return stem.with_name(stem.name + ending)

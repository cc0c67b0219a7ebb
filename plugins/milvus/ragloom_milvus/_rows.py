"""How a chunk lies in a Milvus collection: its fields, their limits, and there and back again.

=============  ============  =====================================================================
field          type          holds
=============  ============  =====================================================================
``id``         VARCHAR, key  ``Chunk.id``
``uri``        VARCHAR       ``Chunk.uri``
``text``       VARCHAR       ``Chunk.text``
``vector``     FLOAT_VECTOR  the embedding, compared by cosine
``extra``      VARCHAR       the rest of the chunk as JSON, exactly: what :func:`from_row` reads
``metadata``   JSON          ``Chunk.metadata`` once more, on servers only, for filters
``shard``      VARCHAR       whose row it is, on servers only like what follows; the partition key from
                             2.5 on (2.3.5 with pymilvus 3 finds no rows of a collection that has one)
``row``        VARCHAR, key  the shard and the id, instead of the id
``key``        VARCHAR       ``Chunk.key``, by which other shards find the embedding
``hash``       VARCHAR       SHA-256 of the chunk's file
``words``      VARCHAR       its terms, on servers from 2.5; ``sparse`` is what BM25 makes of them
=============  ============  =====================================================================

A server has a second collection for the records of the shards.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias, cast

import numpy as np

from ragloom import Chunk, Embeddings, Metadata, StoreDamagedError, StoreError
from ragloom.stores import (
    check_format,
    chunk_from_record,
    chunk_to_record,
    dump_json,
    format_stamp,
)
from ragloom.text import parse_json

ID: Final = "id"
URI: Final = "uri"
TEXT: Final = "text"
VECTOR: Final = "vector"
EXTRA: Final = "extra"
METADATA: Final = "metadata"
SHARD: Final = "shard"
ROW: Final = "row"
KEY: Final = "key"
HASH: Final = "hash"
WORDS: Final = "words"

ID_BYTES: Final = 256
ROW_BYTES: Final = 512
VARCHAR_BYTES: Final = 65_535
"""The longest VARCHAR of a server, in bytes: https://milvus.io/docs/limitations.md."""

FORMAT: Final = 1
PROPERTY: Final = "ragloom"
"""The property of a collection that says its format and release."""
_STAMP: Final = re.compile(r"ragloom format ([0-9]{1,9}), release (\S+)")


def format_description() -> str:
    """What a collection says of itself, before anything else of it is read."""
    return "ragloom format {format}, release {release}".format(**format_stamp(FORMAT))


def check_description(said: str, place: object) -> None:
    """Refuse a collection that a newer ragloom made; one that says nothing is of the first format."""
    if found := _STAMP.match(said):
        check_format(int(found[1]), FORMAT, place=place, release=found[2])


Row: TypeAlias = dict[str, Any]


class Rows(Protocol):
    """A collection of one of the two kinds of Milvus, opened."""

    limits: Mapping[str, int]
    """Bytes of UTF-8 that a field can hold, for those fields that have a limit."""

    def upsert(self, rows: list[Row]) -> None:
        """Write rows with different ids, replacing those that are there."""

    def delete(self, ids: list[str]) -> None:
        """Remove rows."""

    def count(self) -> int:
        """Rows that are there."""

    def pages(self, size: int) -> Iterator[list[Row]]:
        """Every row, in the order of the ids, up to ``size`` at a time."""

    def drop(self) -> None:
        """Replace the collection by an empty one."""

    def close(self) -> None:
        """Flush and close."""


def collection_name(prefix: str, space: str) -> str:
    """A name that Milvus takes, readable, and different for every two different spaces.

    Milvus allows letters, digits and underscores, not beginning with a digit, 255 at most.
    """
    readable = re.sub(r"[^A-Za-z0-9_]+", "_", space)[:64].strip("_")
    digest = hashlib.sha256(space.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    start = re.sub(r"[^A-Za-z0-9_]+", "_", prefix)[:100] or "ragloom"
    if start[0].isdigit():
        start = f"_{start}"
    return "_".join(part for part in (start, readable, digest) if part)


def row_key(shard: str, name: str) -> str:
    """The primary key of a chunk, or a record, of a shard."""
    return f"{shard}/{name}"


def quoted(value: str) -> str:
    """``value`` as a string Milvus' filter language; only printable ones can be written in it."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def check_chunks(chunks: Sequence[Chunk], limits: Mapping[str, int]) -> None:
    """Refuse ids that no filter expression can name, and fields longer than ``limits`` (UTF-8 bytes)."""
    for chunk in chunks:
        if not chunk.id.isprintable():
            raise StoreError(
                f"chunk {chunk.id!a} of {chunk.uri!a}: Milvus takes no id with control characters: "
                "nothing was written"
            )
        for field, text in _fields(chunk) if limits else ():
            # A character is four bytes at most, so that most texts need no encoding here.
            limit = limits[field]
            if len(text) * 4 > limit and (size := len(text.encode())) > limit:
                raise StoreError(
                    f"chunk {chunk.id} of {chunk.uri}: its {field} has {size:,} bytes, and a "
                    f"Milvus server keeps {limit:,} at most: nothing was written; use smaller "
                    "chunks, or a store without this limit such as embedded Milvus Lite or sqlite"
                )


def _fields(chunk: Chunk) -> Iterator[tuple[str, str]]:
    yield ID, chunk.id
    yield URI, chunk.uri
    yield TEXT, chunk.text
    yield EXTRA, _extra(chunk)
    yield METADATA, dump_json(chunk.metadata)


def to_rows(chunks: Sequence[Chunk], vectors: Embeddings, *, metadata: bool) -> list[Row]:
    """One row a chunk, with the field ``metadata`` on request; of equal ids the last one counts."""
    rows: dict[str, Row] = {}
    for chunk, vector in zip(chunks, vectors, strict=True):
        row: Row = {
            ID: chunk.id,
            URI: chunk.uri,
            TEXT: chunk.text,
            VECTOR: vector.tolist(),
            EXTRA: _extra(chunk),
        }
        if metadata:
            row[METADATA] = json.loads(dump_json(chunk.metadata))
        rows[chunk.id] = row
    return list(rows.values())


def _extra(chunk: Chunk) -> str:
    record = chunk_to_record(chunk)
    for field in (ID, URI, TEXT):
        del record[field]
    return dump_json(record)


def from_row(row: Mapping[str, Any], where: str) -> Chunk:
    """The chunk of a row; :class:`StoreDamagedError` where it is not whole."""
    try:
        record = _object(row[EXTRA])
        return chunk_from_record(record | {ID: row[ID], URI: row[URI], TEXT: row[TEXT]})
    except (KeyError, TypeError, ValueError) as error:
        raise StoreDamagedError(
            f"{where}: the row {row.get(ID)!r} is not a chunk ({error})"
        ) from error


def _object(content: str) -> dict[str, Any]:
    return cast("dict[str, Any]", parse_json(content))


def metadata_of(extra: str, where: str) -> Metadata:
    """The metadata in a row's ``extra``; :class:`StoreDamagedError` where it is not whole."""
    try:
        metadata: Metadata = _object(extra)[METADATA]
    except (KeyError, TypeError, ValueError) as error:
        raise StoreDamagedError(
            f"{where}: a row is not a chunk ({error}): 'ragloom repair' rebuilds it"
        ) from error
    return metadata


def vectors_of(rows: Sequence[Row], dimension: int, where: str) -> Embeddings:
    """``(len(rows), dimension)`` float32; :class:`StoreDamagedError` for a wrong length or NaN."""
    try:
        vectors = np.array([row[VECTOR] for row in rows], dtype=np.float32)
        vectors = vectors.reshape(len(rows), dimension)
    except (KeyError, TypeError, ValueError) as error:
        raise StoreDamagedError(f"{where}: vectors are missing or of the wrong length") from error
    if not np.isfinite(vectors).all():
        raise StoreDamagedError(f"{where}: a vector is not finite")
    return vectors

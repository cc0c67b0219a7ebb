"""A collection of Milvus Lite, through its own Python interface.

``milvus_lite.MilvusLite`` is what pymilvus reaches over gRPC on a loopback port, in the same
process. Spoken to directly, opening, ten rows and closing take 0.3 s and 60 MB less (neither
pymilvus nor pandas is imported), a lock and damage arrive as exceptions, and closing closes the
engine. pymilvus reads the same directory.

No vector index is made: it is only good for searching, searches go to the snapshot, and the file of
a FLAT index is the one that does not survive a kill.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ragloom import MissingDependencyError, StoreDamagedError, StoreError
from ragloom_milvus import _lock
from ragloom_milvus._files import check_collection
from ragloom_milvus._rows import (
    EXTRA,
    ID,
    PROPERTY,
    TEXT,
    URI,
    VECTOR,
    Row,
    check_description,
    format_description,
    quoted,
)

if TYPE_CHECKING:
    from milvus_lite import Collection, CollectionSchema, MilvusLite

FLUSH_ROWS: Final = 4096
"""Rows until the engine's memory is written out: 50,000 rows in one run peak at 0.8 GB, not 1.3."""


class LiteRows:
    """One collection in a Milvus Lite directory, held until :meth:`close`.

    Args:
        directory: Ends in ``.db``, as pymilvus wants it; created if it does not exist.
        collection: Created if it does not exist.
        dimension: Numbers in a vector.
        patience: Seconds to wait while another process holds the directory.
    """

    limits: Mapping[str, int] = MappingProxyType({})

    def __init__(
        self, directory: Path, collection: str, dimension: int, *, patience: float = _lock.PATIENCE
    ) -> None:
        try:
            from milvus_lite import DataDirLockedError, MilvusLite
        except ImportError as error:
            package, extra, needed_for = "milvus-lite", "ragloom[milvus]", "the store 'milvus'"
            raise MissingDependencyError(package, extra, needed_for) from error

        self._directory = directory
        self._name = collection
        self._dimension = dimension
        self._unflushed = 0
        check_collection(directory, collection)
        with self._reporting(opening=True):
            self._engine: MilvusLite = _lock.wait_for(
                lambda: MilvusLite(str(directory)), DataDirLockedError, directory, patience=patience
            )
        _lock.sign(directory)
        try:
            # Once more: the holder that we waited for may have died in the middle.
            check_collection(directory, collection)
            with self._reporting(opening=True):
                self._collection = self._open_collection()
        except BaseException:
            self._release()
            raise

    def upsert(self, rows: list[Row]) -> None:
        """As in :class:`Rows`."""
        with self._reporting():
            self._collection.upsert(rows)
            self._unflushed += len(rows)
            if self._unflushed >= FLUSH_ROWS:
                self._flush()

    def delete(self, ids: list[str]) -> None:
        """As in :class:`Rows`."""
        with self._reporting():
            self._collection.delete(ids)

    def count(self) -> int:
        """As in :class:`Rows`."""
        with self._reporting():
            return int(self._collection.num_entities)

    def pages(self, size: int) -> Iterator[list[Row]]:
        """As in :class:`Rows`."""
        last = ""
        while True:
            with self._reporting():
                page: list[Row] = self._collection.query(
                    f"{ID} > {quoted(last)}" if last else None,
                    output_fields=[ID, URI, TEXT, VECTOR, EXTRA],
                    limit=size,
                    order_by_pk=True,
                )
            if not page:
                return
            last = str(page[-1][ID])
            yield page

    def drop(self) -> None:
        """As in :class:`Rows`."""
        with self._reporting():
            self._engine.drop_collection(self._name)
            self._collection = self._open_collection()
        self._unflushed = 0

    def close(self) -> None:
        """Write everything out and release the directory, also where writing fails."""
        try:
            with self._reporting():
                self._flush()
        finally:
            self._release()

    def _flush(self) -> None:
        # The engine's own close() keeps a full disk to itself.
        self._collection.flush()
        self._unflushed = 0

    def _release(self) -> None:
        _lock.unsign(self._directory)
        self._engine.close()

    def _open_collection(self) -> Collection:
        if not self._engine.has_collection(self._name):
            return self._engine.create_collection(self._name, _schema(self._dimension))
        collection = self._engine.get_collection(self._name)
        said = collection.schema.properties.get(PROPERTY, "")
        check_description(str(said), f"the store {self._directory}")
        found = {field.name: field for field in collection.schema.fields}
        dimension = found[VECTOR].dim if VECTOR in found else None
        if dimension != self._dimension:
            if VECTOR in found and not collection.num_entities:  # what another model left
                self._engine.drop_collection(self._name)
                return self._engine.create_collection(self._name, _schema(self._dimension))
            raise StoreError(
                f"the store {self._directory} holds vectors of {dimension} numbers, and the "
                f"embedder gives {self._dimension}: index into a new space, or drop this one and "
                "index again"
            )
        return collection

    @contextmanager
    def _reporting(self, *, opening: bool = False) -> Iterator[None]:
        """Raise errors of the engine, of Arrow and of the disk as ragloom's."""
        from milvus_lite import MilvusLiteError
        from pyarrow import ArrowException

        try:
            yield
        except OSError as error:
            # Arrow raises a bare OSError for what it cannot decode; the system's has a number.
            if opening and error.errno is None:
                raise self._damaged(error) from error
            raise StoreError(f"the store {self._directory} failed: {error}") from error
        except (ArrowException, MilvusLiteError, ValueError, KeyError, TypeError) as error:
            if opening:
                raise self._damaged(error) from error
            raise StoreError(f"the store {self._directory} failed: {error}") from error

    def _damaged(self, error: Exception) -> StoreDamagedError:
        line = " ".join(str(error).split()) or type(error).__name__
        return StoreDamagedError(f"the store {self._directory} does not open ({line})")


def _schema(dimension: int) -> CollectionSchema:
    from milvus_lite import CollectionSchema, DataType, FieldSchema

    return CollectionSchema(
        fields=[
            FieldSchema(ID, DataType.VARCHAR, is_primary=True),
            FieldSchema(URI, DataType.VARCHAR),
            FieldSchema(TEXT, DataType.VARCHAR),
            FieldSchema(VECTOR, DataType.FLOAT_VECTOR, dim=dimension),
            FieldSchema(EXTRA, DataType.VARCHAR),
        ],
        properties={PROPERTY: format_description()},
    )

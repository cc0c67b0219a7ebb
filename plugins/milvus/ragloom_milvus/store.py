"""The store ``milvus``: what Milvus Lite and a server have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np

from ragloom.errors import ConfigError, StoreError
from ragloom.protocols import Embeddings
from ragloom.stores.filters import matches
from ragloom.stores.records import check_records, cosines, nearest
from ragloom.types import Chunk, Condition
from ragloom_milvus import _lock
from ragloom_milvus._expressions import narrowing
from ragloom_milvus._rows import (
    Row,
    Rows,
    check_chunks,
    collection_name,
    from_row,
    metadata_of,
    to_rows,
    vectors_of,
)

BATCH: Final = 256
"""Rows a call: 256 rows of 1,536 numbers and 64 KB of text are 18 MB, and a server takes 64."""

DELETE_BATCH: Final = 1000

SPARE: Final = 32
"""Candidates asked for beyond the limit, so that ties at its edge are mostly seen at once."""

_REMOTE: Final = ("http://", "https://", "tcp://", "unix:")


class MilvusStore:
    """Keeps a space in a Milvus collection.

    Args:
        uri: Where; see :class:`ragloom_milvus.MilvusOptions`.
        token: For servers.
        collection: What collection names begin with.
        index: The index on a server.
        timeout: Seconds to wait for a server.
        patience: Seconds to wait while another process holds a Milvus Lite directory.

    Raises:
        ConfigError: ``uri`` is neither a path that ends in ``.db`` nor a server's.
    """

    def __init__(
        self,
        *,
        uri: str = "",
        token: str = "",
        collection: str = "ragloom",
        index: str = "FLAT",
        timeout: float = 30.0,
        patience: float = _lock.PATIENCE,
    ) -> None:
        self._remote = uri.startswith(_REMOTE)
        if uri and not self._remote and not uri.endswith(".db"):
            msg = (
                f"store.uri {uri!r} is neither a local path that ends in .db nor the address "
                "of a server such as http://localhost:19530"
            )
            raise ConfigError(msg)
        self.read: Literal["snapshot", "native"] = "native" if self._remote else "snapshot"
        self.fingerprint = f"milvus:{uri}:{collection}"
        self._uri = uri
        self._token = token
        self._prefix = collection
        self._index = index
        self._timeout = timeout
        self._patience = patience
        self._dimension = 0
        self._where = uri
        self._rows: Rows | None = None

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """Open or make the space's collection; without ``uri`` in ``<directory>/store.db``.

        Raises:
            MissingDependencyError: pymilvus, or milvus-lite, is not installed.
            StoreLockedError: Another process holds the Milvus Lite directory.
            StoreDamagedError: The directory exists and does not open.
            StoreError: The server does not answer, or it was made for another dimension.
        """
        self.close()
        name = collection_name(self._prefix, space)
        if self._remote:
            from ragloom_milvus._server import ServerRows

            self._where = f"the Milvus server {self._uri}"
            self._rows = ServerRows(
                self._uri,
                token=self._token,
                collection=name,
                dimension=dimension,
                index=self._index,
                timeout=self._timeout,
            )
        else:
            from ragloom_milvus._lite import LiteRows

            path = Path(self._uri).expanduser() if self._uri else directory / "store.db"
            self._where = f"the store {path}"
            self._rows = LiteRows(path.absolute(), name, dimension, patience=self._patience)
        self._dimension = dimension

    def close(self) -> None:
        """Write everything out and let go of directory or connection. Twice does nothing."""
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.close()

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id; all are checked before one is written."""
        rows = self._opened
        check_records(chunks, vectors, dimension=self._dimension)
        check_chunks(chunks, rows.limits)
        for start in range(0, len(chunks), BATCH):
            rows.upsert(self._batch(chunks, vectors, start))

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; unknown ids are ignored."""
        rows = self._opened
        # No chunk has an id that is not printable: upsert refuses those.
        unique = list(dict.fromkeys(name for name in ids if name.isprintable()))
        for start in range(0, len(unique), DELETE_BATCH):
            rows.delete(unique[start : start + DELETE_BATCH])

    def count(self) -> int:
        """Chunks in the space."""
        return self._opened.count()

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in the order of the ids; it must not be written meanwhile.

        Raises:
            StoreDamagedError: A row is not a chunk, or its vector is not finite.
        """
        for page in self._opened.pages(batch_size):
            chunks = [from_row(row, self._where) for row in page]
            yield chunks, vectors_of(page, self._dimension, self._where)

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """The nearest chunks that pass every condition, and their cosine; ties by id."""
        if limit <= 0:
            return []
        rows = self._opened
        expression = narrowing(where)
        asked = min(limit + SPARE, rows.most)
        while True:
            found = rows.nearest(vector, asked, expression)
            passed = sorted(
                (-cosine, name)
                for name, cosine, uri, extra in found
                if not where or matches(uri, metadata_of(extra, self._where), where)
            )
            best = [(name, -negative) for negative, name in passed[:limit]]
            # Complete when nothing is left, or when all that could tie with the last has been seen.
            if len(found) < asked or (len(best) == limit and best[-1][1] > found[-1][1]):
                return best
            if asked >= rows.most:
                return self._search_all(vector, limit, where)
            asked = min(asked * 8, rows.most)

    def _search_all(
        self, vector: Embeddings, limit: int, where: Sequence[Condition]
    ) -> list[tuple[str, float]]:
        """The same by looking at every chunk: for conditions that almost nothing passes."""
        best: list[tuple[str, float]] = []
        for chunks, vectors in self.scan():
            kept = [row for row, one in enumerate(chunks) if matches(one.uri, one.metadata, where)]
            ids = [name for name, _ in best] + [chunks[row].id for row in kept]
            known = np.array([cosine for _, cosine in best], dtype=np.float32)
            similar = np.concatenate([known, cosines(vectors[kept], vector)])
            best = nearest(ids, similar, limit=limit)
        return best

    def drop(self) -> None:
        """Remove this space's chunks, and no other collection."""
        self._opened.drop()

    def _batch(self, chunks: Sequence[Chunk], vectors: Embeddings, start: int) -> list[Row]:
        end = start + BATCH
        return to_rows(chunks[start:end], vectors[start:end], metadata=self._remote)

    @property
    def _opened(self) -> Rows:
        if self._rows is None:
            msg = "the store 'milvus' is not open"
            raise StoreError(msg)
        return self._rows

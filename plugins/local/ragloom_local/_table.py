"""A space's chunks and vectors in memory: what the stores ``memory`` and ``file`` are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from ragloom import Chunk, Embeddings, StoreError
from ragloom.stores import check_records, chunk_from_record, chunk_to_record, dump_json


class Table:
    """Chunks by id, each with its vector of ``dimension`` numbers."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._rows: dict[str, tuple[Chunk, Embeddings]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """As in :class:`ragloom.Store`."""
        check_records(chunks, vectors, dimension=self.dimension)
        for chunk, vector in zip(chunks, vectors, strict=True):
            self._rows[chunk.id] = (_copy(chunk), vector.copy())

    def delete(self, ids: Sequence[str]) -> None:
        """As in :class:`ragloom.Store`."""
        for name in ids:
            self._rows.pop(name, None)

    def clear(self) -> None:
        """Remove all chunks."""
        self._rows = {}

    def scan(self, batch_size: int) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything, in the order of the ids, as it was when the scan began."""
        rows = [self._rows[name] for name in sorted(self._rows)]
        for start in range(0, len(rows), batch_size):
            page = rows[start : start + batch_size]
            yield [_copy(chunk) for chunk, _ in page], np.stack([vector for _, vector in page])


class TableStore:
    """What stores share that hold their open space in a table; ``name`` is for messages."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._table: Table | None = None
        self._changed = False

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """As in :class:`ragloom.Store`."""
        self._opened.upsert(chunks, vectors)
        self._changed = True

    def delete(self, ids: Sequence[str]) -> None:
        """As in :class:`ragloom.Store`."""
        self._opened.delete(ids)
        self._changed = True

    def count(self) -> int:
        """As in :class:`ragloom.Store`."""
        return len(self._opened)

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """As in :class:`ragloom.Store`."""
        return self._opened.scan(batch_size)

    def drop(self) -> None:
        """As in :class:`ragloom.Store`."""
        self._opened.clear()
        self._changed = True

    @property
    def _opened(self) -> Table:
        if self._table is None:
            raise StoreError(f"the store {self._name!r} is not open")
        return self._table


def _copy(chunk: Chunk) -> Chunk:
    """A chunk whose metadata nobody else holds."""
    record = chunk_to_record(chunk)
    record["metadata"] = json.loads(dump_json(chunk.metadata)) if chunk.metadata else {}
    return chunk_from_record(record)

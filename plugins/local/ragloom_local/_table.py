"""A space's chunks and vectors in memory: what the stores ``memory`` and ``file`` are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from ragloom.protocols import Embeddings
from ragloom.stores.filters import matches
from ragloom.stores.records import (
    check_records,
    chunk_from_record,
    chunk_to_record,
    cosines,
    dump_json,
    nearest,
)
from ragloom.types import Chunk, Condition


class Table:
    """Chunks by id, each with its vector.

    Args:
        dimension: Numbers in a vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._rows: dict[str, tuple[Chunk, Embeddings]] = {}
        self._sorted: tuple[list[str], Embeddings] | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id; see :class:`ragloom.protocols.Store`."""
        check_records(chunks, vectors, dimension=self.dimension)
        for chunk, vector in zip(chunks, vectors, strict=True):
            self._rows[chunk.id] = (_copy(chunk), vector.copy())
        self._sorted = None

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; unknown ids are ignored."""
        for name in ids:
            self._rows.pop(name, None)
        self._sorted = None

    def scan(self, batch_size: int) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything, in the order of the ids, as it was when the scan began."""
        ids, matrix = self._in_order()
        chunks = [self._rows[name][0] for name in ids]
        for start in range(0, len(ids), batch_size):
            end = start + batch_size
            yield [_copy(chunk) for chunk in chunks[start:end]], matrix[start:end].copy()

    def search(
        self, vector: Embeddings, limit: int, where: Sequence[Condition]
    ) -> list[tuple[str, float]]:
        """The nearest, exactly; see :class:`ragloom.protocols.Store`."""
        ids, matrix = self._in_order()
        if where:
            kept = [
                row
                for row, name in enumerate(ids)
                if matches(self._rows[name][0].uri, self._rows[name][0].metadata, where)
            ]
            ids, matrix = [ids[row] for row in kept], matrix[kept]
        return nearest(ids, cosines(matrix, vector), limit=limit)

    def _in_order(self) -> tuple[list[str], Embeddings]:
        if self._sorted is None:
            ids = sorted(self._rows)
            matrix = np.zeros((len(ids), self.dimension), dtype=np.float32)
            for row, name in enumerate(ids):
                matrix[row] = self._rows[name][1]
            self._sorted = ids, matrix
        return self._sorted


def _copy(chunk: Chunk) -> Chunk:
    """A chunk whose metadata nobody else holds."""
    record = chunk_to_record(chunk)
    record["metadata"] = json.loads(dump_json(chunk.metadata)) if chunk.metadata else {}
    return chunk_from_record(record)

"""A space's chunks and vectors in memory: what the stores ``memory`` and ``file`` are made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import numpy as np

from ragloom import Chunk, Embeddings
from ragloom.stores import check_records, chunk_from_record, chunk_to_record, dump_json


class Table:
    """Chunks by id, each with its vector.

    Args:
        dimension: Numbers in a vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._rows: dict[str, tuple[Chunk, Embeddings]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id; see :class:`ragloom.Store`."""
        check_records(chunks, vectors, dimension=self.dimension)
        for chunk, vector in zip(chunks, vectors, strict=True):
            self._rows[chunk.id] = (_copy(chunk), vector.copy())

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; unknown ids are ignored."""
        for name in ids:
            self._rows.pop(name, None)

    def scan(self, batch_size: int) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything, in the order of the ids, as it was when the scan began."""
        rows = [self._rows[name] for name in sorted(self._rows)]
        for start in range(0, len(rows), batch_size):
            page = rows[start : start + batch_size]
            yield [_copy(chunk) for chunk, _ in page], np.stack([vector for _, vector in page])


def _copy(chunk: Chunk) -> Chunk:
    """A chunk whose metadata nobody else holds."""
    record = chunk_to_record(chunk)
    record["metadata"] = json.loads(dump_json(chunk.metadata)) if chunk.metadata else {}
    return chunk_from_record(record)

"""The store ``memory``: quick, and gone with the process."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragloom import Chunk, Embeddings, StoreError
from ragloom_local._table import Table


class MemoryStore:
    """Keeps the chunks of its spaces as long as the object lives; closing keeps them."""

    def __init__(self) -> None:
        self.fingerprint = f"memory:{uuid.uuid4().hex}"
        self._spaces: dict[str, Table] = {}
        self._space = ""
        self._table: Table | None = None

    def open(self, *, space: str, dimension: int, directory: Path) -> None:  # noqa: ARG002 - contract
        """Make the space if it is new.

        Raises:
            StoreError: The space was made for another dimension.
        """
        table = self._spaces.setdefault(space, Table(dimension))
        if table.dimension != dimension:
            if len(table):
                msg = (
                    f"the space {space!r} holds vectors of {table.dimension} numbers, "
                    f"and the embedder gives {dimension}: drop the space and index again"
                )
                raise StoreError(msg)
            table = self._spaces[space] = Table(dimension)
        self._space, self._table = space, table

    def close(self) -> None:
        """Let go of the space; its chunks stay in this object."""
        self._table = None

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id."""
        self._opened.upsert(chunks, vectors)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; unknown ids are ignored."""
        self._opened.delete(ids)

    def count(self) -> int:
        """Chunks in the space."""
        return len(self._opened)

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in the order of the ids."""
        return self._opened.scan(batch_size)

    def drop(self) -> None:
        """Remove this space's chunks."""
        table = self._opened
        self._table = self._spaces[self._space] = Table(table.dimension)

    @property
    def _opened(self) -> Table:
        if self._table is None:
            msg = "the store 'memory' is not open"
            raise StoreError(msg)
        return self._table

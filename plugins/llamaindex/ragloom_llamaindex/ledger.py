"""What a vector store of LlamaIndex holds, written down beside it.

LlamaIndex lets a store be asked for what is near, and not for what is in it: few can count or list
their nodes, or give a vector back. So chunks and vectors are also kept in an SQLite file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from ragloom import Chunk, StoreDamagedError, StoreError
from ragloom.protocols import Embeddings
from ragloom.stores.records import chunk_from_record, chunk_to_record, dump_json

__all__ = ["Ledger"]

_BLOB: Final = np.dtype("<f4")  # the same file on every machine
_AT_ONCE: Final = 500  # well below what SQLite takes as parameters
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS chunks (
    id TEXT PRIMARY KEY, record TEXT NOT NULL, vector BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class Ledger:
    """The chunks of one space and their vectors, by id.

    Args:
        file: The database; made where it does not exist.
        dimension: Numbers in a vector.

    Raises:
        StoreDamagedError: The file is no database of ours.
        StoreError: It was made for another dimension.
    """

    def __init__(self, file: Path, dimension: int) -> None:
        self._dimension = dimension
        self._connection = sqlite3.connect(file)
        try:
            self._connection.executescript(_SCHEMA)
            known = self.fact("dimension")
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise StoreDamagedError(f"{file}: {error}") from error
        if known not in ("", str(dimension)) and self.count():
            self._connection.close()
            raise StoreError(f"{file} holds vectors of {known} numbers, not {dimension}")
        self.note("dimension", str(dimension))

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def fact(self, name: str) -> str:
        """What was noted under ``name``; empty for nothing."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return "" if row is None else str(row[0])

    def note(self, name: str, value: str) -> None:
        """Note something."""
        with self._connection as connection:
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def write(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id; all or none."""
        rows = [
            (chunk.id, dump_json(chunk_to_record(chunk)), vector.astype(_BLOB).tobytes())
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        with self._connection as connection:
            connection.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?)", rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; ids that are not there are ignored."""
        with self._connection as connection:
            connection.executemany("DELETE FROM chunks WHERE id = ?", [(name,) for name in ids])

    def clear(self) -> None:
        """Remove all chunks."""
        with self._connection as connection:
            connection.execute("DELETE FROM chunks")

    def count(self) -> int:
        """How many chunks there are."""
        return int(self._connection.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def known(self, ids: Sequence[str]) -> list[str]:
        """Those of ``ids`` that are there, in the order given."""
        found: set[str] = set()
        for start in range(0, len(ids), _AT_ONCE):
            some = ids[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT id FROM chunks WHERE id IN ({marks})"  # noqa: S608 - question marks
            found.update(row[0] for row in self._connection.execute(query, some))
        return [name for name in ids if name in found]

    def read(self, ids: Sequence[str]) -> tuple[list[Chunk], Embeddings]:
        """Chunks that are there and their ``(n, d)`` vectors, in the order of ``ids``."""
        query = "SELECT record, vector FROM chunks WHERE id = ?"
        rows = [self._connection.execute(query, (name,)).fetchone() for name in ids]
        return self._decoded(rows)

    def scan(self, size: int) -> Iterator[tuple[list[Chunk], Embeddings]]:
        """Everything, in batches, in the order of the ids."""
        last = ""
        query = "SELECT record, vector, id FROM chunks WHERE id > ? ORDER BY id LIMIT ?"
        while rows := self._connection.execute(query, (last, size)).fetchall():
            last = rows[-1][2]
            yield self._decoded(rows)

    def _decoded(self, rows: Sequence[tuple[str, bytes]]) -> tuple[list[Chunk], Embeddings]:
        chunks = [chunk_from_record(json.loads(row[0])) for row in rows]
        vectors = np.empty((len(rows), self._dimension), np.float32)
        for at, row in enumerate(rows):
            vectors[at] = np.frombuffer(row[1], _BLOB)
        return chunks, vectors

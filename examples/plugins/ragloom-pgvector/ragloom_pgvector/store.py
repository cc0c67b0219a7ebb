"""Chunks in PostgreSQL: a table a space, each chunk whole as JSON beside its vector.

The JSON is kept as bytes, since neither text nor jsonb can hold NUL. Searches are exact and in the
server: it orders by distance and id, and rows are read until enough of them pass the conditions.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from psycopg import sql
from ragloom import Chunk, Condition, Embeddings, StoreDamagedError, StoreError
from ragloom.stores import check_records, chunk_from_record, chunk_to_record, dump_json, matches

from ragloom_pgvector import PgvectorOptions

_BATCH = 200


class PgvectorStore:
    """Keeps each space in a table of PostgreSQL, and answers searches there."""

    def __init__(self, options: PgvectorOptions | None = None) -> None:
        self._options = options or PgvectorOptions()
        address = re.sub(r":[^:@/]*@", "@", self._options.url)  # no password in a fingerprint
        self.fingerprint = f"pgvector:{address}:{self._options.schema}:{self._options.table}"
        self._connection: psycopg.Connection[Any] | None = None
        self._table = self._records = sql.Identifier("")
        self._dimension = 0

    def open(self, *, space: str, dimension: int, directory: Path) -> None:  # noqa: ARG002
        """Connect, and make the space's table."""
        self.close()
        self._dimension = dimension
        name = _table_name(self._options.table, space)
        schema = self._options.schema
        self._table, self._records = (
            sql.Identifier(*((schema, one) if schema else (one,)))
            for one in (name, f"{name}_records")
        )
        with self._reporting():
            self._connection = psycopg.connect(
                self._options.url, connect_timeout=self._options.timeout
            )
        try:
            with self._reporting():
                self._claim(space)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection; every write was committed when it returned."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks in one transaction, replacing those with the same id."""
        connection = self._opened
        check_records(chunks, vectors, dimension=self._dimension)
        query = sql.SQL(
            "INSERT INTO {} (id, record, embedding) VALUES (%s, %s, %s::vector) "
            "ON CONFLICT (id) DO UPDATE SET record = excluded.record, "
            "embedding = excluded.embedding"
        ).format(self._table)
        rows = [
            (chunk.id, dump_json(chunk_to_record(chunk)).encode(), _literal(vector))
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
        with self._reporting(), connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(query, rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks in one transaction; unknown ids are ignored."""
        self._execute("DELETE FROM {} WHERE id = ANY(%s)", [list(ids)])

    def count(self) -> int:
        """Chunks in the space."""
        [(number,)] = self._fetch("SELECT count(*) FROM {}")
        return int(number)

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in the order of the ids."""
        last: str | None = None
        while True:
            rows = self._fetch(
                "SELECT id, record, embedding::text FROM {} "
                "WHERE %s::text IS NULL OR id > %s ORDER BY id LIMIT %s",
                [last, last, batch_size],
            )
            if not rows:
                return
            last = rows[-1][0]
            vectors = np.array([json.loads(row[2]) for row in rows], dtype=np.float32)
            yield [_chunk(row[1]) for row in rows], vectors.reshape(len(rows), self._dimension)

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """The nearest chunks and their cosine, exactly; ties by id."""
        connection, found = self._opened, list[tuple[str, float]]()
        if limit <= 0:
            return found
        query = sql.SQL(
            "SELECT id, record, 1 - (embedding <=> %s::vector) AS cosine FROM {} "
            "ORDER BY cosine DESC, id"
        ).format(self._table)
        # A cursor of the server's: rows come in batches, and no more than are looked at.
        with (
            self._reporting(),
            connection.transaction(),
            connection.cursor(name="ragloom_search") as cursor,
        ):
            cursor.itersize = _BATCH
            cursor.execute(query, [_literal(vector)])
            for name, record, cosine in cursor:
                if where:
                    chunk = _chunk(record)
                    if not matches(chunk.uri, chunk.metadata, where):
                        continue
                found.append((name, min(1.0, max(-1.0, float(cosine)))))
                if len(found) == limit:
                    break
        return found

    def put_records(self, records: Mapping[str, str]) -> None:
        """Keep texts beside the chunks in one transaction; an empty one removes it."""
        kept = [(name, text.encode()) for name, text in records.items() if text]
        remove = sql.SQL("DELETE FROM {} WHERE name = ANY(%s)").format(self._records)
        insert = sql.SQL("INSERT INTO {} (name, value) VALUES (%s, %s)").format(self._records)
        connection = self._opened
        with self._reporting(), connection.transaction(), connection.cursor() as cursor:
            cursor.execute(remove, [list(records)])
            cursor.executemany(insert, kept)

    def get_records(self, names: Sequence[str]) -> Mapping[str, str]:
        """Those of the records that are there."""
        query = "SELECT name, value FROM {} WHERE name = ANY(%s)"
        rows = self._fetch(query, [list(names)], self._records)
        return {name: bytes(value).decode() for name, value in rows}

    def drop(self) -> None:
        """Remove this space's chunks and records."""
        self._execute("DELETE FROM {}")
        self._execute("DELETE FROM {}", table=self._records)

    def _claim(self, space: str) -> None:
        """Create the table; rebuild it where it is empty and of another dimension."""
        # Two processes that begin together must not both create the extension.
        self._execute("SELECT pg_advisory_lock(%s)", [_LOCK])
        try:
            self._execute("CREATE EXTENSION IF NOT EXISTS vector")
            self._create()
            rows = self._fetch("SELECT vector_dims(embedding) FROM {} LIMIT 1")
            if rows and rows[0][0] != self._dimension:
                raise StoreError(
                    f"the space {space!r} in PostgreSQL holds vectors of {rows[0][0]} numbers, not "
                    f"{self._dimension}: drop it and index again"
                )
            if not rows:
                self._execute("DROP TABLE {}")
                self._create()
        finally:
            self._execute("SELECT pg_advisory_unlock(%s)", [_LOCK])

    def _create(self) -> None:
        self._execute(
            f'CREATE TABLE IF NOT EXISTS {{}} (id text COLLATE "C" PRIMARY KEY, '
            f"record bytea NOT NULL, embedding vector({int(self._dimension)}) NOT NULL)"
        )
        self._execute(
            "CREATE TABLE IF NOT EXISTS {} (name text PRIMARY KEY, value bytea NOT NULL)",
            table=self._records,
        )

    def _execute(
        self, query: str, values: Sequence[object] = (), table: sql.Identifier | None = None
    ) -> None:
        connection = self._opened
        composed = sql.SQL(query).format(table or self._table)  # type: ignore[arg-type]
        with self._reporting(), connection.transaction():
            connection.execute(composed, values or None)

    def _fetch(
        self, query: str, values: Sequence[object] = (), table: sql.Identifier | None = None
    ) -> list[tuple[Any, ...]]:
        connection = self._opened
        composed = sql.SQL(query).format(table or self._table)  # type: ignore[arg-type]
        with self._reporting(), connection.transaction():
            return list(connection.execute(composed, values or None).fetchall())

    @property
    def _opened(self) -> psycopg.Connection[Any]:
        if self._connection is None:
            raise StoreError("the store 'pgvector' is not open")
        return self._connection

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Errors of PostgreSQL and of the way to it, as ours."""
        try:
            yield
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            raise StoreError(f"PostgreSQL failed: {said}") from error


_LOCK = int.from_bytes(hashlib.sha256(b"ragloom-pgvector").digest()[:6], "big")


def _literal(vector: Embeddings) -> str:
    """The vector as pgvector reads it: every float32 has a shortest form that names it alone."""
    return "[" + ",".join(str(number) for number in vector) + "]"


def _chunk(record: bytes) -> Chunk:
    try:
        return chunk_from_record(json.loads(bytes(record)))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreDamagedError(
            f"a row in PostgreSQL is not a chunk ({error}); run `ragloom repair`"
        ) from error


def _table_name(prefix: str, space: str) -> str:
    """A name of at most 63 bytes, readable, and different for every two different spaces."""
    readable = re.sub(r"[^a-z0-9]+", "_", f"{prefix}_{space}".lower())[:40].strip("_")
    return f"{readable}_{hashlib.sha256(space.encode()).hexdigest()[:12]}"

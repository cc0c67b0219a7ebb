"""The store ``sqlite``: one database in WAL mode, vectors as float32 blobs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import numpy as np

from ragloom import Chunk, Embeddings, StoreDamagedError, StoreError, StoreLockedError
from ragloom.stores import (
    check_format,
    check_records,
    chunk_from_record,
    chunk_to_record,
    dump_json,
    format_stamp,
)
from ragloom.text import parse_json

PATIENCE: Final = 5.0
"""Seconds to wait for another process's transaction."""

_FORMAT: Final = 1
_MAGIC: Final = b"SQLite format 3\0"

_WRITE_VERSION, _NEWEST_WRITER = 18, 2
_FAULTS: Final = (
    *("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_NOMEM", "SQLITE_READONLY"),
    *("SQLITE_PERM", "SQLITE_AUTH", "SQLITE_INTERRUPT", "SQLITE_ABORT", "SQLITE_NOLFS"),
    *("SQLITE_PROTOCOL", "SQLITE_MISUSE", "SQLITE_TOOBIG"),
)
_SHORT: Final = ("SQLITE_IOERR_SHORT_READ", "SQLITE_IOERR_DATA")  # CORRUPTFS is what EIO becomes

Execute: TypeAlias = Callable[..., sqlite3.Cursor]

# "<f4": the same file on every machine.
_BLOB: Final = np.dtype("<f4")

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS format (
    number INTEGER NOT NULL,
    release TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS spaces (
    space TEXT PRIMARY KEY,
    dimension INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS chunks (
    space TEXT NOT NULL,
    id TEXT NOT NULL,
    uri TEXT NOT NULL,
    text TEXT NOT NULL,
    extra TEXT NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (space, id)
);
"""
# SQLite counts a whole table page by page, in half the time.
_COUNT: Final = """
SELECT CASE WHEN (SELECT min(space) FROM chunks) = :space AND (SELECT max(space) FROM chunks) = :space
    THEN (SELECT count(*) FROM chunks)
    ELSE (SELECT count(*) FROM chunks WHERE space = :space)
END
"""


class SqliteStore:
    """Keeps spaces in an SQLite database.

    Args:
        path: The database; empty for ``<directory>/store.sqlite3``.
        patience: Seconds to wait while another process writes.
    """

    def __init__(self, *, path: str = "", patience: float = PATIENCE) -> None:
        self.fingerprint = f"sqlite:{path}"
        self._path = path
        self._patience = patience
        self._file = Path()
        self._space = ""
        self._dimension = 0
        self._connection: sqlite3.Connection | None = None

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """As in :class:`ragloom.Store`; :class:`StoreError` where ``path`` was never a database."""
        self.close()
        given = Path(self._path).expanduser() if self._path else directory / "store.sqlite3"
        self._file = given.absolute()
        if self._path and _is_something_else(self._file):
            raise StoreError(
                f"{self._file} is not a database: 'path' of the store 'sqlite' must be one, or a file "
                "that does not exist yet"
            )
        self._space, self._dimension = space, dimension
        with self._reporting():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self._file, timeout=self._patience, isolation_level=None
            )
        try:
            with self._reporting():
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._check_format()
                with self._transaction() as execute:
                    for statement in _SCHEMA.split(";"):
                        execute(statement)
                    if execute("SELECT 1 FROM format").fetchone() is None:
                        execute(
                            "INSERT INTO format VALUES (:format, :release)", format_stamp(_FORMAT)
                        )
                    self._claim(execute)
        except BaseException:
            self._connection.close()
            self._connection = None
            raise

    def close(self) -> None:
        """Close; every write was committed when it returned. Twice does nothing."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with self._reporting():
                connection.close()

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """As in :class:`ragloom.Store`, in one transaction."""
        self._opened  # noqa: B018 - raises when closed
        check_records(chunks, vectors, dimension=self._dimension)
        with self._reporting(), self._transaction() as execute:
            for chunk, vector in zip(chunks, vectors, strict=True):
                record = chunk_to_record(chunk)
                values = (
                    self._space,
                    record.pop("id"),
                    record.pop("uri"),
                    record.pop("text"),
                    dump_json(record),
                    vector.astype(_BLOB).tobytes(),
                )
                execute("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?)", values)

    def delete(self, ids: Sequence[str]) -> None:
        """As in :class:`ragloom.Store`, in one transaction."""
        self._opened  # noqa: B018 - raises when closed
        with self._reporting(), self._transaction() as execute:
            for name in ids:
                execute("DELETE FROM chunks WHERE space = ? AND id = ?", (self._space, name))

    def count(self) -> int:
        """Chunks in the space."""
        with self._reporting():
            [number] = self._opened.execute(_COUNT, {"space": self._space}).fetchone()
        return int(number)

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """As in :class:`ragloom.Store`; StoreDamagedError where a row cannot be read."""
        last = ""
        query = (
            "SELECT id, uri, text, extra, vector FROM chunks WHERE space = ? AND id > ? "
            "ORDER BY id LIMIT ?"
        )
        while True:
            with self._reporting():
                page = self._opened.execute(query, (self._space, last, batch_size)).fetchall()
            if not page:
                return
            names = [last, *(row[0] for row in page)]
            if not all(isinstance(name, str) for name in names) or names != sorted(set(names)):
                raise self._damaged("the ids are not in their order")
            last = names[-1]
            try:
                chunks = [
                    chunk_from_record(_object(extra) | {"id": name, "uri": uri, "text": text})
                    for name, uri, text, extra, _ in page
                ]
            except (KeyError, TypeError, ValueError) as error:
                raise self._damaged(f"a row cannot be read ({error})") from error
            yield chunks, self._matrix([row[-1] for row in page])

    def drop(self) -> None:
        """Remove this space's chunks."""
        self._opened  # noqa: B018 - raises when closed
        with self._reporting(), self._transaction() as execute:
            execute("DELETE FROM chunks WHERE space = ?", (self._space,))

    def _check_format(self) -> None:
        """Refuse what a newer ragloom wrote; a new database has no table of its format."""
        query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'format'"
        if self._opened.execute(query).fetchone() is None:
            return
        row = self._opened.execute("SELECT number, release FROM format").fetchone()
        try:
            number, release = row or (_FORMAT, "")
            check_format(number, _FORMAT, place=self._file, release=release)
        except ValueError as error:
            raise self._damaged(str(error)) from error

    def _claim(self, execute: Execute) -> None:
        """Note the space's dimension, or hold the embedder to it."""
        found = execute("SELECT dimension FROM spaces WHERE space = ?", (self._space,)).fetchone()
        if found is not None and found[0] != self._dimension:
            row = execute(
                "SELECT length(vector) FROM chunks WHERE space = ? LIMIT 1", (self._space,)
            ).fetchone()
            if row is not None:
                if not isinstance(found[0], int) or row[0] != found[0] * _BLOB.itemsize:
                    raise self._damaged("its dimension is not that of its vectors")
                raise StoreError(
                    f"the space {self._space!r} in {self._file} holds vectors of {found[0]} "
                    f"numbers, and the embedder gives {self._dimension}: index into a new space, "
                    "or drop this one and index again"
                )
        execute("INSERT OR REPLACE INTO spaces VALUES (?, ?)", (self._space, self._dimension))

    def _matrix(self, blobs: Sequence[object]) -> Embeddings:
        data = b"".join(blob for blob in blobs if isinstance(blob, bytes))
        try:
            matrix = np.frombuffer(data, dtype=_BLOB).reshape(len(blobs), self._dimension)
        except ValueError as error:
            raise self._damaged("a vector has the wrong length") from error
        return np.ascontiguousarray(matrix, dtype=np.float32)

    @property
    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError("the store 'sqlite' is not open")
        return self._connection

    @contextmanager
    def _transaction(self) -> Iterator[Execute]:
        """All or nothing; takes the write lock at once, so that nothing fails half-way for it."""
        connection = self._opened
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection.execute
        except BaseException:
            with suppress(sqlite3.Error):  # a full disk has rolled it back
                connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Errors of SQLite and of the disk, as ours."""
        try:
            yield
        except sqlite3.Error as error:
            # The name is that of the result code: https://sqlite.org/rescode.html.
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                raise StoreLockedError(
                    f"the store {self._file} is in use by another process, which has been "
                    f"writing to it for {self._patience:g} s: run this again when it is done"
                ) from error
            if self._is_fault(name, error):
                raise StoreError(f"the store {self._file} failed: {error}") from error
            # Our statements are right, so that everything else is wrong with the file.
            raise self._damaged(str(error)) from error
        except UnicodeDecodeError as error:  # sqlite3 decodes no message that quotes damaged bytes
            raise self._damaged(str(error)) from error
        except (OSError, MemoryError) as error:
            raise StoreError(
                f"the store {self._file} failed: {str(error) or 'no memory'}"
            ) from error

    def _is_fault(self, name: str, error: sqlite3.Error) -> bool:
        """Whether an error is the machine's or its user's, and says nothing of the content."""
        if not name:  # sqlite3's own
            return isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError)
        if name == "SQLITE_READONLY" and _says_read_only(self._file):
            return False
        return name.startswith(_FAULTS) and name not in _SHORT

    def _damaged(self, what: str) -> StoreDamagedError:
        return StoreDamagedError(f"the store {self._file} is damaged: {what}")


def _is_something_else(path: Path) -> bool:
    """Whether it begins as no database does: https://sqlite.org/fileformat.html#the_database_header."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) not in (b"", _MAGIC)
    except OSError:  # SQLite says why it cannot be opened
        return False


def _object(extra: str) -> dict[str, Any]:
    return cast("dict[str, Any]", parse_json(extra))


def _says_read_only(path: Path) -> bool:
    """Whether the header names a write version that no SQLite has, which makes it read only."""
    try:
        with path.open("rb") as file:
            header = file.read(_WRITE_VERSION + 1)
    except OSError:
        return False
    return len(header) > _WRITE_VERSION and header[_WRITE_VERSION] > _NEWEST_WRITER

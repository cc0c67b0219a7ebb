"""Stores that need nothing but a disk, or not even that: ``memory``, ``file`` and ``sqlite``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragloom import Provider, hookimpl
from ragloom.protocols import Store

__all__ = ["FileOptions", "SqliteOptions", "ragloom_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """Options of the store ``file``.

    Attributes:
        path: A folder in which each space gets its own; empty for the workspace's state.
    """

    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteOptions:
    """Options of the store ``sqlite``.

    Attributes:
        path: A database file that any number of spaces share; empty for one a space, in the
            workspace's state.
    """

    path: str = ""


def _memory(_options: object) -> Store:
    from ragloom_local.memory import MemoryStore

    return MemoryStore()


def _file(options: FileOptions) -> Store:
    from ragloom_local.file import FileStore

    return FileStore(path=options.path)


def _sqlite(options: SqliteOptions) -> Store:
    from ragloom_local.sqlite import SqliteStore

    return SqliteStore(path=options.path)


@hookimpl
def ragloom_stores() -> Iterable[Provider[Store]]:
    """Offer the stores ``memory``, ``file`` and ``sqlite``."""
    return [
        Provider(
            name="memory",
            summary="chunks in this process's memory, gone when it ends",
            create=_memory,
        ),
        Provider(
            name="file",
            summary="readable files: chunks as JSON Lines, vectors as .npy",
            create=_file,
            options=FileOptions,
        ),
        Provider(
            name="sqlite",
            summary="one SQLite database, vectors as float32 blobs",
            create=_sqlite,
            options=SqliteOptions,
        ),
    ]

"""Stores that need nothing but a disk, or not even that: ``memory``, ``file`` and ``sqlite``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ragloom import ConfigError, Provider, Store, hookimpl

__all__ = ["FileOptions", "SqliteOptions", "ragloom_stores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOptions:
    """Options of the store ``file``.

    Attributes:
        path: A folder in which each space gets its own; empty for the workspace's state.
    """

    path: str = field(default="", metadata={"names": "output"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SqliteOptions:
    """Options of the store ``sqlite``.

    Attributes:
        path: A database file that any number of spaces share; empty for one a space, in the
            workspace's state.
    """

    path: str = field(default="", metadata={"names": "output"})


def _memory(_options: object) -> Store:
    from ragloom_local.memory import MemoryStore

    return MemoryStore()


def _file(options: FileOptions) -> Store:
    from ragloom_local.file import FileStore

    return FileStore(path=_path("file", options.path))


def _sqlite(options: SqliteOptions) -> Store:
    from ragloom_local.sqlite import SqliteStore

    return SqliteStore(path=_path("sqlite", options.path))


def _path(store: str, given: str) -> str:
    """What was given, which would make folders called ``https:`` if it were a URL."""
    if "://" in given:
        raise ConfigError(
            f"store {store!r}: option 'path': expected a path, found a URL: its chunks are in files"
        )
    return given


@hookimpl
def ragloom_stores() -> Iterable[Provider[Store]]:
    """Offer the stores ``memory``, ``file`` and ``sqlite``."""
    return [
        Provider(
            name="memory",
            summary="chunks in this process's memory, gone when it ends",
            create=_memory,
            local=True,
            deviations=dict.fromkeys(
                (
                    "test_a_second_process_sees_it_and_is_seen",
                    "test_another_dimension_is_refused_on_opening",
                    "test_dropping_a_space_leaves_the_others",
                    "test_fingerprint_names_the_place",
                    "test_it_agrees_with_an_exact_store_in_memory",
                    "test_reopened_it_is_the_same",
                    "test_spaces_do_not_see_each_other",
                ),
                "kept in the memory of one object, by design",
            ),
        ),
        Provider(
            name="file",
            summary="readable files: chunks as JSON Lines, vectors as .npy",
            create=_file,
            options=FileOptions,
            local=True,
        ),
        Provider(
            name="sqlite",
            summary="one SQLite database, vectors as float32 blobs",
            create=_sqlite,
            options=SqliteOptions,
            local=True,
        ),
    ]

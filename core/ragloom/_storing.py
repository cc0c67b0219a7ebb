"""Writing to a store so that it ends up holding exactly what the next generation will."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom._journal import Journal
from ragloom.errors import StoreDamagedError, StoreError
from ragloom.protocols import Embeddings, Store
from ragloom.snapshot import NewRow, Snapshot, keep_aside
from ragloom.types import Chunk

__all__ = ["Progress", "StoreWriter"]

Progress = Callable[[str, int, int], None]
"""Called with a stage (``files``, ``chunks``, ``store``), how much is done, and of how much."""

_LOG = logging.getLogger("ragloom")
_WRITE_AT_ONCE = 1000  # chunks a store call


class StoreWriter:
    """The store of one space; the caller holds the space's lock.

    Args:
        name: The space.
        directory: Its state folder; stores that keep files get a folder in it.
        store: Closed between two calls.
        progress: Told how much is written.
    """

    def __init__(self, name: str, directory: Path, store: Store, progress: Progress) -> None:
        self._name = name
        self._directory = directory
        self._store = store
        self._progress = progress

    def write(
        self,
        snapshot: Snapshot | None,
        kept: npt.NDArray[np.bool_],
        rows: Sequence[NewRow],
        gone: set[str],
        journal: Journal,
        dimension: int,
    ) -> None:
        """Make the store hold the kept rows of ``snapshot`` and the new ones, and nothing else.

        Usually that is an upsert and a delete. What an interrupted run may have written or deleted is
        written or deleted again, and a store that is not what it should be is written anew.

        Raises:
            StoreError: It does not hold what was written to it.
        """
        total = int(kept.sum()) + len(rows)
        everything = [int(row) for row in np.flatnonzero(kept)]
        if snapshot is not None and snapshot.meta.dimension != dimension:
            with self._open(snapshot.meta.dimension):
                self._store.drop()
        with self._open(dimension):
            fresh = {row.chunk.id for row in rows}
            known = {} if snapshot is None else snapshot.row_of_id
            interrupted = journal.touched()
            journal.touch(fresh | gone)
            again = sorted(
                known[name] for name in interrupted if name in known and kept[known[name]]
            )
            if snapshot is not None and (
                snapshot.meta.store != self._store.fingerprint or self._store.count() == 0
            ):
                again = everything
            self._upsert(snapshot, again, rows)
            orphans = {name for name in interrupted if name not in fresh and name not in known}
            self._store.delete(sorted(gone | orphans))
            whole = self._store.count() == total
            if not whole:
                _LOG.warning("%s: the store had lost or kept chunks: written anew", self._name)
                self._store.drop()
        if not whole:
            self._write_anew(snapshot, everything, rows, dimension)

    def rebuild(self, snapshot: Snapshot) -> int:
        """Write a whole generation anew; the number of chunks is returned."""
        with self._open(snapshot.meta.dimension):
            self._store.drop()
        self._write_anew(snapshot, range(len(snapshot)), [], snapshot.meta.dimension)
        return len(snapshot)

    def read(self, dimension: int) -> Iterator[tuple[Chunk, Embeddings]]:
        """Everything in the store."""
        with self._open(dimension):
            for chunks, vectors in self._store.scan():
                yield from zip(chunks, vectors, strict=True)

    def _write_anew(
        self,
        snapshot: Snapshot | None,
        again: Sequence[int],
        rows: Sequence[NewRow],
        dimension: int,
    ) -> None:
        total = len(again) + len(rows)
        with self._open(dimension):
            self._upsert(snapshot, again, rows)
            count = self._store.count()
        if count != total:
            raise StoreError(
                f"the store holds {count} chunks of {self._name!r} after {total} were written; "
                "the last index goes on answering"
            )

    @contextmanager
    def _open(self, dimension: int) -> Iterator[None]:
        """Open the store; one that is damaged is kept aside, and an empty one takes its place."""
        directory = self._directory / "store"
        directory.mkdir(parents=True, exist_ok=True)
        try:
            self._store.open(space=self._name, dimension=dimension, directory=directory)
        except StoreDamagedError as error:
            if not any(directory.iterdir()):
                raise
            aside = keep_aside(directory)
            directory.mkdir()
            _LOG.warning("%s: %s; kept as %s and written anew", self._name, error, aside)
            self._store.open(space=self._name, dimension=dimension, directory=directory)
        try:
            yield
        finally:
            self._store.close()

    def _upsert(
        self, snapshot: Snapshot | None, again: Sequence[int], rows: Sequence[NewRow]
    ) -> None:
        """Write rows of ``snapshot`` as they are, then new ones."""
        total = len(again) + len(rows)
        done = 0
        if snapshot is not None:
            for start in range(0, len(again), _WRITE_AT_ONCE):
                part = list(again[start : start + _WRITE_AT_ONCE])
                self._progress("store", done, total)
                self._store.upsert([snapshot.chunk(row) for row in part], snapshot.vectors[part])
                done += len(part)
        for start in range(0, len(rows), _WRITE_AT_ONCE):
            batch = rows[start : start + _WRITE_AT_ONCE]
            self._progress("store", done, total)
            self._store.upsert(
                [row.chunk for row in batch],
                np.ascontiguousarray([row.vector for row in batch], np.float32),
            )
            done += len(batch)
        self._progress("store", total, total)

"""Writing to a store so that it ends up holding exactly what the next generation will.

A store may be shared: other machines, with other files, write to the same Milvus collection or SQLite file.
Every run makes it hold what that run's generation does. So that nobody's search suffers from what another
wrote, a store that answers searches itself holds one row more, a mark, which names the set of chunks and
embeddings that was last written. Readers whose snapshot is of another set ask their snapshot instead.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreDamagedError, StoreError, StoreLockedError
from ragloom.indexing.journal import Journal
from ragloom.protocols import Embeddings, SearchableStore, Store
from ragloom.secrets.redaction import hide_passwords
from ragloom.snapshot import NewRow, Snapshot, contents
from ragloom.stores.atomic import quarantine
from ragloom.types import Chunk, Lines, Progress, Span

_LOG = logging.getLogger("ragloom")
_WRITE_AT_ONCE = 1000  # chunks a store call
# The uri of marks: the folder of the state, so that no file can be called so. Their ids begin with it, too,
# and so come before those of chunks that are as near.
_MARK = ".ragloom"
_MARKS = 100  # more than there can be machines that wrote at the same moment


def answers_for(store: SearchableStore, snapshot: Snapshot) -> bool:
    """Whether an open store that answers searches itself holds exactly the chunks of ``snapshot``.

    Raises:
        StoreError: It failed.
    """
    # Two are enough: where there is more than one, none counts.
    return _marks(store, snapshot.meta.dimension, limit=2) == [_mark_of(snapshot)]


def _mark_of(snapshot: Snapshot) -> str:
    return f"{_MARK}-{snapshot.contents}"


def _marks(store: Store, dimension: int, *, limit: int = _MARKS) -> list[str]:
    """The marks in an open store, found by their vector: a condition may cost a look at every row."""
    if not isinstance(store, SearchableStore):
        return []
    found = store.search(_axis(dimension)[0], limit=limit)
    return [name for name, _ in found if name.startswith(_MARK)]


def _axis(dimension: int) -> Embeddings:
    """``(1, dimension)``: the vector of marks, which must have one."""
    return np.eye(1, dimension, dtype=np.float32)


class StoreWriter:
    """The store of one space; the caller holds the space's lock.

    Args:
        name: The space.
        directory: Its state folder; stores that keep files get a folder in it.
        store: Closed between two calls.
        progress: Told how much is written.
    """

    def __init__(self, name: str, directory: Path, store: Store, progress: Progress) -> None:
        self.name = name
        self._files = directory / "store"
        self.store = store
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
        written or deleted again; a store that is not as ``snapshot`` left it is read, and what differs
        is written and deleted. One that turns out to be damaged is quarantined and written whole.

        Raises:
            StoreError: It does not hold what was written to it, or the machine failed.
            StoreDamagedError: It lies elsewhere.
        """
        everything = [int(row) for row in np.flatnonzero(kept)]
        try:
            whole = self._write_changes(snapshot, everything, rows, gone, journal, dimension)
        except StoreDamagedError as error:
            self._quarantine(error)
            whole = False
        if not whole:
            self._rewrite(snapshot, everything, rows, dimension)

    def _write_changes(
        self,
        snapshot: Snapshot | None,
        everything: list[int],
        rows: Sequence[NewRow],
        gone: set[str],
        journal: Journal,
        dimension: int,
    ) -> bool:
        """Whether the store holds what it should; one that does not is empty."""
        self._make_room(snapshot, journal, dimension)
        with self._open(dimension):
            marks = _marks(self.store, dimension)
            fresh = {row.chunk.id for row in rows}
            interrupted = journal.touched()
            staying = set(everything)
            if snapshot is not None and self._is_left_by(snapshot, marks, interrupted):
                known = snapshot.row_of_id
                again = sorted(
                    known[name] for name in interrupted if name in known and known[name] in staying
                )
                late = rows
                gone = gone | {name for name in interrupted if name not in fresh | known.keys()}
            else:
                again, late, foreign = self._differing(snapshot, everything, rows)
                gone = gone | foreign
            here = (
                set() if snapshot is None else {snapshot.ids[row].decode("ascii") for row in again}
            )
            journal.touch(fresh | gone | here)
            mark = self._mark(snapshot, everything, rows)
            if marks and (again or late or gone or marks != mark):
                self.store.delete(marks)
                marks = []
            self._upsert(snapshot, again, late)
            if gone:
                self.store.delete(sorted(gone))
            whole = self.store.count() == len(everything) + len(rows) + len(marks)
            if whole and not marks:
                self._set(mark, dimension)
            elif not whole:
                _LOG.warning("%s: store out of sync: rebuilding it", self.name)
                self.store.drop()
        return whole

    def rebuild(self, snapshot: Snapshot, journal: Journal) -> int:
        """Rewrite a whole generation; the number of chunks is returned."""
        dimension = snapshot.meta.dimension
        self._make_room(snapshot, journal, dimension)
        journal.touch(())  # killed, the next run looks at what the store holds
        try:
            with self._open(dimension):
                self.store.drop()
        except StoreDamagedError as error:
            self._quarantine(error)
        self._rewrite(snapshot, range(len(snapshot)), [], dimension)
        journal.settle()
        return len(snapshot)

    def read(self, dimension: int) -> Sequence[tuple[Chunk, Embeddings]]:
        """Everything in the store; each chunk says whose vector it has.

        One that is damaged is quarantined, and holds nothing then.

        Raises:
            StoreDamagedError: It is damaged, and lies elsewhere.
        """
        try:
            with self._open(dimension):
                return list(self._scan())
        except StoreDamagedError as error:
            self._quarantine(error)
        return []

    def known(
        self,
        keys: Collection[str],
        snapshot: Snapshot | None,
        journal: Journal,
        dimension: int,
    ) -> Mapping[str, Embeddings]:
        """Vectors by their key, as far as the store has them: another run may have written them.

        A store that is as ``snapshot`` left it is not read. One that cannot be read knows nothing.
        """
        self._make_room(snapshot, journal, dimension)
        with self._open(dimension), suppress(StoreDamagedError):
            marks = _marks(self.store, dimension)
            if snapshot is None or not self._is_left_by(snapshot, marks, ()):
                return {chunk.key: vector for chunk, vector in self._scan() if chunk.key in keys}
        return {}

    def _make_room(self, snapshot: Snapshot | None, journal: Journal, dimension: int) -> None:
        """Drop what ``snapshot`` or an interrupted run left of vectors of another dimension."""
        others = journal.dimensions()
        if snapshot is not None:
            others.add(snapshot.meta.dimension)
        if not (others := others - {dimension}):
            return
        journal.touch(())
        try:
            with self._open(dimension):
                return  # dropped before
        except (StoreDamagedError, StoreLockedError):
            raise
        except StoreError:
            for other in sorted(others):
                with suppress(StoreError), self._open(other):
                    self.store.drop()
                    return
            raise

    def _quarantine(self, error: StoreDamagedError) -> None:
        """Quarantine the files of a damaged store, and begin an empty one.

        Raises:
            StoreDamagedError: It lies elsewhere; nothing was moved.
        """
        if not any(self._files.iterdir()):
            raise StoreDamagedError(
                f"{error}: it lies outside of the space's folder, and stays as it is: move it away, and "
                "'ragloom repair' or the next index run rebuilds it"
            ) from error
        aside = quarantine(self._files)
        self._files.mkdir()
        _LOG.warning("%s: %s; quarantined as %s and rebuilt", self.name, error, aside)

    def _is_left_by(
        self, snapshot: Snapshot, marks: Sequence[str], interrupted: Collection[str]
    ) -> bool:
        """Whether the store is as it was when ``snapshot`` was published, but for what was interrupted."""
        if snapshot.meta.store != hide_passwords(self.store.fingerprint):
            return False
        if isinstance(self.store, SearchableStore):
            return list(marks) == [_mark_of(snapshot)]
        return bool(interrupted) or self.store.count() == len(snapshot)

    def _differing(
        self, snapshot: Snapshot | None, everything: list[int], rows: Sequence[NewRow]
    ) -> tuple[list[int], Sequence[NewRow], set[str]]:
        """Rows of ``snapshot`` and new ones that the store lacks, and the ids that it should not have."""
        old: dict[str, int] = {}
        if snapshot is not None:
            old = {snapshot.ids[row].decode("ascii"): row for row in everything}
        new = {row.chunk.id: row for row in rows}
        foreign: set[str] = set()
        try:
            for chunk, _ in self._scan() if self.store.count() else ():
                if (row := new.get(chunk.id)) is not None:
                    if chunk == _stored(row):
                        del new[chunk.id]
                elif snapshot is not None and chunk.id in old:
                    if chunk == _stored_again(snapshot, old[chunk.id]):
                        del old[chunk.id]
                else:
                    foreign.add(chunk.id)
        except StoreDamagedError as error:
            if any(self._files.iterdir()):
                raise  # what is damaged cannot be relied on to be emptied
            _LOG.warning("%s: %s; rebuilding it", self.name, error)
            self.store.drop()
            return everything, rows, set()
        return sorted(old.values()), list(new.values()), foreign

    def _scan(self) -> Iterator[tuple[Chunk, Embeddings]]:
        for chunks, vectors in self.store.scan():
            for chunk, vector in zip(chunks, vectors, strict=True):
                if chunk.uri == _MARK:
                    continue
                if not np.isfinite(vector).all():
                    raise StoreDamagedError(f"{chunk.uri}: a vector in the store is not finite")
                yield chunk, vector

    def _mark(
        self, snapshot: Snapshot | None, everything: Sequence[int], rows: Sequence[NewRow]
    ) -> list[str]:
        """The mark of rows of ``snapshot`` and new ones; none where readers do not ask the store."""
        if not isinstance(self.store, SearchableStore):
            return []
        ids = [row.chunk.id.encode() for row in rows]
        keys = [row.key.encode() for row in rows]
        if snapshot is not None:
            ids.extend(snapshot.ids[list(everything)])
            keys.extend(snapshot.keys[list(everything)])
        return [f"{_MARK}-{contents(np.array(ids, 'S32'), np.array(keys, 'S32'))}"]

    def _set(self, marks: Sequence[str], dimension: int) -> None:
        for name in marks:
            mark = Chunk(
                id=name,
                uri=_MARK,
                text="the chunks of this set are here",
                span=Span(0, 0),
                lines=Lines(1, 1),
                bytes=Span(0, 0),
            )
            self.store.upsert([mark], _axis(dimension))

    def _rewrite(
        self,
        snapshot: Snapshot | None,
        again: Sequence[int],
        rows: Sequence[NewRow],
        dimension: int,
    ) -> None:
        total = len(again) + len(rows)
        with self._open(dimension):
            self._upsert(snapshot, again, rows)
            count = self.store.count()
            if count == total:
                self._set(self._mark(snapshot, again, rows), dimension)
        if count != total:
            raise StoreError(
                f"the store holds {count} chunks of {self.name!r} after {total} were written; "
                "the last index keeps answering"
            )

    @contextmanager
    def _open(self, dimension: int) -> Iterator[None]:
        """Open the store; a damaged one is quarantined, and an empty one takes its place."""
        self._files.mkdir(parents=True, exist_ok=True)
        try:
            self.store.open(space=self.name, dimension=dimension, directory=self._files)
        except StoreDamagedError as error:
            self._quarantine(error)
            self.store.open(space=self.name, dimension=dimension, directory=self._files)
        try:
            yield
        finally:
            self.store.close()

    def _upsert(
        self, snapshot: Snapshot | None, again: Sequence[int], rows: Sequence[NewRow]
    ) -> None:
        """Write rows of ``snapshot`` as they are, then new ones."""
        total = len(again) + len(rows)
        items = _items(snapshot, again, rows)
        for done in range(0, total, _WRITE_AT_ONCE):
            self._progress("store", done, total)
            chunks, vectors = zip(*islice(items, _WRITE_AT_ONCE), strict=True)
            self.store.upsert(chunks, np.ascontiguousarray(vectors, np.float32))
        self._progress("store", total, total)


def _items(
    snapshot: Snapshot | None, again: Sequence[int], rows: Sequence[NewRow]
) -> Iterator[tuple[Chunk, Embeddings]]:
    if snapshot is not None:
        yield from ((_stored_again(snapshot, row), snapshot.vectors[row]) for row in again)
    yield from ((_stored(row), row.vector) for row in rows)


def _stored(row: NewRow) -> Chunk:
    return replace(row.chunk, key=row.key)


def _stored_again(snapshot: Snapshot, row: int) -> Chunk:
    return replace(snapshot.chunk(row), key=snapshot.keys[row].decode("ascii"))

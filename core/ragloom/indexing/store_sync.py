"""Writing to a store so that it ends up holding exactly what the next generation will.

A store may be shared: other machines, with other files, write to the same Milvus collection or SQLite file.
Every run makes it hold what that run's generation does. So that nobody's search suffers from what another
wrote, a store that answers searches itself holds one row more, a mark, which names the set of chunks and
embeddings that was last written. Readers whose snapshot is of another set ask their snapshot instead.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreDamagedError, StoreError, StoreLockedError
from ragloom.indexing.journal import Journal
from ragloom.protocols import Embeddings, SearchableStore, Store
from ragloom.secrets.redaction import hide_passwords
from ragloom.snapshot import Snapshot
from ragloom.stores.atomic import quarantine
from ragloom.types import Chunk, Lines, Progress, Span

_LOG = logging.getLogger("ragloom")
_WRITE_AT_ONCE = 1000  # chunks a store call
_RELEASED = 10 * _WRITE_AT_ONCE  # chunks, after which their memory is given back
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

    @property
    def named(self) -> tuple[str, bool]:
        """The store's fingerprint without passwords, and whether readers ask the store."""
        return hide_passwords(self.store.fingerprint), isinstance(self.store, SearchableStore)

    def write(
        self, snapshot: Snapshot, before: Snapshot | None, journal: Journal, *, interrupted: bool
    ) -> None:
        """Make the store hold the chunks of a generation that has all its vectors, and nothing else.

        Usually that is an upsert and a delete of what the journal says has changed since ``before``. A
        store that is not as ``before`` says is read, and what differs is written and deleted. A store that
        turns out to be damaged is quarantined and written whole.

        Args:
            snapshot: The generation.
            before: The one that answers now.
            journal: Knows what has changed since the store was written.
            interrupted: Whether an earlier run may have written some of it.

        Raises:
            StoreError: It does not hold what was written to it, or the machine failed.
            StoreDamagedError: It lies elsewhere.
        """
        try:
            whole = self._write_changes(snapshot, before, journal, interrupted=interrupted)
        except StoreDamagedError as error:
            self._quarantine(error)
            whole = False
        if not whole:
            self._rewrite(snapshot)

    def _write_changes(
        self, snapshot: Snapshot, before: Snapshot | None, journal: Journal, *, interrupted: bool
    ) -> bool:
        """Whether the store holds what it should; one that does not is empty."""
        dimension = snapshot.meta.dimension
        self._make_room(before, journal, dimension)
        with self._open(dimension):
            marks = _marks(self.store, dimension)
            touched = journal.touched()
            if before is not None and (self._is_left_by(before, marks, interrupted=interrupted)):
                rows = np.sort(snapshot.rows_of(touched))
                gone = touched.difference(_names(snapshot, rows))
            else:
                rows, gone = self._differing(snapshot)
                journal.touch(())  # killed, the next run reads it once more
            mark = self._mark(snapshot)
            if marks and (len(rows) or gone or marks != mark):
                self.store.delete(marks)
                marks = []
            self._upsert(snapshot, rows)
            if gone:
                self.store.delete(sorted(gone))
            whole = self.store.count() == len(snapshot) + len(marks)
            if whole and not marks:
                self._set(mark, dimension)
            elif not whole:
                _LOG.warning("%s: store out of sync: rebuilding it", self.name)
                self.store.drop()
        return whole

    def rebuild(self, snapshot: Snapshot, journal: Journal) -> int:
        """Rewrite what has vectors of a generation; the number of its chunks is returned.

        The others follow once they have theirs.
        """
        dimension = snapshot.meta.dimension
        self._make_room(snapshot, journal, dimension)
        journal.touch(())  # killed, the next run looks at what the store holds
        try:
            with self._open(dimension):
                self.store.drop()
        except StoreDamagedError as error:
            self._quarantine(error)
        pending = _names(snapshot, snapshot.pending)
        self._rewrite(snapshot)
        journal.settle()
        if pending:
            journal.touch(pending)
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
        keys: npt.NDArray[np.bytes_],
        before: Snapshot | None,
        journal: Journal,
        dimension: int,
    ) -> Mapping[str, Embeddings]:
        """Vectors by their key, as far as the store has them: another run may have written them.

        A store that is as ``before`` left it is not read. One that cannot be read knows nothing.
        """
        self._make_room(before, journal, dimension)
        with self._open(dimension), suppress(StoreDamagedError):
            marks = _marks(self.store, dimension)
            left = before is not None and self._is_left_by(before, marks)
            if not left and self.store.count():
                wanted = {key.decode("ascii") for key in keys}
                return {chunk.key: vector for chunk, vector in self._scan() if chunk.key in wanted}
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
        self, before: Snapshot, marks: Sequence[str], *, interrupted: bool = False
    ) -> bool:
        """Whether the store is as ``before`` says, but for what has changed since."""
        if before.meta.store != self.named[0]:
            return False
        if isinstance(self.store, SearchableStore):
            return list(marks) == [f"{_MARK}-{before.meta.stored}"]
        return interrupted or str(self.store.count()) == before.meta.stored

    def _differing(self, snapshot: Snapshot) -> tuple[npt.NDArray[np.intp], set[str]]:
        """Rows that the store lacks, and the ids that it should not have."""
        lacking: npt.NDArray[np.bool_] = np.ones(len(snapshot), np.bool_)
        foreign: set[str] = set()
        try:
            for chunk, _ in self._scan() if self.store.count() else ():
                row = snapshot.rows_of([chunk.id])
                if not len(row):
                    foreign.add(chunk.id)
                elif chunk == _stored(snapshot, int(row[0])):
                    lacking[row] = False
        except StoreDamagedError as error:
            if any(self._files.iterdir()):
                raise  # what is damaged cannot be relied on to be emptied
            _LOG.warning("%s: %s; rebuilding it", self.name, error)
            self.store.drop()
            return np.arange(len(snapshot)), set()
        return np.flatnonzero(lacking), foreign

    def _scan(self) -> Iterator[tuple[Chunk, Embeddings]]:
        for chunks, vectors in self.store.scan():
            for chunk, vector in zip(chunks, vectors, strict=True):
                if chunk.uri == _MARK:
                    continue
                if not np.isfinite(vector).all():
                    raise StoreDamagedError(f"{chunk.uri}: a vector in the store is not finite")
                yield chunk, vector

    def _mark(self, snapshot: Snapshot) -> list[str]:
        """The mark of a snapshot; none where readers do not ask the store."""
        return [_mark_of(snapshot)] if isinstance(self.store, SearchableStore) else []

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

    def _rewrite(self, snapshot: Snapshot) -> None:
        dimension = snapshot.meta.dimension
        rows = np.setdiff1d(np.arange(len(snapshot)), snapshot.pending)
        with self._open(dimension):
            self._upsert(snapshot, rows)
            count = self.store.count()
            if count == len(snapshot):
                self._set(self._mark(snapshot), dimension)
        if count != len(rows):
            raise StoreError(
                f"the store holds {count} chunks of {self.name!r} after {len(rows)} were written; "
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

    def _upsert(self, snapshot: Snapshot, rows: npt.NDArray[np.intp]) -> None:
        """Write rows of a snapshot, a part at a time."""
        for done in range(0, len(rows), _WRITE_AT_ONCE):
            self._progress("store", done, len(rows))
            some = rows[done : done + _WRITE_AT_ONCE]
            chunks = [_stored(snapshot, int(row)) for row in some]
            self.store.upsert(chunks, snapshot.vectors(some))
            if done % _RELEASED == 0:
                snapshot.release()
        self._progress("store", len(rows), len(rows))


def _names(snapshot: Snapshot, rows: npt.NDArray[np.intp]) -> list[str]:
    return [name.decode("ascii") for name in snapshot.ids[rows]]


def _stored(snapshot: Snapshot, row: int) -> Chunk:
    return replace(snapshot.chunk(row), key=snapshot.keys[row].decode("ascii"))

"""Writing to a store so that it ends up holding exactly what the next generation will.

A store may be shared: other machines, with other files, write to the same SQLite file. Every run makes it
hold what that run's generation does; of a store that has shards, a run touches its own. So that nobody's
search suffers from what another wrote, a store that answers searches itself keeps a record, ``manifest``,
of the set of chunks and embeddings that was last written. Readers whose snapshot is of another set ask
their snapshot. A store that machines read which have nothing else keeps the statistics of the shard, too.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreDamagedError, StoreError, StoreLockedError
from ragloom.indexing.journal import Journal
from ragloom.protocols import Embeddings, RemoteStore, SearchableStore, Store
from ragloom.secrets.redaction import hide_passwords
from ragloom.snapshot import Snapshot
from ragloom.snapshot.statistics import STATISTICS, stale_pages, statistics, stored_chunks
from ragloom.stores.atomic import quarantine
from ragloom.stores.formats import check_format, format_stamp
from ragloom.text.parsing import parse_json
from ragloom.types import Chunk, Progress

_LOG = logging.getLogger("ragloom")
_WRITE_AT_ONCE = 1000  # chunks a store call
_RELEASED = 10 * _WRITE_AT_ONCE  # chunks, after which their memory is given back
MANIFEST, WRITER = "manifest", "writer"
_FORMAT = 2  # 2: the statistics know versions, flags, dotted names and paths


def answers_for(store: SearchableStore, snapshot: Snapshot) -> bool:
    """Whether an open store that answers searches itself holds exactly the chunks of ``snapshot``.

    Raises:
        StoreError: It failed, or a newer ragloom wrote to it.
    """
    return _contents(store) == snapshot.contents


def _contents(store: Store) -> str:
    """Names the set of chunks that an open store holds; empty where it does not say so."""
    if not isinstance(store, SearchableStore):
        return ""
    try:
        said = parse_json(store.get_records([MANIFEST]).get(MANIFEST, "") or "{}")
    except ValueError:
        return ""
    if not isinstance(said, Mapping):
        return ""
    written = said.get("format", 1)
    check_format(written, _FORMAT, place=MANIFEST, release=said.get("release"))
    return str(said.get("contents", "")) if written == _FORMAT else ""


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
        self._run = ""

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
            contents = _contents(self.store)
            touched = journal.touched()
            if before is not None and self._is_left_by(before, contents, interrupted=interrupted):
                rows = np.sort(snapshot.rows_of(touched))
                gone = touched.difference(snapshot.ids_of(rows))
            else:
                rows, gone = self._differing(snapshot)
                journal.touch(())  # killed, the next run reads it once more
            current = not (len(rows) or gone) and contents == snapshot.contents
            if not current:
                self._claim()
            self._upsert(snapshot, rows)
            if gone:
                self.store.delete(sorted(gone))
            whole = self.store.count() == len(snapshot)
            if whole and not current:
                self._describe(snapshot)
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
        pending = snapshot.ids_of(snapshot.pending)
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
            if isinstance(self.store, RemoteStore):
                return self.store.known([key.decode("ascii") for key in keys])
            left = before is not None and self._is_left_by(before, _contents(self.store))
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

    def _is_left_by(self, before: Snapshot, contents: str, *, interrupted: bool = False) -> bool:
        """Whether the store is as ``before`` says, but for what has changed since."""
        if before.meta.store != self.named[0]:
            return False
        if isinstance(self.store, SearchableStore):
            return bool(contents) and contents == before.meta.stored
        return interrupted or str(self.store.count()) == before.meta.stored

    def _differing(self, snapshot: Snapshot) -> tuple[npt.NDArray[np.intp], set[str]]:
        """Rows that the store lacks, and the ids that it should not have."""
        lacking: npt.NDArray[np.bool_] = np.ones(len(snapshot), np.bool_)
        foreign: set[str] = set()
        try:
            for chunks, _ in self._pages() if self.store.count() else ():
                rows = snapshot.rows_of(chunk.id for chunk in chunks)
                known = dict(zip(snapshot.ids_of(rows), rows.tolist(), strict=True))
                foreign |= {chunk.id for chunk in chunks} - known.keys()
                there = [chunk for chunk in chunks if chunk.id in known]
                own = _stored(snapshot, [known[chunk.id] for chunk in there])
                same = [known[one.id] for one, two in zip(there, own, strict=True) if one == two]
                lacking[same] = False
        except StoreDamagedError as error:
            if any(self._files.iterdir()):
                raise  # what is damaged cannot be relied on to be emptied
            _LOG.warning("%s: %s; rebuilding it", self.name, error)
            self.store.drop()
            return np.arange(len(snapshot)), set()
        return np.flatnonzero(lacking), foreign

    def _pages(self) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        for chunks, vectors in self.store.scan():
            if not np.isfinite(vectors).all():
                uri = chunks[int(np.isfinite(vectors).all(axis=1).argmin())].uri
                raise StoreDamagedError(f"{uri}: a vector in the store is not finite")
            yield chunks, vectors

    def _scan(self) -> Iterator[tuple[Chunk, Embeddings]]:
        for chunks, vectors in self._pages():
            yield from zip(chunks, vectors, strict=True)

    def _claim(self) -> None:
        """Say that the store holds no known set, and that this run writes to it."""
        self._run = uuid4().hex
        if isinstance(self.store, SearchableStore):
            self.store.put_records({MANIFEST: "", WRITER: self._run})

    def _describe(self, snapshot: Snapshot) -> None:
        """Keep in the store what it holds now; nothing where readers do not ask it."""
        store = self.store
        if not isinstance(store, SearchableStore):
            return
        if store.get_records([WRITER]).get(WRITER) != self._run:
            _LOG.warning("%s: another machine wrote to the store meanwhile", self.name)
            store.put_records({MANIFEST: ""})
            return
        manifest = json.dumps(format_stamp(_FORMAT) | {"contents": snapshot.contents})
        if isinstance(store, RemoteStore) and store.ranks_words:
            records = dict(statistics(snapshot))
            said = records.pop(STATISTICS)
            stale = stale_pages(store.get_records([STATISTICS]).get(STATISTICS, ""), records)
            store.put_records(records)
            store.put_records({STATISTICS: said})
            store.put_records(dict.fromkeys(stale, ""))
        store.put_records({MANIFEST: manifest})

    def _rewrite(self, snapshot: Snapshot) -> None:
        dimension = snapshot.meta.dimension
        rows = np.setdiff1d(np.arange(len(snapshot)), snapshot.pending)
        with self._open(dimension):
            self._claim()
            self._upsert(snapshot, rows)
            count = self.store.count()
            if count == len(snapshot):
                self._describe(snapshot)
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
            if isinstance(self.store, RemoteStore):
                stored = [
                    replace(one, chunk=replace(one.chunk, key=key))
                    for one, key in zip(
                        stored_chunks(snapshot, some), snapshot.keys_of(some), strict=True
                    )
                ]
                self.store.upsert_stored(stored, snapshot.vectors(some))
            else:
                self.store.upsert(_stored(snapshot, some.tolist()), snapshot.vectors(some))
            if done % _RELEASED == 0:
                snapshot.release()
        self._progress("store", len(rows), len(rows))


def _stored(snapshot: Snapshot, rows: Sequence[int]) -> Sequence[Chunk]:
    keys = snapshot.keys_of(np.array(rows, np.intp))
    return [replace(snapshot.chunk(row), key=key) for row, key in zip(rows, keys, strict=True)]

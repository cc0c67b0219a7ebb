"""Bringing an index up to date: plan, process, commit.

Only files whose content changed are read into chunks, only chunks whose embedded text is new to the
model are embedded, and nothing is opened that is not needed: a run without changes touches neither
the store nor the model. Where much is to be embedded, the words are published first.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.components import Components
from ragloom.indexing.commit import Committer
from ragloom.indexing.journal import TOUCHED
from ragloom.indexing.lock import space_lock
from ragloom.indexing.pending import PendingVectors
from ragloom.indexing.plan import Plan, PlannedFile, plan
from ragloom.indexing.process import Part
from ragloom.indexing.recovery import Recovery
from ragloom.indexing.runners import Processing
from ragloom.indexing.shards import SHARDS, Shard, begin, finish, finished, matching
from ragloom.indexing.store_sync import StoreWriter
from ragloom.reports import FailedFile, IndexReport
from ragloom.snapshot import Snapshot, current_generation
from ragloom.snapshot.manifest import FileEntry
from ragloom.stores.faults import named_faults
from ragloom.types import Progress

LOCK_TIMEOUT = 600.0  # seconds to wait for another run
PARTS = "parts"
_NO_ROWS = np.empty(0, np.intp)


@dataclass(slots=True, kw_only=True)
class _Changes:
    """What the Parts of a plan change.

    Attributes:
        known: The manifest before.
        files: The whole manifest.
        chunks: How many are in the Parts.
        embedded: How many texts the Parts were embedded for.
        truncated: Of how many of those the model read only the beginning.
        added: Files that were not in the index.
        updated: Files that were.
        failed: Files that could not be read.
        warnings: What is odd about the others.
    """

    known: Mapping[str, FileEntry] = field(default_factory=dict)
    files: dict[str, FileEntry] = field(default_factory=dict)
    chunks: int = 0
    embedded: int = 0
    truncated: int = 0
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    failed: list[FailedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def noted(self, parts: Iterable[Part]) -> Generator[Path]:
        """Note what each Part changes, and give the segments of those that have one."""
        for part in parts:
            self.chunks += part.chunks
            self.embedded += part.embedded
            self.truncated += part.truncated
            self.failed += part.failed
            for failure in part.failed:  # what was indexed of it before keeps answering
                if failure.path in self.known:
                    self.files[failure.path] = self.known[failure.path]
            for entry in part.files:
                self.files[entry.uri] = entry
                self.warnings += [f"{entry.uri}: {warning}" for warning in entry.warnings]
                (self.updated if entry.uri in self.known else self.added).append(entry.uri)
            if part.chunks:
                yield part.stem


class Indexer:
    """Writes one space.

    Args:
        name: The space.
        directory: Its state folder.
        components: What it is made with, and its files.
        progress: Told how far the run is.
    """

    def __init__(
        self, name: str, directory: Path, components: Components, progress: Progress | None = None
    ) -> None:
        self._name = name
        self._directory = directory
        self._components = components
        self._progress = progress or (lambda _stage, _done, _total: None)
        self._writer = StoreWriter(name, directory, components.store, self._progress)
        self._recovery = Recovery(directory, self._writer, components.embedder)

    def run(
        self, *, full: bool = False, seconds: float | None = None, timeout: float = LOCK_TIMEOUT
    ) -> IndexReport:
        """Bring the index up to date; see :meth:`ragloom.Space.index`.

        A damaged snapshot is quarantined and rebuilt from the store, the generation before, or the files.
        """
        started = time.perf_counter()
        snapshot = self._recovery.whole(timeout=timeout)
        planned = self._plan(snapshot, full=full)
        if snapshot is not None and self._is_current(snapshot, planned, seconds):
            snapshot.note_seen(planned.kept)
            return self._report(snapshot, planned, _Changes(), started)
        self._directory.mkdir(parents=True, exist_ok=True)
        with space_lock(self._directory, timeout=timeout):
            read = 0 if snapshot is None else snapshot.meta.generation
            if current_generation(self._directory) != read:
                snapshot = self._recovery.opened()
                planned = self._plan(snapshot, full=full)
                if snapshot is not None and self._is_current(snapshot, planned, seconds):
                    return self._report(snapshot, planned, _Changes(), started)
            return self._write(snapshot, planned, started, seconds)

    def shard(self, shard: Shard, *, timeout: float = LOCK_TIMEOUT) -> IndexReport:
        """Make the Parts of one shard; see :meth:`ragloom.Space.index_shard`."""
        started = time.perf_counter()
        snapshot = self._recovery.whole(timeout=timeout)
        planned = self._plan(snapshot, full=False)
        planned.read = [file for file in planned.read if shard.holds(file.uri)]
        folder = shard.folder(self._directory)
        with named_faults(folder):
            folder.mkdir(parents=True, exist_ok=True)
        with space_lock(folder, timeout=timeout):
            begin(folder)
            processing = Processing(
                components=self._components,
                folder=folder,
                previous=snapshot,
                of_shard=True,
            )
            parts = list(self._process(planned, processing))
            finish(folder, parts)
        changes = _Changes(known={} if snapshot is None else snapshot.files)
        list(changes.noted(parts))
        return IndexReport(
            space=self._name,
            added=tuple(changes.added),
            updated=tuple(changes.updated),
            failed=tuple(changes.failed),
            warnings=tuple(changes.warnings),
            chunks=changes.chunks,
            embedded=changes.embedded,
            reused=changes.chunks - changes.embedded,
            truncated=changes.truncated,
            seconds=time.perf_counter() - started,
            generation=0 if snapshot is None else snapshot.meta.generation,
        )

    def commit(self, *, timeout: float = LOCK_TIMEOUT) -> IndexReport:
        """Publish what all shards hold; see :meth:`ragloom.Space.commit`."""
        started = time.perf_counter()
        parts = finished(self._directory, self._name)
        with space_lock(self._directory, timeout=timeout):
            snapshot = self._recovery.opened()
            planned = self._plan(snapshot, full=False)
            ready = list(matching(parts, planned.read, self._directory / PARTS / "left"))
            there = {file.uri for _, files in ready for file in files}
            planned.read = [file for file in planned.read if file.uri not in there]
            made = [part for part, _ in ready]
            report = self._write(snapshot, planned, started, None, made)
            with named_faults(self._directory / SHARDS, "removed"):
                shutil.rmtree(self._directory / SHARDS)
        return report

    def repair(self, *, timeout: float = LOCK_TIMEOUT) -> int:
        """See :meth:`Recovery.repair`."""
        return self._recovery.repair(timeout=timeout)

    def _plan(self, snapshot: Snapshot | None, *, full: bool) -> Plan:
        return plan(self._components, {} if snapshot is None else snapshot.files, full=full)

    def _is_current(self, snapshot: Snapshot, planned: Plan, seconds: float | None) -> bool:
        if planned.read or planned.removed:
            return False
        if snapshot.meta.pending:
            return seconds == 0
        in_sync = snapshot.meta.store == self._writer.named[0]
        return in_sync and not (self._directory / TOUCHED).exists()

    def _write(
        self,
        snapshot: Snapshot | None,
        planned: Plan,
        started: float,
        seconds: float | None,
        ready: Sequence[Part] = (),
    ) -> IndexReport:
        embedder, folder = self._components.embedder, self._directory / PARTS
        truncated = embedder.truncated
        committer = Committer(self._directory, embedder, self._writer, self._progress)
        processing = Processing(components=self._components, folder=folder, previous=snapshot)
        changes = _Changes(
            known={} if snapshot is None else snapshot.files, files=dict(planned.kept)
        )
        gone = 0
        parts = chain(ready, self._process(planned, processing))
        with closing(changes.noted(parts)) as stems:
            if snapshot is None:  # words are indexed while files are read
                snapshot, _ = committer.words(None, stems, changes.files, _NO_ROWS)
            else:  # which rows are gone is known once all files are read
                new = list(stems)
                if rewritten := {*changes.added, *changes.updated, *planned.removed}:
                    dropped = _rows_of_files(snapshot, rewritten)
                    snapshot, gone = committer.words(snapshot, new, changes.files, dropped)
        with named_faults(folder, "removed"):
            shutil.rmtree(folder, ignore_errors=True)
        snapshot = committer.vectors(snapshot, seconds)
        embedded = changes.embedded + committer.embedded
        already = len(snapshot) - snapshot.meta.pending - embedded
        return replace(
            self._report(snapshot, planned, changes, started),
            removed=tuple(planned.removed),
            embedded=embedded,
            # Copies of one text are embedded once, and of no use while that is pending.
            reused=max(0, min(changes.chunks - changes.embedded - committer.new, already)),
            removed_chunks=gone,
            truncated=changes.truncated + embedder.truncated - truncated,
        )

    def _process(self, planned: Plan, processing: Processing) -> Iterator[Part]:
        total, read = planned.size, 0

        def passed(file: PlannedFile) -> None:
            nonlocal read
            read += file.fingerprint.size
            self._progress("bytes", read, total)

        self._progress("bytes", 0, total)
        spread = bool(planned.read) and self._components.runner.elsewhere
        return processing.parts(list(planned.batches(spread=spread)), passed)

    def _report(
        self, snapshot: Snapshot, planned: Plan, changes: _Changes, started: float
    ) -> IndexReport:
        if snapshot.meta.pending:
            PendingVectors(self._directory, snapshot).recall()
        return IndexReport(
            space=self._name,
            added=tuple(changes.added),
            updated=tuple(changes.updated),
            unchanged=planned.unchanged,
            failed=(*planned.failed, *changes.failed),
            warnings=(*planned.warnings, *changes.warnings),
            unread=planned.unread,
            chunks=len(snapshot),
            pending=len(snapshot.pending),
            seconds=time.perf_counter() - started,
            generation=snapshot.meta.generation,
        )


def _rows_of_files(snapshot: Snapshot, uris: set[str]) -> npt.NDArray[np.intp]:
    numbers = [number for number, uri in enumerate(snapshot.uris) if uri in uris]
    return np.flatnonzero(np.isin(snapshot.file_of_row, numbers))

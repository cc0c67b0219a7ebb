"""Bringing an index up to date: sources to store to snapshot.

Only files whose content changed are read into chunks, only chunks whose embedded text is new to the
model are embedded, and nothing is opened that is not needed: a run without changes touches neither
the store nor the model.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path

import numpy as np

from ragloom.components import Components
from ragloom.errors import SourceError
from ragloom.indexing.embedding import embed_in_steps, embedding_key
from ragloom.indexing.journal import TOUCHED, Journal
from ragloom.indexing.lock import space_lock
from ragloom.indexing.recovery import Recovery
from ragloom.indexing.store_sync import StoreWriter
from ragloom.protocols import Embeddings
from ragloom.reports import FailedFile, IndexReport
from ragloom.secrets.redaction import fingerprint as redaction
from ragloom.secrets.redaction import hide_passwords
from ragloom.snapshot import NewRow, Snapshot, current_generation, publish
from ragloom.snapshot.manifest import FileEntry, fingerprint, unchanged
from ragloom.sources.discovery import Found
from ragloom.sources.loading import (
    SecretFileError,
    chunker_for,
    content_hash,
    load_document,
    loader_for,
    split_document,
)
from ragloom.sources.roots import lies_below
from ragloom.sources.screening import ending_of
from ragloom.text.chunks import embedded_text
from ragloom.text.decoding import read_regular
from ragloom.text.embedded_data import FINGERPRINT as EMBEDDED_DATA
from ragloom.types import Chunk, Document, Progress

_WORTH_OPENING = 256  # chunks to embed that take longer than to ask the store for their vectors
LOCK_TIMEOUT = 600.0  # seconds to wait for another run


@dataclass(slots=True)
class _Changes:
    """What differs from the last generation."""

    files: dict[str, FileEntry] = field(default_factory=dict)
    chunks: list[Chunk] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    removed: list[str] = field(default_factory=list)
    failed: list[FailedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def any(self) -> bool:
        return bool(self.added or self.updated or self.removed)


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
        self._embedder = components.embedder
        self._store = components.store
        self._progress = progress or (lambda _stage, _done, _total: None)
        self._writer = StoreWriter(name, directory, self._store, self._progress)
        self._recovery = Recovery(directory, self._writer, self._embedder)

    def run(self, *, full: bool = False, timeout: float = LOCK_TIMEOUT) -> IndexReport:
        """Bring the index up to date; see :meth:`ragloom.Space.index`.

        A damaged snapshot is quarantined and rebuilt from the store, the generation before, or the files.
        """
        started = time.perf_counter()
        snapshot = self._recovery.whole(timeout=timeout)
        changes = self._read(snapshot, full=full)
        if snapshot is not None and self._is_current(snapshot, changes):
            snapshot.note_seen(changes.files)
            return self._report(changes, len(snapshot), snapshot.meta.generation, started)
        self._directory.mkdir(parents=True, exist_ok=True)
        with space_lock(self._directory, timeout=timeout):
            read = 0 if snapshot is None else snapshot.meta.generation
            if current_generation(self._directory) != read:
                snapshot = self._recovery.opened()
                changes = self._read(snapshot, full=full)
                if snapshot is not None and self._is_current(snapshot, changes):
                    return self._report(changes, len(snapshot), snapshot.meta.generation, started)
            return self._write(snapshot, changes, started)

    def repair(self, *, timeout: float = LOCK_TIMEOUT) -> int:
        """See :meth:`Recovery.repair`."""
        return self._recovery.repair(timeout=timeout)

    def _is_current(self, snapshot: Snapshot, changes: _Changes) -> bool:
        return not (
            changes.any
            or snapshot.meta.store != hide_passwords(self._store.fingerprint)
            or (self._directory / TOUCHED).exists()
        )

    def _parts(self, path: str) -> str:
        """Names all components, beside its content, that a file's chunks and vectors depend on.

        Raises:
            SourceError: No loader reads it.
        """
        loader, chunker = (
            loader_for(path, self._components.loaders),
            chunker_for(path, self._components.chunkers),
        )
        made_by = (
            *(loader.fingerprint, chunker.fingerprint, self._embedder.fingerprint),
            redaction(),
            EMBEDDED_DATA,
        )
        return blake2b("\0".join(made_by).encode(), digest_size=8).hexdigest()

    def _read(self, snapshot: Snapshot | None, *, full: bool) -> _Changes:
        """Load and split the files that changed."""
        known = {} if snapshot is None else snapshot.files
        found = list(self._components.walk(self._components.within))
        parts_of: dict[str, str] = {}
        changes = _Changes()
        seen: set[str] = set()
        sizes = (_to_read(item, known.get(item.source.uri), full=full) for item in found)
        done = [0, *accumulate(sizes)]
        for number, item in enumerate(found):
            self._progress("bytes", done[number], done[-1])
            uri = item.source.uri
            entry = known.get(uri)
            if item.skipped:
                changes.warnings.append(f"{uri}: {item.skipped}")
                continue
            seen.add(uri)
            if item.status is None:
                self._fail(changes, entry, uri, item.problem)
                continue
            ending = ending_of(item.source.path)
            if (parts := parts_of.get(ending)) is None:
                parts = parts_of[ending] = self._parts(uri)
            same_parts = entry is not None and entry.parts == parts and not full
            if entry is not None and same_parts and unchanged(entry, item.status):
                self._keep(changes, entry)
                continue
            try:
                content = read_regular(item.source.path)
                digest = content_hash(content)
                if entry is not None and same_parts and entry.content_hash == digest:
                    self._keep(changes, replace(entry, fingerprint=fingerprint(item.status)))
                    continue
                document = load_document(
                    item.source, content, loader_for(uri, self._components.loaders)
                )
                chunker = chunker_for(uri, self._components.chunkers)
                chunks = split_document(document, chunker, self._embedder)
            except SecretFileError as error:  # known from now on, without text
                document = Document(uri=uri, text="", warnings=(f"skipped, it {error}",))
                chunks = []
            except OSError as error:
                self._fail(changes, entry, uri, f"cannot be read: {error.strerror or error}")
                continue
            except SourceError as error:
                self._fail(changes, entry, uri, str(error))
                continue
            changes.files[uri] = FileEntry(
                uri=uri,
                fingerprint=fingerprint(item.status),
                content_hash=digest,
                parts=parts,
                chunks=len(chunks),
                metadata=document.metadata,
                warnings=document.warnings,
            )
            changes.chunks.extend(chunks)
            changes.warnings.extend(f"{uri}: {warning}" for warning in document.warnings)
            (changes.added if entry is None else changes.updated).append(uri)
        self._progress("bytes", done[-1], done[-1])
        self._compare(changes, known, seen)
        return changes

    def _compare(
        self, changes: _Changes, known: Mapping[str, FileEntry], seen: Collection[str]
    ) -> None:
        """Tell what is gone from what only was not found this time."""
        loaders = self._components.loaders
        within = self._components.within
        for uri, entry in known.items():
            if uri in seen:
                continue
            if within and uri not in within and not lies_below(uri, within):
                changes.files[uri] = entry  # not walked: it stays as it is
                changes.unchanged += 1
            elif lies_below(uri, seen):
                self._fail(changes, entry, uri, "a folder above it cannot be listed")
            elif ending_of(uri) in loaders or (
                "" in loaders and entry.parts == self._parts(uri)  # any text, once named
            ):
                changes.removed.append(uri)
            else:  # a plugin that is missing today must not empty the index
                self._fail(changes, entry, uri, "no loader reads this ending any more")

    @staticmethod
    def _keep(changes: _Changes, entry: FileEntry) -> None:
        changes.files[entry.uri] = entry
        changes.unchanged += 1
        changes.warnings.extend(f"{entry.uri}: {warning}" for warning in entry.warnings)

    @staticmethod
    def _fail(changes: _Changes, entry: FileEntry | None, uri: str, error: str) -> None:
        """Name the file; what was indexed of it before keeps answering."""
        changes.failed.append(FailedFile(path=uri, error=error))
        if entry is not None:
            changes.files[uri] = entry

    def _write(self, snapshot: Snapshot | None, changes: _Changes, started: float) -> IndexReport:
        journal = Journal(self._directory, self._embedder.dimension)
        chunks = list(changes.chunks)
        kept = np.zeros(0, np.bool_)
        if snapshot is not None:
            rewritten = {*changes.added, *changes.updated, *changes.removed}
            dropped = [number for number, uri in enumerate(snapshot.uris) if uri in rewritten]
            kept = ~np.isin(snapshot.file_of_row, dropped)
            if snapshot.meta.embedder != self._embedder.fingerprint:
                # What could not be read again still must not answer with another model's vectors.
                chunks.extend(snapshot.chunk(int(row)) for row in np.flatnonzero(kept))
                kept[:] = False
        rows, embedded, truncated = self._embed(snapshot, chunks, journal)
        gone: set[str] = set()
        if snapshot is not None:
            gone = {value.decode("ascii") for value in snapshot.ids[~kept]}
            gone -= {row.chunk.id for row in rows}
        total = int(kept.sum()) + len(rows)
        self._embedder.close()  # its memory is worth more to the store
        self._writer.write(snapshot, kept, rows, gone, journal, self._embedder.dimension)
        dimension = self._embedder.dimension
        dimension_changed = snapshot is not None and snapshot.meta.dimension != dimension
        generation = publish(
            self._directory,
            previous=None if dimension_changed else snapshot,
            kept=kept,
            rows=rows,
            files={uri: changes.files[uri] for uri in sorted(changes.files)},
            dimension=dimension,
            embedder=self._embedder.fingerprint,
            store=hide_passwords(self._store.fingerprint),
        )
        journal.clear()
        return replace(
            self._report(changes, total, generation, started),
            added=tuple(changes.added),
            updated=tuple(changes.updated),
            removed=tuple(changes.removed),
            embedded=embedded,
            reused=len(rows) - embedded,
            removed_chunks=len(gone),
            truncated=truncated,
        )

    def _embed(
        self, snapshot: Snapshot | None, chunks: Sequence[Chunk], journal: Journal
    ) -> tuple[list[NewRow], int, int]:
        """Vectors for ``chunks``: from the last generation, an interrupted run, the store, or the model."""
        keys = [embedding_key(chunk, self._embedder.fingerprint) for chunk in chunks]
        vectors: dict[str, Embeddings] = {}
        wanted = set(keys)
        same_dimension = snapshot is None or snapshot.meta.dimension == self._embedder.dimension
        if snapshot is not None and same_dimension:
            for row, key in enumerate(snapshot.keys):
                if (name := key.decode("ascii")) in wanted and name not in vectors:
                    vectors[name] = np.array(snapshot.vectors[row], np.float32)
        vectors.update({key: vector for key, vector in journal.recall().items() if key in wanted})
        missing = {
            key: embedded_text(chunk)
            for key, chunk in zip(keys, chunks, strict=True)
            if key not in vectors
        }
        if same_dimension and len(missing) >= (1 if snapshot is None else _WORTH_OPENING):
            stored = self._writer.known(missing.keys(), snapshot, journal, self._embedder.dimension)
            vectors.update(stored)
            missing = {key: text for key, text in missing.items() if key not in stored}
        names = list(missing)
        before = self._embedder.truncated
        done = 0
        self._progress("chunks", done, len(names))
        for step, made in embed_in_steps(self._embedder, list(missing.values())):
            batch = [names[position] for position in step]
            journal.remember(batch, made)
            vectors.update(zip(batch, made, strict=True))
            done += len(batch)
            self._progress("chunks", done, len(names))
        rows = [
            NewRow(chunk=chunk, key=key, vector=vectors[key])
            for key, chunk in zip(keys, chunks, strict=True)
        ]
        return rows, len(names), self._embedder.truncated - before

    def _report(
        self, changes: _Changes, chunks: int, generation: int, started: float
    ) -> IndexReport:
        return IndexReport(
            space=self._name,
            unchanged=changes.unchanged,
            failed=tuple(changes.failed),
            warnings=tuple(changes.warnings),
            chunks=chunks,
            seconds=time.perf_counter() - started,
            generation=generation,
        )


def _to_read(item: Found, entry: FileEntry | None, *, full: bool) -> int:
    """Bytes of a file that is new, or not as it was; those of others are quick to pass by."""
    if item.status is None or (entry is not None and not full and unchanged(entry, item.status)):
        return 0
    return item.status.st_size

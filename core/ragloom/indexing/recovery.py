"""Crash recovery: find or rebuild the generation that an index run starts from, without embedding."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ragloom.errors import NotIndexedError, StoreDamagedError, StoreOutdatedError
from ragloom.indexing.embedding import embedding_key
from ragloom.indexing.journal import EMBEDDINGS, TOUCHED, Journal
from ragloom.indexing.lock import space_lock
from ragloom.indexing.store_sync import StoreWriter
from ragloom.protocols import Embedder, Embeddings
from ragloom.snapshot import (
    GenerationWriter,
    Snapshot,
    all_generations,
    current,
    last_meta,
    point_at,
)
from ragloom.snapshot.manifest import FileEntry
from ragloom.snapshot.segment import SegmentWriter, VectorWriter, pack
from ragloom.stores.atomic import quarantine
from ragloom.stores.faults import is_folder
from ragloom.types import Chunk

_QUICK = 1 << 26  # bytes of a generation that every run compares with their checksums
_LOG = logging.getLogger("ragloom")


class Recovery:
    """Finds the generation of a space that is whole, or makes one of what is left.

    Args:
        directory: The space's state folder.
        writer: Its store.
        embedder: The one that the settings name now.
    """

    def __init__(self, directory: Path, writer: StoreWriter, embedder: Embedder) -> None:
        self._name = writer.name
        self._directory = directory
        self._writer = writer
        self._embedder = embedder

    def opened(self, *, compare: bool = False) -> Snapshot | None:
        """The generation that answers; None where there is none.

        It is compared with its checksums where that is requested or quick, or where the last run did not
        end cleanly.

        Raises:
            StoreDamagedError: It is not whole, or it is gone, or an older ragloom wrote it.
            StoreError: A newer ragloom wrote it, or the machine keeps it from being read.
        """
        directory = self._answering()
        if directory is None:
            return None
        if not is_folder(directory):
            raise StoreDamagedError(f"{directory} is gone")
        snapshot = Snapshot(directory)
        if compare or snapshot.size <= _QUICK or self._ended_uncleanly():
            snapshot.check()
        return snapshot

    def _ended_uncleanly(self) -> bool:
        """Whether a run was killed, or the machine with it."""
        left = (TOUCHED, EMBEDDINGS, "*.tmp")
        return any(any(self._directory.glob(name)) for name in left)

    def whole(self, *, timeout: float) -> Snapshot | None:
        """The generation that a run starts from; None where everything is to be read from the files.

        A damaged pointer is written again. A damaged generation is quarantined; like one that is gone, or
        of an older format, it is rebuilt from the store, or where the store holds nothing of it, the one
        before it takes its place.
        """
        with suppress(StoreDamagedError):
            snapshot = self.opened()
            if snapshot is None or current(self._directory) == snapshot.directory:
                return snapshot
        with space_lock(self._directory, timeout=timeout):
            if (snapshot := self._found()) is not None:
                return snapshot
            try:
                snapshot = self._from_store()
            except StoreDamagedError as error:
                _LOG.warning("%s: %s", self._name, error)
            return self._older() if snapshot is None else snapshot

    def repair(self, *, timeout: float) -> int:
        """Rebuild the store from the snapshot, or else the snapshot from the store.

        Where neither can be read, the generation before answers again, and the store is rebuilt from it.

        Returns:
            Chunks in the index.

        Raises:
            NotIndexedError: There is nothing to rebuild them from.
            StoreDamagedError: The store cannot be read and does not lie in the space's folder.
        """
        self._directory.mkdir(parents=True, exist_ok=True)
        with space_lock(self._directory, timeout=timeout):
            if (snapshot := self._found(compare=True)) is None:
                if (made := self._from_store()) is not None:
                    return len(made)
                snapshot = self._older()
            if snapshot is None:
                message = f"the store of {self._name!r} holds nothing: index its files again"
                raise NotIndexedError(message)
            return self._writer.rebuild(snapshot, Journal(self._directory, snapshot.meta.dimension))

    def _answering(self) -> Path | None:
        """The generation that ``CURRENT`` names, there or not; the newest where it names none."""
        return current(self._directory) or next(iter(all_generations(self._directory)), None)

    def _found(self, *, compare: bool = False) -> Snapshot | None:
        """The generation that answers, with ``CURRENT`` naming it; None where there is none, or it is lost.

        What is damaged is quarantined. ``CURRENT`` names it until another one takes its place, so that the
        next run knows of it when this one is killed.
        """
        try:
            snapshot = self.opened(compare=compare)  # another run may have rebuilt it
        except StoreDamagedError as error:
            self._quarantine(self._answering(), error)
            return None
        if snapshot is not None:
            point_at(snapshot.directory)
        return snapshot

    def _from_store(self) -> Snapshot | None:
        """Publish what the store holds of one model; None where that is nothing.

        The store does not know the files' fingerprints, so the next run compares their content.
        """
        meta, now = last_meta(self._directory), self._embedder.fingerprint
        models, dimension = [now], self._embedder.dimension
        if meta is not None and meta.embedder != now:
            models, dimension = [meta.embedder, now], meta.dimension
        # Rows of the first versions have no key: they are of the model that wrote the generation.
        keyless = meta is not None and meta.embedder == now
        stored = self._writer.read(dimension)
        for embedder in models:
            rows = [
                (replace(chunk, key=""), key, vector)
                for chunk, vector in stored
                if (key := embedding_key(chunk, embedder)) == chunk.key
                or (keyless and not chunk.key)
            ]
            if rows:
                rows.sort(key=lambda row: (row[0].uri, row[0].ordinal, row[0].id))
                self._publish(rows, dimension, embedder)
                return self.opened()
        return None

    def _publish(
        self, rows: Sequence[tuple[Chunk, str, Embeddings]], dimension: int, embedder: str
    ) -> None:
        """Publish chunks with their embedding keys and vectors, file by file."""
        with TemporaryDirectory(dir=self._directory, prefix="parts-") as folder:
            stem = Path(folder, f"store-{time.time_ns():x}")
            segment = SegmentWriter(stem)
            for chunk, key, _ in rows:
                segment.add(chunk.uri, pack(chunk), chunk.id.encode(), key.encode())
            segment.close()
            vectors = VectorWriter(len(rows), dimension)
            vectors.put(np.arange(len(rows)), np.stack([vector for _, _, vector in rows]))
            vectors.write(stem)
            with GenerationWriter(
                self._directory,
                previous=None,
                files=_files([chunk for chunk, _, _ in rows]),
                dimension=dimension,
                dropped=np.empty(0, np.intp),
            ) as writer:
                writer.adopt(stem)
                store, searchable = self._writer.named
                writer.build(embedder=embedder, store=store, searchable=searchable)
                writer.publish()

    def _older(self) -> Snapshot | None:
        """Have the newest generation that is whole answer again; None where none is."""
        for directory in all_generations(self._directory):
            try:
                snapshot = _checked(directory)
            except StoreOutdatedError:
                quarantine(directory, "outdated")
                continue
            except StoreDamagedError as error:
                self._quarantine(directory, error)
                continue
            # The store is not what this generation left: the next run must not take it to be.
            Journal(self._directory, snapshot.meta.dimension).touch(())
            point_at(directory)
            made = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(snapshot.meta.created))
            _LOG.warning(
                "%s: the store holds nothing of what was lost: generation %d of %s answers again, "
                "and an index run brings it up to date",
                self._name,
                snapshot.meta.generation,
                made,
            )
            return snapshot
        return None

    def _quarantine(self, directory: Path | None, error: StoreDamagedError) -> None:
        """Quarantine a damaged generation, if it is there; one of an older format may stay."""
        if isinstance(error, StoreOutdatedError):
            _LOG.info("%s: rebuilding the index: an older ragloom wrote it", self._name)
            return
        kept = ""
        if directory is not None and is_folder(directory):
            kept = f"; quarantined as {quarantine(directory)}"
        _LOG.warning("%s: %s%s", self._name, str(error).partition(": index again")[0], kept)


def _checked(directory: Path) -> Snapshot:
    """A generation, compared with its checksums."""
    snapshot = Snapshot(directory)
    snapshot.check()
    return snapshot


def _files(chunks: Sequence[Chunk]) -> Mapping[str, FileEntry]:
    counts = Counter(chunk.uri for chunk in chunks)
    metadata = {chunk.uri: chunk.metadata for chunk in chunks}
    return {
        uri: FileEntry(uri=uri, chunks=counts[uri], metadata=metadata[uri])
        for uri in sorted(counts)
    }

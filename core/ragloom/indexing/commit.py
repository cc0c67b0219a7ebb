"""The third step of an index run: Parts to generations, and to the store.

Where much is to be embedded, a first generation has the words of what is new, and answers; then the
vectors follow, a segment at a time. The store is written once all chunks have theirs.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.indexing.embedding import embed_in_steps, embedding_key
from ragloom.indexing.journal import TOUCHED, Journal
from ragloom.indexing.store_sync import StoreWriter
from ragloom.protocols import Embedder, Embeddings
from ragloom.snapshot import GenerationWriter, Snapshot
from ragloom.snapshot.manifest import FileEntry
from ragloom.snapshot.segment import KEY, Segment, SegmentWriter, VectorWriter, files_of
from ragloom.types import Progress

_AT_ONCE = 256  # chunks to embed, before their words are published without waiting for them
_WORTH_OPENING = 256  # chunks to embed that take longer than to ask the store for their vectors
_PUT_AT_ONCE = 1024  # vectors that are copied at once
_NO_ROWS = np.empty(0, np.intp)


class Committer:
    """Publishes the generations of a run; the caller holds the space's lock.

    Args:
        directory: The space's folder.
        embedder: The model.
        store: The store.
        progress: Told how far it is.

    Attributes:
        embedded: How many texts have been embedded.
        new: How many texts of new chunks no vector was known of.
    """

    def __init__(
        self, directory: Path, embedder: Embedder, store: StoreWriter, progress: Progress
    ) -> None:
        self._directory = directory
        self._embedder = embedder
        self._store = store
        self._progress = progress
        self._journal = Journal(directory, embedder.dimension)
        self._interrupted = (directory / TOUCHED).exists()
        self._goal = 0
        self.embedded: int = 0
        self.new: int = 0

    def words(
        self,
        previous: Snapshot | None,
        stems: Iterable[Path],
        files: Mapping[str, FileEntry],
        dropped: npt.NDArray[np.intp],
    ) -> tuple[Snapshot, int]:
        """Publish what is new, with those vectors that are known or quickly made.

        Args:
            previous: The generation that answers.
            stems: The segments of the Parts, whose words are indexed as they come.
            files: The whole manifest, once all of ``stems`` are taken.
            dropped: ``(r,)``: rows of ``previous`` that are gone, or in the Parts again, ascending.

        Returns:
            The generation that answers then, and how many chunks are gone.
        """
        if previous is not None and previous.meta.embedder != self._embedder.fingerprint:
            # What could not be read again still must not answer with another model's vectors.
            left = np.delete(np.arange(len(previous)), dropped)
            if len(left):
                stems = [*stems, self._again(previous, left)]
            dropped = np.arange(len(previous))
        with self._generation(previous, files, dropped) as writer:
            added = [writer.adopt(stem) for stem in stems]
            gone = self._touch(previous, added, dropped)
            source = previous if self._is_same_model(previous) else None
            made = dict(self._journal.recall())
            lacking = [(segment, self._unknown(source, segment, made)) for segment in added]
            every = [segment.keys[rows] for segment, rows in lacking]
            keys = np.unique(np.concatenate([np.empty(0, KEY), *every]))
            self.new = len(keys)
            if 0 < len(keys) <= _AT_ONCE:
                if previous is None or not previous.meta.store:
                    made |= self._store.known(keys, previous, self._journal, self._dimension)
                texts = _texts(lacking)
                texts = {key: text for key, text in texts.items() if key not in made}
                self._goal = self.new = len(texts)
                made |= self._embed(texts)
            return self._publish(writer, previous, made, source), gone

    def vectors(self, snapshot: Snapshot, seconds: float | None) -> Snapshot:
        """Give every chunk its vector, a segment at a time, and have the store hold them.

        Args:
            snapshot: The generation that answers.
            seconds: After which no more is embedded; None for no limit.

        Returns:
            The generation that answers then.
        """
        end = None if seconds is None else time.monotonic() + seconds
        known: dict[str, Embeddings] = {}
        self._goal = snapshot.meta.pending
        if seconds != 0 and self._goal >= (_WORTH_OPENING if snapshot.meta.store else 1):
            keys = snapshot.keys[snapshot.pending]
            known |= self._store.known(keys, snapshot, self._journal, self._dimension)
            self.new -= len(known)
        while snapshot.meta.pending or not self._is_stored(snapshot):
            if snapshot.meta.pending and seconds == 0:
                return snapshot
            made = {**known, **self._journal.recall()}
            for segment in _incomplete(snapshot.segments)[:1]:
                texts = _texts([(segment, self._unknown(snapshot, segment, made))])
                vectors = self._embed(texts, self._goal - snapshot.meta.pending, end)
                if len(vectors) < len(texts):
                    return snapshot  # the journal has what was made
                made |= vectors
            with self._generation(snapshot, snapshot.files, _NO_ROWS) as writer:
                snapshot = self._publish(writer, snapshot, made, snapshot)
        return snapshot

    def _touch(
        self, previous: Snapshot | None, added: Iterable[Segment], dropped: npt.NDArray[np.intp]
    ) -> int:
        """Note which chunks the store will lack or have too many; how many are gone.

        Of a first index that is all of them, and needs no list.
        """
        if previous is None:
            self._journal.touch(())
            return 0
        fresh = {name.decode("ascii") for segment in added for name in segment.ids.tolist()}
        gone = set(previous.ids_of(dropped)) - fresh
        self._journal.touch(fresh | gone)
        return len(gone)

    @property
    def _dimension(self) -> int:
        return self._embedder.dimension

    def _generation(
        self,
        previous: Snapshot | None,
        files: Mapping[str, FileEntry],
        dropped: npt.NDArray[np.intp],
    ) -> GenerationWriter:
        return GenerationWriter(
            self._directory,
            previous=previous,
            files=files,
            dimension=self._dimension,
            dropped=dropped,
        )

    def _publish(
        self,
        writer: GenerationWriter,
        before: Snapshot | None,
        made: Mapping[str, Embeddings],
        source: Snapshot | None,
    ) -> Snapshot:
        """Publish what ``writer`` holds, with the vectors that were made or that ``source`` has.

        Where all chunks have one, the store holds them first.
        """
        for segment in _incomplete(writer.segments):
            self._put(writer, segment, made, source)
        name, searchable = self._store.named
        built = writer.build(embedder=self._embedder.fingerprint, store=name, searchable=searchable)
        if not built.meta.pending:
            self._embedder.close()  # its memory is worth more to the store
            self._store.write(built, before, self._journal, interrupted=self._interrupted)
        directory = writer.publish()
        # Every vector of the journal is in the generation now.
        self._journal.forget()
        if not built.meta.pending:
            self._journal.settle()
        return Snapshot(directory)

    def _is_stored(self, snapshot: Snapshot) -> bool:
        in_sync = snapshot.meta.store == self._store.named[0]
        return in_sync and not (self._directory / TOUCHED).exists()

    def _is_same_model(self, previous: Snapshot | None) -> bool:
        return previous is not None and (
            previous.meta.embedder == self._embedder.fingerprint
            and previous.meta.dimension == self._embedder.dimension
        )

    def _unknown(
        self, source: Snapshot | None, segment: Segment, made: Mapping[str, Embeddings]
    ) -> npt.NDArray[np.intp]:
        """The rows of a segment that nobody knows the vector of."""
        rows = _lacking(segment)
        keys = segment.keys[rows]
        if source is not None:
            rows = rows[~source.knows(keys)]
        if made:
            rows = rows[~np.isin(segment.keys[rows], np.array([*made], KEY))]
        return rows

    def _embed(
        self, texts: Mapping[str, str], before: int = 0, end: float | None = None
    ) -> dict[str, Embeddings]:
        """Vectors by their key; each is journalled, so that an interrupted run keeps it.

        Args:
            texts: By their keys.
            before: How many chunks have been embedded before, for the progress.
            end: When to stop, by the monotonic clock.
        """
        names, vectors = list(texts), dict[str, Embeddings]()
        self._progress("chunks", before, self._goal)
        for step, made in embed_in_steps(self._embedder, list(texts.values())):
            batch = [names[position] for position in step]
            self._journal.remember(batch, made)
            vectors.update(zip(batch, made, strict=True))
            self._progress("chunks", before + len(vectors), self._goal)
            if end is not None and time.monotonic() > end:  # after one step at least
                break
        self.embedded += len(vectors)
        return vectors

    def _put(
        self,
        writer: GenerationWriter,
        segment: Segment,
        made: Mapping[str, Embeddings],
        source: Snapshot | None,
    ) -> None:
        """Write the vectors of a segment that are known."""
        rows = _lacking(segment)
        keys = segment.keys[rows]
        known = dict(made)
        names = [key.decode("ascii") for key in keys]
        others = [name for name in names if name not in known]
        if source is not None and others:
            known |= source.known_vectors(np.unique(np.array(others, KEY)))
        has = np.array([name in known for name in names], np.bool_)
        if not has.any():
            return
        filled = VectorWriter(len(segment), self._dimension, segment)
        known_rows = rows[has]
        there = [name for name in names if name in known]
        for start in range(0, len(there), _PUT_AT_ONCE):
            some = there[start : start + _PUT_AT_ONCE]
            vectors = np.stack([known[name] for name in some])
            filled.put(known_rows[start : start + _PUT_AT_ONCE], vectors)
        writer.put_vectors(segment, filled)

    def _again(self, previous: Snapshot, rows: npt.NDArray[np.intp]) -> Path:
        """A segment of rows of a generation, with the embedding keys of another model."""
        stem = self._directory / "parts" / f"again-{previous.meta.generation:06d}"
        stem.parent.mkdir(exist_ok=True)
        for path in files_of(stem):
            path.unlink()
        writer = SegmentWriter(stem)
        for row in rows.tolist():
            chunk = previous.chunk(row)
            key = embedding_key(chunk, self._embedder.fingerprint)
            writer.add(chunk.uri, previous.packed(row), chunk.id.encode(), key.encode())
        writer.close()
        return stem


def _incomplete(segments: Iterable[Segment]) -> Sequence[Segment]:
    return [one for one in segments if len(_lacking(one))]


def _lacking(segment: Segment) -> npt.NDArray[np.intp]:
    """The rows of a segment that are not removed and have no vector."""
    lacking = segment.missing.copy()
    lacking[segment.removed] = False
    return np.flatnonzero(lacking)


def _texts(rows: Iterable[tuple[Segment, npt.NDArray[np.intp]]]) -> dict[str, str]:
    """The texts of rows, each once, by their embedding keys."""
    texts: dict[str, str] = {}
    for segment, some in rows:
        for row, key in zip(some.tolist(), segment.keys[some].tolist(), strict=True):
            if (name := key.decode("ascii")) not in texts:
                texts[name] = segment.embedded_text(row)
    return texts

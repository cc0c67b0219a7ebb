"""Vectors of an index that has not all of them yet: a search makes those that it needs first."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreError
from ragloom.indexing.embedding import embed_in_steps
from ragloom.indexing.journal import Journal
from ragloom.indexing.lock import space_lock
from ragloom.protocols import Embedder, Embeddings
from ragloom.snapshot import Snapshot, current_generation


class PendingVectors:
    """The vectors of a snapshot's pending rows that have been made since it was written.

    Args:
        directory: The space's folder.
        snapshot: Its generation, which learns them.
    """

    def __init__(self, directory: Path, snapshot: Snapshot) -> None:
        self._directory = directory
        self._snapshot = snapshot
        self._journal = Journal(directory, snapshot.meta.dimension)
        self._seen = (0, 0)

    def recall(self) -> None:
        """Learn what index runs and other searches have made meanwhile."""
        now = self._journal.state()
        if now == self._seen:
            return
        self._seen = now
        made = self._journal.recall()
        rows = self._snapshot.pending
        names = self._snapshot.keys_of(rows)
        known = [at for at, name in enumerate(names) if name in made]
        if known:
            self._snapshot.learn(rows[known], np.stack([made[names[at]] for at in known]))

    def embed(
        self, rows: npt.NDArray[np.intp], embedder: Embedder, seconds: float, step: int = 16
    ) -> None:
        """Embed those of some rows that are pending, in their order, while there is time.

        The vectors are kept for the next search and the next index run, unless one is running.

        Args:
            rows: Best first.
            embedder: The model.
            seconds: After which no further ``step`` begins.
            step: Chunks that are embedded at once.

        Raises:
            ModelError: The model does not answer.
        """
        snapshot = self._snapshot
        wanted = rows[np.isin(rows, snapshot.pending)]
        keys = snapshot.keys_of(wanted)
        end = time.monotonic() + seconds
        kept: dict[str, Embeddings] = {}
        for start in range(0, len(wanted), step):
            if start and time.monotonic() > end:
                break
            some = wanted[start : start + step]
            texts = [snapshot.embedded_text(int(row)) for row in some]
            for places, made in embed_in_steps(embedder, texts):
                snapshot.learn(some[list(places)], made)
                names = (keys[start + place] for place in places)
                kept |= zip(names, made, strict=True)
        if kept:
            self._keep(kept)

    def _keep(self, made: dict[str, Embeddings]) -> None:
        """Write vectors down, unless another process writes the space or nobody may."""
        with suppress(StoreError), space_lock(self._directory, timeout=0, quiet=True):
            if current_generation(self._directory) == self._snapshot.meta.generation:
                self._journal.remember(list(made), np.stack(list(made.values())))
                self._seen = self._journal.state()

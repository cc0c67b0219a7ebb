"""A store that answers searches itself, with the snapshot behind it for when it fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

import numpy as np

from ragloom.errors import StoreError
from ragloom.indexing.store_sync import answers_for
from ragloom.protocols import Embeddings, SearchableStore, Store
from ragloom.snapshot import Snapshot
from ragloom.types import Condition

_SPARE = 100  # rows whose exact cosine may be higher than the approximate one
_LOG = logging.getLogger("ragloom")


class AnsweringStore:
    """An open store that holds exactly the chunks of a snapshot, which answers once the store fails.

    Args:
        store: The store; its other members are this one's, too.
        snapshot: What it holds.
        name: Of the space, for the warning.
        failed: Called where the store fails.
    """

    def __init__(
        self, store: SearchableStore, snapshot: Snapshot, name: str, failed: Callable[[], None]
    ) -> None:
        self._store = store
        self._snapshot = snapshot
        self._name = name
        self._failed = failed

    def __getattr__(self, name: str) -> object:
        """What the store has."""
        return cast("object", getattr(self._store, name))

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """As in :class:`ragloom.SearchableStore`; the snapshot's answer is as exact."""
        try:
            return self._store.search(vector, limit=limit, where=where)
        except (StoreError, OSError) as error:
            _LOG.warning("%s: %s; the snapshot answers instead", self._name, error)
        self._failed()
        return nearest(self._snapshot, vector, limit=limit, where=where)


class StoreReader:
    """A store that answers searches itself, opened for them when it is first needed.

    Args:
        make: Makes the store.
        name: The space.
        directory: Its state folder.
    """

    def __init__(self, make: Callable[[], Store], name: str, directory: Path) -> None:
        self._make = make
        self._name = name
        self._directory = directory
        self._store: SearchableStore | None = None

    def answering(self, snapshot: Snapshot) -> SearchableStore | None:
        """The store, where it holds exactly the chunks of a snapshot; None where the snapshot answers."""
        if snapshot.meta.pending:
            return None
        reading = self._store or cast("SearchableStore", self._make())
        try:
            if self._store is None:
                files = self._directory / "store"
                reading.open(space=self._name, dimension=snapshot.meta.dimension, directory=files)
            # Another machine may have written other chunks to it: then the snapshot answers.
            answers = answers_for(reading, snapshot)
        except (StoreError, OSError) as error:  # and it has all that it takes to answer as exactly
            self._let_go(reading)
            _LOG.warning("%s: %s; the snapshot answers instead", self._name, error)
            return None
        self._store = reading
        if not answers:
            return None
        answering = AnsweringStore(reading, snapshot, self._name, lambda: self._let_go(reading))
        return cast("SearchableStore", answering)

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _let_go(self, reading: SearchableStore) -> None:
        """Close a store that failed; the next search opens it again."""
        self._store = None
        with suppress(StoreError, OSError):
            reading.close()


def nearest(
    snapshot: Snapshot, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
) -> Sequence[tuple[str, float]]:
    """Ids and cosines of the nearest ``limit`` chunks of a snapshot, best first; ties by id."""
    among = None
    if where:
        among = np.flatnonzero(snapshot.columns.passing(where)[snapshot.file_of_row])
    rows = snapshot.nearest(vector, limit + _SPARE, among)
    cosines = snapshot.cosines(vector, rows)
    order = np.lexsort((snapshot.ids[rows], -cosines))[:limit]
    return [(snapshot.ids[rows[at]].decode("ascii"), float(cosines[at])) for at in order]

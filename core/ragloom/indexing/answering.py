"""A store that answers searches itself, with the snapshot behind it for when it fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from ragloom.errors import StoreError
from ragloom.protocols import Embeddings, SearchableStore
from ragloom.snapshot import Snapshot
from ragloom.types import Condition

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


def nearest(
    snapshot: Snapshot, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
) -> Sequence[tuple[str, float]]:
    """Ids and cosines of the nearest ``limit`` chunks of a snapshot, best first; ties by id."""
    rows = np.arange(len(snapshot))
    if where:
        rows = np.flatnonzero(snapshot.columns.passing(where)[snapshot.file_of_row])
    cosines = snapshot.cosines(vector)[rows]
    order = np.lexsort((snapshot.ids[rows], -cosines))[:limit]
    return [(snapshot.ids[rows[at]].decode("ascii"), float(cosines[at])) for at in order]

"""A store that answers alone, connected when it is first asked."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ragloom.errors import ConfigError, RagloomError, StoreError
from ragloom.protocols import RemoteStore, Store
from ragloom.snapshot import Snapshot

if TYPE_CHECKING:
    from ragloom.snapshot.remote import RemoteIndex


class RemoteReader:
    """Reads one space from its store; see the setting ``read``.

    Args:
        make: Makes the store.
        name: The space.
        directory: Its state folder, which need not be there.
    """

    def __init__(self, make: Callable[[], Store], name: str, directory: Path) -> None:
        self._make = make
        self._name = name
        self._directory = directory
        self._index: RemoteIndex | None = None

    def index(self) -> Snapshot:
        """The index as the store tells it, with the members of a snapshot that a query reads.

        Raises:
            ConfigError: The store does not answer alone.
            NotIndexedError: Nothing is indexed there.
            StoreError: It failed.
        """
        try:
            if self._index is None:
                self._index = self._connected()
            else:
                self._index.refresh()
        except RagloomError:
            self.close()  # the next search connects again
            raise
        return cast("Snapshot", self._index)

    @property
    def generation(self) -> int:
        """Changes with the index; 0 where nothing is indexed, or the store does not answer."""
        with suppress(RagloomError):
            return self.index().meta.generation
        return 0

    def _connected(self) -> RemoteIndex:
        from ragloom.snapshot.remote import RemoteIndex

        store = self._make()
        if not isinstance(store, RemoteStore):
            raise ConfigError(
                f"read: remote: the store of {self._name!r} does not answer alone: name one that does, "
                "such as a Milvus server by its URI"
            )
        try:
            store.connect(space=self._name)
            self._check(store)
            return RemoteIndex(store, self._name, self._directory)
        except BaseException:
            store.close()
            raise

    def _check(self, store: RemoteStore) -> None:
        if not store.ranks_words:
            raise StoreError(
                f"read: remote: the server of {self._name!r} does not search by words: it takes "
                "Milvus 2.5 or newer; read: local works with this one"
            )

    def close(self) -> None:
        """Let go of the store."""
        index, self._index = self._index, None
        if index is not None:
            with suppress(StoreError, OSError):
                index.store.close()

"""The store ``memory``: quick, and gone with the process."""

from __future__ import annotations

import uuid
from pathlib import Path

from ragloom import StoreError
from ragloom_local._table import Table, TableStore


class MemoryStore(TableStore):
    """Keeps the chunks of its spaces as long as the object lives; closing keeps them."""

    def __init__(self) -> None:
        super().__init__("memory")
        self.fingerprint = f"memory:{uuid.uuid4().hex}"
        self._spaces: dict[str, Table] = {}

    def open(self, *, space: str, dimension: int, directory: Path) -> None:  # noqa: ARG002 - contract
        """Create the space if it is new; :class:`StoreError` for another dimension."""
        table = self._spaces.setdefault(space, Table(dimension))
        if table.dimension != dimension:
            if len(table):
                raise StoreError(
                    f"the space {space!r} holds vectors of {table.dimension} numbers, "
                    f"and the embedder gives {dimension}: drop the space and index again"
                )
            table = self._spaces[space] = Table(dimension)
        self._table = table

    def close(self) -> None:
        """Close the space; its chunks stay in this object."""
        self._table = None

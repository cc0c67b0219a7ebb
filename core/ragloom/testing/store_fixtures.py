"""The fixtures of store contracts."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar, Protocol, TypeAlias

import pytest

from ragloom.protocols import Store
from ragloom.testing.contract import Contract
from ragloom.testing.samples import DIMENSION
from ragloom.types import Chunk

__all__ = ["MakeStore", "OpenStore", "StoreFixtures", "everything"]

MakeStore: TypeAlias = Callable[[], Store]


class OpenStore(Protocol):
    """Opens another store of the same place; what is left open is closed when the test ends."""

    def __call__(self, *, space: str | None = None, dimension: int = DIMENSION) -> Store:
        """The store, opened; ``space`` is the test's own where none is named."""


class StoreFixtures(Contract, contract=True):
    """The fixtures of store contracts.

    Attributes:
        remote: The chunks lie where no test's folder is, so that every test drops its space.
    """

    remote: ClassVar[bool] = False

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """Written by the author: makes a store, each time another object of the same place.

        A second process must be able to make it, too, so return a class, a function of a module or
        a ``functools.partial`` of one of them.
        """
        raise NotImplementedError("write a fixture make_store that returns a class or a function")

    @pytest.fixture
    def space(self) -> str:
        """A name that no other test has."""
        return f"contract {uuid.uuid4().hex[:12]}"

    @pytest.fixture
    def directory(self, tmp_path: Path) -> Path:
        """The folder that ``open`` is given."""
        folder = tmp_path / "space"
        folder.mkdir()
        return folder

    @pytest.fixture
    def open_store(self, make_store: MakeStore, space: str, directory: Path) -> Iterator[OpenStore]:
        """Opens stores; see :class:`OpenStore`."""
        opened: list[Store] = []
        spaces = {space: DIMENSION}

        def open_store(*, space: str | None = space, dimension: int = DIMENSION) -> Store:
            store = make_store()
            named = space or next(iter(spaces))
            store.open(space=named, dimension=dimension, directory=directory)
            spaces.setdefault(named, dimension)
            opened.append(store)
            return store

        yield open_store
        for store in opened:
            store.close()
        for name, dimension in spaces.items() if self.remote else ():
            store = make_store()
            store.open(space=name, dimension=dimension, directory=directory)
            store.drop()
            store.close()


def everything(store: Store, batch_size: int = 1000) -> list[tuple[Chunk, list[float]]]:
    """All chunks of a store, each with its vector."""
    return [
        (stored, vector.tolist())
        for chunks, vectors in store.scan(batch_size=batch_size)
        for stored, vector in zip(chunks, vectors, strict=True)
    ]

"""Whatever is done to it, a store agrees with the one in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ragloom.protocols import SearchableStore, Store
from ragloom.testing.fakes import ExactStore
from ragloom.testing.samples import DIMENSION
from ragloom.testing.store_fixtures import MakeStore, StoreFixtures, everything
from ragloom.testing.strategies import IDS, chunks, conditions, directions
from ragloom.types import Chunk, Condition

__all__ = ["StoreAgreement"]

Vector = tuple[float, ...]


class StoreAgreement(StoreFixtures, contract=True):
    """A Hypothesis state machine: upsert, delete, reopen, drop and, if it can, search; beside an exact one.

    The author writes the fixture ``make_store``, as for :class:`~ragloom.testing.StoreContract`.

    Attributes:
        examples: How many runs.
        steps: The most steps of a run.
    """

    examples: ClassVar[int] = 20
    steps: ClassVar[int] = 15

    def test_it_agrees_with_an_exact_store_in_memory(
        self, make_store: MakeStore, space: str, directory: Path
    ) -> None:
        """The same steps give the same chunks, ids and cosines: the failing steps are printed."""

        class Machine(_Agreement):
            def opened(self) -> Store:
                store = make_store()
                store.open(space=space, dimension=DIMENSION, directory=directory)
                return store

        run_state_machine_as_test(
            Machine,
            settings=settings(
                max_examples=self.examples,
                stateful_step_count=self.steps,
                deadline=None,
                derandomize=True,
                database=None,
                suppress_health_check=list(HealthCheck),
            ),
        )


class _Agreement(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.oracle = ExactStore()
        self.oracle.open(space="oracle", dimension=DIMENSION, directory=Path())
        self.store = self.opened()
        self.store.drop()

    def opened(self) -> Store:
        raise NotImplementedError

    @rule(rows=st.lists(st.tuples(chunks(), directions()), max_size=4))
    def upsert(self, rows: Sequence[tuple[Chunk, Vector]]) -> None:
        vectors = np.array([vector for _, vector in rows], dtype=np.float32)
        vectors = vectors.reshape(len(rows), DIMENSION)
        for store in (self.store, self.oracle):
            store.upsert([chunk for chunk, _ in rows], vectors)

    @rule(ids=st.lists(IDS, max_size=3))
    def delete(self, ids: Sequence[str]) -> None:
        for store in (self.store, self.oracle):
            store.delete(ids)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.opened()

    @rule()
    def drop(self) -> None:
        for store in (self.store, self.oracle):
            store.drop()

    @precondition(lambda self: isinstance(self.store, SearchableStore))
    @rule(vector=directions(), limit=st.integers(0, 8), where=st.lists(conditions(), max_size=2))
    def search(self, vector: Vector, limit: int, where: Sequence[Condition]) -> None:
        assert isinstance(self.store, SearchableStore)
        query = np.array(vector, dtype=np.float32)
        found, expected = (
            [
                (name, round(cosine, 5) + 0.0)
                for name, cosine in store.search(query, limit=limit, where=where)
            ]
            for store in (self.store, self.oracle)
        )
        assert found == expected

    @invariant()
    def holds_the_same(self) -> None:
        found, expected = (everything(store, batch_size=2) for store in (self.store, self.oracle))
        assert found == expected
        assert self.store.count() == len(expected)

    def teardown(self) -> None:
        self.reopen()  # whatever the steps were: few of them reopen a store that holds anything
        try:
            self.holds_the_same()
        finally:
            self.store.close()

"""Whatever is done to it, every store agrees with the one in memory."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from ragloom.protocols import Store
from ragloom.types import Chunk, Condition, Lines, Span
from ragloom_local.file import FileStore
from ragloom_local.memory import MemoryStore
from ragloom_local.sqlite import SqliteStore

IDS = st.sampled_from(["a", "b", "c", "d'", 'e"', "f\\", "\u65e5"])
URIS = st.sampled_from(["notes/a.md", "notes-old/b.md", "notes", "n%/_.md"])
SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "1", "it's \\"])
)
METADATA = st.dictionaries(st.sampled_from(["k", "tags"]), SCALARS | st.lists(SCALARS, max_size=2))
# Few directions, so that ties happen; unit length, and exact in float32.
VECTORS = st.sampled_from([(1, 0, 0, 0), (0, 1, 0, 0), (-1, 0, 0, 0), (0.5, 0.5, 0.5, 0.5)])
CONDITIONS = st.builds(
    Condition,
    field=st.sampled_from(["k", "tags", "path"]),
    operator=st.sampled_from(["=", "!=", "<", "<=", ">", ">=", ":", "under"]),
    value=SCALARS | st.sampled_from(["notes", "n%"]),
)


@st.composite
def chunks(draw: st.DrawFn) -> Chunk:
    text = draw(st.text(st.characters(codec="utf-8"), max_size=5))
    return Chunk(
        id=draw(IDS),
        uri=draw(URIS),
        text=text,
        span=Span(0, len(text)),
        lines=Lines(1, 1),
        bytes=Span(0, len(text)),
        metadata=draw(METADATA),
    )


class Agreement(RuleBasedStateMachine):
    """Does everything to a store and to the oracle."""

    make: type[FileStore | SqliteStore]

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.oracle: Store = MemoryStore()
        self.oracle.open(space="docs", dimension=4, directory=Path())
        self.reopened()

    def reopened(self) -> None:
        self.store: Store = self.make()
        self.store.open(space="docs", dimension=4, directory=Path(self.folder.name))

    @rule(rows=st.lists(st.tuples(chunks(), VECTORS), max_size=4))
    def upsert(self, rows):
        vectors = np.array([vector for _, vector in rows], dtype=np.float32).reshape(len(rows), 4)
        for store in (self.store, self.oracle):
            store.upsert([chunk for chunk, _ in rows], vectors)

    @rule(ids=st.lists(IDS, max_size=3))
    def delete(self, ids):
        for store in (self.store, self.oracle):
            store.delete(ids)

    @rule()
    def reopen(self):
        self.store.close()
        self.reopened()

    @rule()
    def drop(self):
        for store in (self.store, self.oracle):
            store.drop()

    @rule(vector=VECTORS, limit=st.integers(0, 8), where=st.lists(CONDITIONS, max_size=2))
    def search(self, vector, limit, where):
        query = np.array(vector, dtype=np.float32)
        found, expected = (
            [
                (name, round(cosine, 5) + 0.0)
                for name, cosine in store.search(query, limit=limit, where=where)
            ]
            for store in (self.store, self.oracle)
        )
        assert expected == found

    @invariant()
    def holds_the_same(self):
        found, expected = (
            [
                (chunk, vector.tolist())
                for batch, vectors in store.scan(batch_size=2)
                for chunk, vector in zip(batch, vectors, strict=True)
            ]
            for store in (self.store, self.oracle)
        )
        assert expected == found
        assert len(expected) == self.store.count()

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()


@pytest.mark.parametrize("name", ["file", "sqlite", "milvus"])
def test_every_store_agrees_with_the_one_in_memory(name):
    if name == "milvus":
        pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
        from ragloom_milvus.store import MilvusStore

        make = MilvusStore
    else:
        make = {"file": FileStore, "sqlite": SqliteStore}[name]
    machine = type("Machine", (Agreement,), {"make": make})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=15,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )

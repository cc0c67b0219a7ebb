"""What every store promises."""

from __future__ import annotations

import copy
import dataclasses
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from ragloom.errors import StoreError
from ragloom.protocols import Embeddings, Store
from ragloom.testing.samples import DIMENSION, METADATA, chunk, unit
from ragloom.testing.store_fixtures import MakeStore, OpenStore, everything
from ragloom.testing.store_keeping import KeepingRules
from ragloom.types import Chunk

__all__ = ["StoreContract"]


class StoreContract(KeepingRules, contract=True):
    """Every store passes these tests.

    The author writes the fixture ``make_store``. A store whose chunks lie on a server sets ``remote``.
    """

    def test_has_every_method_of_the_protocol(self, make_store: MakeStore) -> None:
        """A store has all of ``ragloom.Store``: look at the names of its methods and properties."""
        assert isinstance(make_store(), Store)

    def test_fingerprint_names_the_place(self, make_store: MakeStore) -> None:
        """Two objects of one place have one fingerprint: make it from the options, without chance."""
        assert make_store().fingerprint == make_store().fingerprint
        assert make_store().fingerprint

    def test_an_empty_store_counts_and_scans_nothing(self, open_store: OpenStore) -> None:
        """Nothing is there before the first upsert, and writing nothing is no error."""
        store = open_store()
        assert store.count() == 0
        assert list(store.scan()) == []
        store.upsert([], np.zeros((0, DIMENSION), dtype=np.float32))
        store.delete([])
        assert store.count() == 0

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_vectors_that_are_not_finite_are_refused(
        self, open_store: OpenStore, bad: float
    ) -> None:
        """``StoreError`` names the chunk, and nothing is written: see ``records.check_records``."""
        store = open_store()
        vectors = unit((1,), (0, 1), (0, 0, 1))
        vectors[1, 2] = bad
        with pytest.raises(StoreError, match="wrong"):
            store.upsert([chunk("a"), chunk("wrong"), chunk("c")], vectors)
        assert store.count() == 0

    @pytest.mark.parametrize(
        "vectors",
        [
            pytest.param(np.full((1, 3), 0.5, dtype=np.float32), id="dimension"),
            pytest.param(np.full((1, 4), 0.5, dtype=np.float64), id="float64"),
            pytest.param(np.full((1, 4), 0.5, dtype=np.float16), id="float16"),
            pytest.param(np.full(4, 0.5, dtype=np.float32), id="one-dimensional"),
            pytest.param(np.full((2, 4), 0.5, dtype=np.float32), id="too many"),
            pytest.param([[0.0, 0.0, 0.0, 1.0]], id="a list"),
        ],
    )
    def test_vectors_of_the_wrong_kind_are_refused(
        self, open_store: OpenStore, vectors: Embeddings
    ) -> None:
        """``StoreError`` for another shape or type: see ``records.check_records``."""
        store = open_store()
        with pytest.raises(StoreError):
            store.upsert([chunk("a")], vectors)
        assert store.count() == 0

    @pytest.mark.parametrize(
        "wrong",
        [
            {"metadata": {"k": math.nan}},
            {"metadata": {"k": {1, 2}}},
            {"metadata": {1: 2}},
            {"text": "\ud800"},
        ],
        ids=["nan", "set", "key", "surrogate"],
    )
    def test_what_is_not_json_or_utf8_is_refused(
        self, open_store: OpenStore, wrong: dict[str, object]
    ) -> None:
        """``StoreError`` names the chunk, and nothing is written: see ``records.check_records``."""
        store = open_store()
        broken: Chunk = dataclasses.replace(chunk("wrong"), **wrong)  # type: ignore[arg-type]
        with pytest.raises(StoreError, match="wrong"):
            store.upsert([chunk("good"), broken], unit((1,), (0, 1)))
        assert store.count() == 0

    def test_another_dimension_is_refused_on_opening(self, open_store: OpenStore) -> None:
        """A space with chunks keeps its dimension: ``open`` raises ``StoreError`` for another."""
        store = open_store()
        store.upsert([chunk("a")], unit((1,)))
        store.close()
        with pytest.raises(StoreError):
            open_store(dimension=3)
        assert open_store().count() == 1

    def test_an_emptied_space_takes_another_dimension(self, open_store: OpenStore) -> None:
        """Another model can follow: ``open`` makes a space that holds no chunk again."""
        store = open_store()
        store.upsert([chunk("a")], unit((1,)))
        store.drop()
        store.close()
        store = open_store(dimension=3)
        store.upsert([chunk("b")], unit((1,))[:, :3])
        assert [chunk.id for chunk, _ in everything(store)] == ["b"]
        store.drop()

    def test_inputs_are_not_changed_nor_kept(self, open_store: OpenStore) -> None:
        """What is given stays as it was, and later changes to it change nothing that is stored.

        Look for arrays and metadata that are kept without a copy, or normalised in place.
        """
        chunks = [chunk("a", metadata={"tags": ["x"]}), chunk("b")]
        vectors, ids = unit((1, 2), (0, 1)), ["b"]
        before = copy.deepcopy((chunks, vectors.tolist(), ids))
        store = open_store()
        store.upsert(chunks, vectors)
        store.delete(ids)
        assert (chunks, vectors.tolist(), ids) == before
        kept = vectors[0].tolist()
        vectors[:] = 9
        tags = chunks[0].metadata["tags"]
        assert isinstance(tags, list)
        tags.append("y")
        assert [(dict(c.metadata), v) for c, v in everything(store)] == [({"tags": ["x"]}, kept)]

    def test_read_only_and_strided_vectors_are_taken(self, open_store: OpenStore) -> None:
        """An array may be a view of another one: look for ``tobytes`` or buffers of strided rows."""
        wide = np.repeat(unit((1, 2), (3, 4)), 2, axis=1)[:, ::2]
        wide.flags.writeable = False
        store = open_store()
        store.upsert([chunk("a"), chunk("b")], wide)
        assert [vector for _, vector in everything(store)] == wide.tolist()

    def test_closing_twice_does_nothing_and_a_closed_store_refuses(
        self, make_store: MakeStore, space: str, directory: Path
    ) -> None:
        """Before ``open`` and after ``close`` every method raises ``StoreError``; ``close`` never."""
        store = make_store()
        store.close()
        uses: Sequence[Callable[[], object]] = (
            store.count,
            store.drop,
            lambda: store.delete(["a"]),
            lambda: list(store.scan()),
            lambda: store.upsert([chunk("a")], unit((1,))),
        )
        for use in uses:
            with pytest.raises(StoreError):
                use()
        store.open(space=space, dimension=DIMENSION, directory=directory)
        store.close()
        store.close()

    def test_chunks_come_back_exactly_in_the_order_of_their_ids(
        self, open_store: OpenStore
    ) -> None:
        """Texts, paths, headings, spans and vectors, letter for letter and bit for bit.

        Look at the text: NUL, line ends and characters beyond U+FFFF must survive. Store the whole
        chunk as JSON with ``records.chunk_to_record`` where a column cannot hold it.
        """
        given = [
            chunk("c", text="\u00fc\u2028\r\n\t\U0001f9f5\x00 end"),
            chunk("a", uri='docs/\u65e5\u672c\'s "x".md', text=""),
            chunk("b", metadata={"k": "v"}),
        ]
        vectors = unit((1, 2, 3, 4), (0, 1), (-1, 0.5))
        store = open_store()
        store.upsert(given, vectors)
        found = everything(store, batch_size=2)
        assert [stored for stored, _ in found] == [given[1], given[2], given[0]]
        assert [v for _, v in found] == [vectors[row].tolist() for row in (1, 2, 0)]

    def test_metadata_comes_back_exactly(self, open_store: OpenStore) -> None:
        """Ints stay ints, floats floats, and keys keep their order: look at ``records.dump_json``."""
        store = open_store()
        store.upsert([chunk("a", metadata=METADATA)], unit((1,)))
        [(stored, _)] = everything(store)
        assert repr(dict(stored.metadata)) == repr(dict(METADATA))

    def test_scanned_vectors_are_float32_and_contiguous(self, open_store: OpenStore) -> None:
        """``scan`` gives ``(n, d)`` float32, C-contiguous, in batches of at most ``batch_size``."""
        store = open_store()
        store.upsert([chunk("a"), chunk("b"), chunk("c")], unit((1,), (0, 1), (0, 0, 1)))
        batches = list(store.scan(batch_size=2))
        assert [len(chunks) for chunks, _ in batches] == [2, 1]
        for chunks, vectors in batches:
            assert vectors.shape == (len(chunks), DIMENSION)
            assert vectors.dtype == np.float32
            assert vectors.flags.c_contiguous

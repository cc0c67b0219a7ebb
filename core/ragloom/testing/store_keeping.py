"""What every store promises about what it keeps: writing, deleting, reopening."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

from ragloom.testing.samples import METADATA, chunk, unit
from ragloom.testing.store_fixtures import MakeStore, OpenStore, StoreFixtures, everything

__all__ = ["KeepingRules"]

_SECOND_PROCESS = """
import pickle, sys
sys.path[:] = {path!r}
from pathlib import Path
store = pickle.loads({made!r})()
store.open(space={space!r}, dimension=4, directory=Path({directory!r}))
rows = [
    (chunk.id, chunk.text, dict(chunk.metadata), vector.tolist())
    for chunks, vectors in store.scan() for chunk, vector in zip(chunks, vectors)
]
store.delete(["a"])
store.close()
print(ascii(rows))
"""


class KeepingRules(StoreFixtures, contract=True):
    """The rules of the store contract about writing, deleting and reopening."""

    def test_overwriting_is_idempotent(self, open_store: OpenStore) -> None:
        """``upsert`` replaces chunks with the same id, and nothing of the old one stays.

        Look at whether it inserts a second row, or leaves old metadata in place.
        """
        store = open_store()
        for _ in range(2):
            store.upsert([chunk("a", text="old"), chunk("b")], unit((1,), (0, 1)))
        store.upsert([chunk("a", text="new", metadata={"k": 1})], unit((0, 0, 1)))
        assert store.count() == 2
        assert [stored.text for stored, _ in everything(store)] == ["new", "some text"]
        store.upsert([chunk("a", text="bare")], unit((0, 0, 1)))
        assert everything(store)[0][0].metadata == {}

    def test_the_last_of_equal_ids_in_one_call_counts(self, open_store: OpenStore) -> None:
        """One call may name an id twice: look for databases that refuse that, or keep the first."""
        store = open_store()
        store.upsert([chunk("a", text="first"), chunk("a", text="last")], unit((1,), (0, 1)))
        assert [(c.text, v) for c, v in everything(store)] == [("last", unit((0, 1))[0].tolist())]
        assert store.count() == 1

    def test_unknown_ids_are_ignored_when_deleting(self, open_store: OpenStore) -> None:
        """``delete`` takes any string for an id, and one that is not there changes nothing.

        Look at how ids get into the query: as parameters, not as text between quotes.
        """
        store = open_store()
        store.upsert([chunk("a")], unit((1,)))
        store.delete(["never there", "it's", '"', "\\", "x' OR '1'='1", 'a" or id != "', "%"])
        assert store.count() == 1
        store.delete(["a", "a", "b"])
        assert store.count() == 0
        store.delete(["a"])

    def test_what_was_deleted_is_gone_and_can_come_back(self, open_store: OpenStore) -> None:
        """Deleted chunks are not scanned, at once: look for caches and marks of deletion."""
        store = open_store()
        store.upsert([chunk("a"), chunk("b")], unit((1,), (1, 1)))
        assert [stored.id for stored, _ in everything(store)] == ["a", "b"]
        store.delete(["a"])
        assert [stored.id for stored, _ in everything(store)] == ["b"]
        store.upsert([chunk("a", text="again")], unit((1,)))
        assert [stored.text for stored, _ in everything(store)] == ["again", "some text"]

    def test_reopened_it_is_the_same(self, open_store: OpenStore) -> None:
        """What was written is there for the next object of the same place, and so is a deletion.

        Look at whether ``close`` writes everything out, and whether the place depends on the object.
        """
        store = open_store()
        store.upsert([chunk("a", metadata=METADATA), chunk("b")], unit((1,), (0, 1)))
        store.delete(["b"])
        before = everything(store)
        store.close()
        store = open_store()
        assert everything(store) == before
        assert len(before) == 1
        store.delete(["a"])
        store.close()
        assert open_store().count() == 0

    def test_a_second_process_sees_it_and_is_seen(
        self,
        open_store: OpenStore,
        make_store: MakeStore,
        space: str,
        directory: Path,
    ) -> None:
        """What was written is there for another process once the store is closed, and back again.

        The fixture ``make_store`` must return what ``pickle`` can name: a class, a function of a module,
        or a ``functools.partial``. A store that lives in one process declares a deviation.
        """
        store = open_store()
        vectors = unit((1,), (0.5, 1))
        store.upsert([chunk("a", metadata={"k": [1, "x"]}), chunk("b", text="\u00fc")], vectors)
        store.close()
        code = _SECOND_PROCESS.format(
            path=sys.path, made=pickle.dumps(make_store), space=space, directory=str(directory)
        )
        done = subprocess.run(  # noqa: S603 - this Python, and nothing from outside
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )
        assert done.returncode == 0, done.stderr
        rows = [
            ("a", "some text", {"k": [1, "x"]}, vectors[0].tolist()),
            ("b", "\u00fc", {}, vectors[1].tolist()),
        ]
        assert done.stdout.splitlines()[-1] == ascii(rows)
        assert [stored.id for stored, _ in everything(open_store())] == ["b"]

    def test_spaces_do_not_see_each_other(self, open_store: OpenStore, space: str) -> None:
        """Two spaces of one place are apart, even with the same ids and names that are alike."""
        store = open_store()
        store.upsert([chunk("a", text="first")], unit((1,)))
        store.close()
        store = open_store(space=f"{space}!")
        store.upsert([chunk("a", text="second"), chunk("b")], unit((1,), (0, 1)))
        assert store.count() == 2
        assert [stored.text for stored, _ in everything(store)] == ["second", "some text"]
        store.delete(["a"])
        store.close()
        assert [stored.text for stored, _ in everything(open_store())] == ["first"]

    def test_dropping_a_space_leaves_the_others(self, open_store: OpenStore, space: str) -> None:
        """``drop`` empties this space, which can be written to again, and no other."""
        store = open_store()
        store.upsert([chunk("a", text="first")], unit((1,)))
        store.close()
        store = open_store(space=f"{space}!")
        store.upsert([chunk("b"), chunk("c")], unit((1,), (0, 1)))
        store.drop()
        assert store.count() == 0
        store.upsert([chunk("c")], unit((1,)))
        assert [stored.id for stored, _ in everything(store)] == ["c"]
        store.drop()
        store.close()
        assert [stored.text for stored, _ in everything(open_store())] == ["first"]

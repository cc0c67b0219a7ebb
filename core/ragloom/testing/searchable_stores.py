"""What every store that searches promises: exact cosines, and conditions as ``matches`` means them."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pytest

from ragloom.errors import StoreError
from ragloom.protocols import Embeddings, SearchableStore, Store
from ragloom.stores.filters import matches, parse_condition
from ragloom.testing.conditions import CONDITIONS, FILES
from ragloom.testing.samples import chunk, unit
from ragloom.testing.store_fixtures import MakeStore, OpenStore, StoreFixtures
from ragloom.testing.stores import StoreContract
from ragloom.types import Condition, Metadata

__all__ = ["SearchRules", "SearchableStoreContract"]

FILTERED: Final[Mapping[str, tuple[str, Metadata]]] = {
    "quote": ("notes/it's.md", {"title": "it's"}),
    "double": ('notes/"x".md', {"title": 'say "hi"'}),
    "slash": ("notes\\back.md", {"title": "C:\\dir\\"}),
    "percent": ("notes/100%.md", {"title": "100%", "tags": ["a%", "b_c"]}),
    "under": ("notes/a_b.md", {"title": "a_b"}),
    "letter": ("notes/axb.md", {"title": "axb"}),
    "old": ("notes-old/x.md", {"title": "old"}),
    "deep": ("notes/sub/deep/x.md", {"title": "deep", "owner": {"team": "core"}}),
    "file": ("notes", {"title": "a file of the folder's name"}),
    "unicode": ("\u65e5\u672c/gr\u00f6\u00dfe.md", {"title": "gr\u00f6\u00dfe \u65e5\u672c"}),
    "thread": ("x/\U0001f9f5.md", {"title": "\U0001f9f5", "\u043a\u043b\u044e\u0447": "x"}),
    "number": ("n/1.md", {"n": 3, "version": "1.10"}),
    "float": ("n/2.md", {"n": 2.5, "version": 1.1}),
    "string": ("n/3.md", {"n": "3", "version": "1.9"}),
    "true": ("n/4.md", {"n": True}),
    "null": ("n/5.md", {"n": None}),
    "list": ("n/6.md", {"n": [1, 2, 3], "tags": ["logging", "x"]}),
    "huge": ("n/7.md", {"n": 2**70}),
    "dated": ("n/8.md", {"date": "2024-05-01", "a.b": 1}),
    "later": ("n/9.md", {"date": "2025-01-01", "a": {"b": 1}}),
    "text": ("n/10.md", {"tags": "logging and more"}),
    "injection": ("n/11.md", {"title": "' OR 1=1 --"}),
    "expression": ("n/12.md", {"title": '" or id != "'}),
    "bare": ("n/13.md", {}),
}
"""Chunks by id: the path and the metadata of each."""


class SearchRules(StoreFixtures, contract=True):
    """What :class:`SearchableStoreContract` adds to :class:`~ragloom.testing.StoreContract`."""

    def test_has_search(self, make_store: MakeStore) -> None:
        """A store with all of ``ragloom.SearchableStore`` answers searches instead of the snapshot."""
        assert isinstance(make_store(), SearchableStore)

    def test_an_empty_store_finds_nothing(self, open_store: OpenStore) -> None:
        """Nothing is found before the first upsert; a closed store raises ``StoreError``."""
        store = open_store()
        assert names(store, unit((1,))[0], 5) == []
        store.close()
        with pytest.raises(StoreError):
            names(store, unit((1,))[0], 1)

    @pytest.mark.parametrize(
        ("limit", "expected"), [(0, []), (-1, []), (1, ["a"]), (9, ["a", "b"])]
    )
    def test_limits(self, open_store: OpenStore, limit: int, expected: list[str]) -> None:
        """At most ``limit`` chunks: none for 0 and less, and all of them where it is larger.

        Look at what the database says to a limit of 0: some take it for no limit, some refuse it.
        """
        store = open_store()
        store.upsert([chunk("b"), chunk("a")], unit((1, 1), (1,)))
        assert names(store, unit((1,))[0], limit) == expected

    def test_scores_are_cosines_and_higher_is_better(self, open_store: OpenStore) -> None:
        """+1 for the same direction, 0 for orthogonal, -1 for opposite, as Python floats.

        Look at whether the database gives a distance (0 for the same) instead of a similarity.
        """
        store = open_store()
        store.upsert(
            [chunk("opposite"), chunk("orthogonal"), chunk("same"), chunk("half")],
            unit((-1,), (0, 1), (1,), (1, math.sqrt(3))),
        )
        assert isinstance(store, SearchableStore)
        found = list(store.search(unit((1,))[0], limit=4))
        assert [name for name, _ in found] == ["same", "half", "orthogonal", "opposite"]
        assert [cosine for _, cosine in found] == pytest.approx([1, 0.5, 0, -1], abs=1e-5)
        assert {(type(name), type(cosine)) for name, cosine in found} == {(str, float)}

    def test_ties_break_by_id_also_at_the_limit(self, open_store: OpenStore) -> None:
        """Equal scores come in the order of the ids, and the limit keeps the first of them.

        Look at whether the database applies ``limit`` before ids break ties: request everything that
        ties with the last place, or sort in it by score and id.
        """
        store = open_store()
        ids = [f"{number:03d}" for number in range(120)]
        shuffled = [ids[(number * 7) % 120] for number in range(120)]
        store.upsert([chunk(name) for name in shuffled], unit(*[(1,)] * 120))
        store.upsert([chunk("best")], unit((1, 0.0, 0.1)))
        query = unit((1, 0, 0.1))[0]
        assert names(store, query, 5) == ["best", *ids[:4]]
        assert names(store, query, 500) == ["best", *ids]

    def test_searches_follow_every_write(self, open_store: OpenStore, space: str) -> None:
        """What was written is found, and what was deleted or dropped is not, at once.

        Look for caches, for indexes that are late, and at whether a search sees other spaces.
        """
        store = open_store()
        store.upsert([chunk("a"), chunk("b")], unit((1,), (1, 1)))
        assert names(store, unit((1,))[0]) == ["a", "b"]
        store.delete(["a"])
        assert names(store, unit((1,))[0]) == ["b"]
        store.upsert([chunk("a", text="again"), chunk("b")], unit((1, 1), (1,)))
        assert names(store, unit((1,))[0]) == ["b", "a"]
        store.close()
        other = open_store(space=f"{space}!")
        other.upsert([chunk("c")], unit((1,)))
        assert names(other, unit((1,))[0]) == ["c"]
        other.drop()
        other.upsert([chunk("d")], unit((1,)))
        assert names(other, unit((1,))[0]) == ["d"]

    def test_a_search_does_not_change_what_it_is_given(self, open_store: OpenStore) -> None:
        """Query and conditions stay as they were: look for a query that is normalised in place."""
        store = open_store()
        store.upsert([chunk("a", metadata={"tags": ["x"]})], unit((1,)))
        query, where = unit((1, 2))[0] * 2, [parse_condition("tags:x")]
        before = copy.deepcopy((query.tolist(), where))
        assert names(store, query, 3, *where) == ["a"]
        assert (query.tolist(), where) == before

    def test_records_are_kept_beside_the_chunks(self, open_store: OpenStore, space: str) -> None:
        """They are replaced, removed and dropped with the space, and are no chunks.

        Look at whether a record is counted, scanned or found, and at whether another space sees it.
        """
        store = open_store()
        assert isinstance(store, SearchableStore)
        store.upsert([chunk("a")], unit((1,)))
        long = '\u00e9"\\' * 15_000
        store.put_records({"manifest": "one", "words.2.1": long, "gone": "x"})
        store.put_records({"manifest": '{"two": 2}', "gone": ""})
        wanted = ["manifest", "words.2.1", "gone", "other"]
        expected = {"manifest": '{"two": 2}', "words.2.1": long}
        assert dict(store.get_records(wanted)) == expected
        assert store.count() == 1
        assert [one.id for chunks, _ in store.scan() for one in chunks] == ["a"]
        assert names(store, unit((1,))[0]) == ["a"]
        store.close()
        store = open_store()
        assert isinstance(store, SearchableStore)
        assert dict(store.get_records(wanted)) == expected
        store.close()
        other = open_store(space=f"{space}!")
        assert isinstance(other, SearchableStore)
        assert dict(other.get_records(wanted)) == {}
        other.drop()
        other.close()
        store = open_store()
        assert isinstance(store, SearchableStore)
        store.drop()
        assert dict(store.get_records(wanted)) == {}

    @pytest.fixture
    def filtered(self, open_store: OpenStore) -> Store:
        """A store that holds :data:`FILTERED`, nearest first in the order of the ids."""
        store = open_store()
        rows = sorted(FILTERED.items())
        angles = np.linspace(0, 1, len(rows))
        store.upsert(
            [chunk(name, uri=uri, metadata=metadata) for name, (uri, metadata) in rows],
            unit(*[(float(np.cos(angle)), float(np.sin(angle))) for angle in angles]),
        )
        return store

    def test_filters_take_quotes_and_backslashes_literally(self, filtered: Store) -> None:
        r"""``'``, ``"`` and ``\`` in a value are characters: look at how values are escaped."""
        _agree_each(
            filtered,
            "title=it's",
            'title="say "hi""',
            "title=C:\\dir\\",
            "title=\\",
            "title:\\",
            'path under notes/"x".md',
            "path under notes\\back.md",
            "path=notes/it's.md",
        )

    def test_filters_take_wildcards_literally(self, filtered: Store) -> None:
        """``%`` and ``_`` match nothing but themselves: look for LIKE and for patterns."""
        _agree_each(
            filtered,
            "title=100%",
            "title=a_b",
            "title:_",
            "title:%",
            "tags:a%",
            "path=notes/100%.md",
            "path under notes/a_b.md",
        )

    def test_filters_take_every_script(self, filtered: Store) -> None:
        """Keys, values and paths may be in any script: look for ASCII escapes in stored JSON."""
        _agree_each(
            filtered,
            "title=gr\u00f6\u00dfe \u65e5\u672c",
            "title:\u65e5",
            "title=\U0001f9f5",
            "\u043a\u043b\u044e\u0447=x",
            "path under \u65e5\u672c",
        )

    def test_filters_cannot_break_out_of_their_value(self, filtered: Store) -> None:
        """SQL and expression syntax in a value is text: hand values over as parameters."""
        _agree_each(
            filtered,
            'title="\' OR 1=1 --"',
            """title='" or id != "'""",
            """title='x" or id != "'""",
            'title="x\'); DROP TABLE chunks; --"',
            "title={{x}} $1 %s :y ?",
        )
        assert filtered.count() == len(FILTERED)

    def test_filters_compare_as_the_metadata_says(self, filtered: Store) -> None:
        """A number is compared as a number, a date as a string: see ``ragloom.stores.filters.matches``."""
        _agree_each(
            filtered,
            *(
                f"n{test}"
                for test in ("=3", "=3.0", "=true", "=null", "!=3", ">2", "<=3", ">=1e20")
            ),
            *(f"n={2**70}", "version=1.10", "version>1.5", "date>=2024-06-01", "date<2025"),
        )

    def test_filters_with_typed_values_are_strict(self, filtered: Store) -> None:
        """``3`` is not ``"3"`` and ``True`` is not ``1``: see ``ragloom.stores.filters.matches``."""
        _agree_each(
            filtered,
            *(Condition(field="n", operator="=", value=value) for value in (3, True, None, 2.5)),
            Condition(field="n", operator="!=", value=None),
            Condition(field="n", operator=":", value=2),
            Condition(field="n", operator=">", value=2.4),
            Condition(field="path", operator=":", value="/"),
            Condition(field="path", operator="=", value=3),
            Condition(field="n", operator="under", value="3"),
        )

    def test_filters_look_into_lists(self, filtered: Store) -> None:
        """A list passes where an element does, and ``!=`` where none is equal."""
        _agree_each(filtered, "n:3", "tags:logging", "tags=logging", "tags:b_c")
        _agree_each(filtered, "tags!=logging", "n=2", "n!=2", "n>2", "n<2", "not tags:logging")

    def test_filters_join_conditions(self, filtered: Store) -> None:
        """``and``, ``or`` and ``not`` join others, whose operators stand in their ``value``.

        Look at what the store does with an operator that it does not know.
        """
        _agree_each(
            filtered,
            "n=3 or version>1.5",
            "n=3 or n!=3",
            "not (path under n or title:old)",
            "path under n and not (n>2 or exists tags)",
            "exists n",
            "not exists title",
        )

    def test_filters_pass_the_table(self, open_store: OpenStore) -> None:
        """What every condition of ``ragloom.testing.conditions`` lets through."""
        store = open_store()
        store.upsert(
            [
                chunk(name, uri=f"notes/{name}.md", metadata=metadata)
                for name, metadata in FILES.items()
            ],
            unit(*[(1,)] * len(FILES)),
        )
        query = unit((1,))[0]
        found = {
            text: " ".join(sorted(names(store, query, 100, parse_condition(text))))
            for text in CONDITIONS
        }
        assert found == CONDITIONS

    def test_filters_look_up_dotted_fields(self, filtered: Store) -> None:
        """``owner.team`` is that very key, then the key ``team`` of ``owner``."""
        _agree_each(filtered, "a.b=1", "owner.team=core", "owner=core")

    def test_filters_on_missing_fields(self, filtered: Store) -> None:
        """A chunk without the field passes ``!=`` and nothing else: look at NULL in the database."""
        _agree_each(filtered, "missing=x", "missing!=x", "missing:x", "missing<1", "title!=old")

    def test_filters_on_paths(self, filtered: Store) -> None:
        """``path`` is the chunk's uri, and ``under`` a folder and all that is below it."""
        _agree_each(
            filtered,
            "path under ./notes/sub",
            "path under .",
            "path under notes/sub/deep/x.md",
            "path=notes",
            "path!=notes",
            "path>n/",
        )
        several = Condition(field="path", operator="under", value=("notes/sub", "x.md", "not"))
        _agree(filtered, (several,))

    def test_a_folder_does_not_match_its_neighbour(self, filtered: Store) -> None:
        """``notes`` does not hold ``notes-old``: compare with ``notes/``, or with the path itself."""
        _agree_each(filtered, "path under notes", "path:notes/", "path under not")

    def test_every_condition_must_pass(self, filtered: Store) -> None:
        """Several conditions narrow further: join them with AND."""
        for pair in (
            ("path under n", "version=1.9"),
            ("title=deep", "version=1.9"),
            ("title=old", "path under x"),
            ("title=deep", "path under notes"),
        ):
            _agree(filtered, pair)

    def test_limits_count_what_passes_the_filter(self, filtered: Store) -> None:
        """Filter first, then take ``limit``: look for filters on what a search already limited."""
        query = unit((1,))[0]
        assert names(filtered, query, 2, parse_condition("path under n")) == ["bare", "dated"]
        assert names(filtered, query, 2, parse_condition("version=1.9")) == ["string"]

    def test_a_filter_that_almost_nothing_passes_is_answered_in_full(
        self, open_store: OpenStore
    ) -> None:
        """The few that pass are found however far they are: look for a fixed number of candidates."""
        store = open_store()
        count = 400
        store.upsert(
            [
                chunk(f"{row:04d}", metadata={"k": "yes" if row % 100 == 99 else "no"})
                for row in range(count)
            ],
            unit(*[(1, row / count) for row in range(count)]),
        )
        found = names(store, unit((1,))[0], 3, parse_condition("k=yes"))
        assert found == ["0099", "0199", "0299"]


class SearchableStoreContract(SearchRules, StoreContract, contract=True):
    """Every store that searches passes these tests, and those of ``StoreContract``."""


def names(store: Store, vector: Embeddings, limit: int = 10, *where: Condition) -> list[str]:
    """The ids that a search finds, best first."""
    assert isinstance(store, SearchableStore)
    return [name for name, _ in store.search(vector, limit=limit, where=where)]


def _agree_each(store: Store, *conditions: str | Condition) -> None:
    for condition in conditions:
        _agree(store, [condition])


def _agree(store: Store, given: Sequence[str | Condition]) -> None:
    where = [parse_condition(one) if isinstance(one, str) else one for one in given]
    expected = [
        name for name, (uri, metadata) in sorted(FILTERED.items()) if matches(uri, metadata, where)
    ]
    assert names(store, unit((1,))[0], 100, *where) == expected, where

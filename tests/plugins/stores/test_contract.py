"""What every store promises, held against every store."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from ragloom.errors import StoreError
from ragloom.filters import matches, parse_condition
from ragloom.protocols import Embeddings, Store
from ragloom.types import Chunk, Condition

MakeChunk = Callable[..., Chunk]
Unit = Callable[..., Embeddings]

METADATA = {
    "nested": {"deep": [1, 2.0, "three", None, True, {"x": []}], "": "empty key"},
    "unicode \U0001f9f5": "na\u00efve \u65e5\u672c\u8a9e \u0000 \u2028",
    "none": None,
    "int": 1,
    "float": 1.0,
    "tiny": 5e-324,
    "long": 2**70,
    "minus zero": -0.0,
    "true": True,
    "quotes": '"it\'s" \\ `x` ${y}',
    "empty": [],
}


def names(store: Store, vector: Embeddings, limit: int = 10, *where: Condition) -> list[str]:
    return [name for name, _ in store.search(vector, limit=limit, where=where)]


def everything(store: Store, batch_size: int = 1000) -> list[tuple[Chunk, list[float]]]:
    return [
        (chunk, vector.tolist())
        for chunks, vectors in store.scan(batch_size=batch_size)
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]


def test_is_a_store(place):
    assert isinstance(place.make(), Store)
    assert place.make().read in {"snapshot", "native"}


def test_empty_store_counts_scans_and_finds_nothing(place, unit):
    store = place.open()
    assert store.count() == 0
    assert list(store.scan()) == []
    assert list(store.search(unit((1,))[0], limit=5)) == []
    store.upsert([], np.zeros((0, 4), dtype=np.float32))
    store.delete([])
    assert store.count() == 0
    store.close()


def test_chunks_come_back_exactly_and_in_the_order_of_their_ids(place, make_chunk, unit):
    given = [
        make_chunk("c", text="\u00fc\u2028\r\n\t\U0001f9f5\x00 end", metadata=METADATA),
        make_chunk("a", uri='docs/\u65e5\u672c\'s "x".md', text=""),
        make_chunk("b", metadata={"k": "v"}),
    ]
    vectors = unit((1, 2, 3, 4), (0, 1), (-1, 0.5))
    store = place.open()
    store.upsert(given, vectors)
    found = everything(store, batch_size=2)
    assert [given[1], given[2], given[0]] == [chunk for chunk, _ in found]
    assert [vectors[1].tolist(), vectors[2].tolist(), vectors[0].tolist()] == [v for _, v in found]
    back = found[2][0].metadata
    assert repr(METADATA) == repr(dict(back)), "ints stay ints, floats floats, keys in order"
    store.close()


def test_scanned_vectors_are_float32_and_contiguous(place, make_chunk, unit):
    store = place.open()
    store.upsert([make_chunk("a"), make_chunk("b")], unit((1,), (0, 1)))
    [(chunks, vectors)] = store.scan()
    assert (np.float32, (2, 4), True, 2) == (
        vectors.dtype,
        vectors.shape,
        vectors.flags.c_contiguous,
        len(chunks),
    )
    store.close()


def test_overwriting_is_idempotent(place, make_chunk, unit):
    store = place.open()
    for _ in range(2):
        store.upsert([make_chunk("a", text="old"), make_chunk("b")], unit((1,), (0, 1)))
    store.upsert([make_chunk("a", text="new", metadata={"k": 1})], unit((0, 0, 1)))
    assert store.count() == 2
    assert ["new", "some text"] == [chunk.text for chunk, _ in everything(store)]
    assert {} == everything(store)[1][0].metadata
    assert ["a"] == names(store, unit((0, 0, 1))[0], 1)
    store.upsert([make_chunk("a", text="bare")], unit((0, 0, 1)))
    assert {} == everything(store)[0][0].metadata, "nothing of the old chunk stays"
    store.close()


def test_the_last_of_equal_ids_in_one_call_counts(place, make_chunk, unit):
    store = place.open()
    store.upsert([make_chunk("a", text="first"), make_chunk("a", text="last")], unit((1,), (0, 1)))
    assert [("last", unit((0, 1))[0].tolist())] == [(c.text, v) for c, v in everything(store)]
    assert store.count() == 1
    store.close()


def test_unknown_ids_are_ignored_when_deleting(place, make_chunk, unit):
    store = place.open()
    store.upsert([make_chunk("a")], unit((1,)))
    store.delete(["never there", "it's", '"', "\\", "x' OR '1'='1", 'a" or id != "'])
    assert store.count() == 1
    store.delete(["a", "a", "b"])
    assert store.count() == 0
    store.delete(["a"])
    store.close()


def test_what_was_deleted_is_neither_found_nor_scanned_and_can_come_back(place, make_chunk, unit):
    store = place.open()
    store.upsert([make_chunk("a"), make_chunk("b")], unit((1,), (1, 1)))
    store.delete(["a"])
    assert ["b"] == names(store, unit((1,))[0])
    assert ["b"] == [chunk.id for chunk, _ in everything(store)]
    store.upsert([make_chunk("a", text="again")], unit((1,)))
    assert ["a", "b"] == names(store, unit((1,))[0])
    store.close()


@pytest.mark.parametrize(("limit", "expected"), [(0, []), (-1, []), (1, ["a"]), (9, ["a", "b"])])
def test_limits(place, make_chunk, unit, limit, expected):
    store = place.open()
    store.upsert([make_chunk("b"), make_chunk("a")], unit((1, 1), (1,)))
    assert expected == names(store, unit((1,))[0], limit)
    store.close()


def test_scores_are_cosines_and_higher_is_better(place, make_chunk, unit):
    store = place.open()
    store.upsert(
        [make_chunk("opposite"), make_chunk("orthogonal"), make_chunk("same"), make_chunk("half")],
        unit((-1,), (0, 1), (1,), (1, np.sqrt(3))),
    )
    found = store.search(unit((1,))[0], limit=4)
    assert ["same", "half", "orthogonal", "opposite"] == [name for name, _ in found]
    assert [1, 0.5, 0, -1] == pytest.approx([cosine for _, cosine in found], abs=1e-5)
    assert all(type(name) is str and type(cosine) is float for name, cosine in found)
    store.close()


def test_ties_break_by_id_also_at_the_limit(place, make_chunk, unit):
    store = place.open()
    ids = [f"{number:03d}" for number in range(120)]
    shuffled = [ids[(number * 7) % 120] for number in range(120)]
    store.upsert([make_chunk(name) for name in shuffled], unit(*[(1,)] * 120))
    store.upsert([make_chunk("best")], unit((1, 0.0, 0.1)))
    assert ["best", *ids[:4]] == names(store, unit((1, 0, 0.1))[0], 5)
    assert ["best", *ids] == names(store, unit((1, 0, 0.1))[0], 500)
    store.close()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused_and_nothing_is_written(
    place, make_chunk, unit, bad
):
    store = place.open()
    vectors = unit((1,), (0, 1), (0, 0, 1))
    vectors[1, 2] = bad
    with pytest.raises(StoreError, match=r"chunk bad of docs/a\.md is not finite"):
        store.upsert([make_chunk("a"), make_chunk("bad"), make_chunk("c")], vectors)
    assert store.count() == 0
    store.close()


@pytest.mark.parametrize(
    "vectors",
    [
        pytest.param(np.zeros((1, 3), dtype=np.float32), id="dimension"),
        pytest.param(np.zeros((1, 4), dtype=np.float64), id="float64"),
        pytest.param(np.zeros((1, 4), dtype=np.float16), id="float16"),
        pytest.param(np.zeros(4, dtype=np.float32), id="one-dimensional"),
        pytest.param(np.zeros((2, 4), dtype=np.float32), id="too many"),
        pytest.param([[0.0, 0.0, 0.0, 1.0]], id="a list"),
    ],
)
def test_vectors_of_the_wrong_kind_are_refused(place, make_chunk, vectors):
    store = place.open()
    with pytest.raises(StoreError, match="nothing was written"):
        store.upsert([make_chunk("a")], vectors)
    assert store.count() == 0
    store.close()


@pytest.mark.parametrize(
    "bad",
    [
        {"metadata": {"k": float("nan")}},
        {"metadata": {"k": {1, 2}}},
        {"metadata": {1: 2}},
        {"text": "\ud800"},
    ],
    ids=["nan", "set", "key", "surrogate"],
)
def test_what_is_not_json_or_utf8_is_refused_and_nothing_is_written(place, make_chunk, unit, bad):
    store = place.open()
    chunk = make_chunk("good")
    broken = copy.replace(chunk, id="bad", **bad) if hasattr(copy, "replace") else None
    if broken is None:
        import dataclasses

        broken = dataclasses.replace(chunk, id="bad", **bad)
    with pytest.raises(StoreError, match="chunk bad of"):
        store.upsert([chunk, broken], unit((1,), (0, 1)))
    assert store.count() == 0
    store.close()


def test_another_dimension_is_refused_on_opening(place, make_chunk, unit):
    store = place.open()
    store.upsert([make_chunk("a")], unit((1,)))
    store.close()
    with pytest.raises(StoreError, match="vectors of 4 numbers"):
        place.open(dimension=3)
    store = place.open()
    assert store.count() == 1
    store.close()


def test_inputs_are_not_changed_nor_kept(place, make_chunk, unit):
    chunks = [make_chunk("a", metadata={"tags": ["x"]}), make_chunk("b")]
    vectors = unit((1, 2), (0, 1))
    ids = ["b"]
    query = unit((1,))[0]
    where = [parse_condition("tags:x")]
    before = copy.deepcopy((chunks, vectors.tolist(), ids, query.tolist(), where))
    store = place.open()
    store.upsert(chunks, vectors)
    store.search(query, limit=3, where=where)
    store.delete(ids)
    assert before == (chunks, vectors.tolist(), ids, query.tolist(), where)
    kept = vectors[0].tolist()
    vectors[:] = 9
    chunks[0].metadata["tags"].append("y")
    assert [({"tags": ["x"]}, kept)] == [(dict(c.metadata), v) for c, v in everything(store)]
    store.close()


def test_read_only_and_strided_vectors_are_taken(place, make_chunk, unit):
    wide = np.repeat(unit((1, 2), (3, 4)), 2, axis=1)[:, ::2]
    wide.flags.writeable = False
    store = place.open()
    store.upsert([make_chunk("a"), make_chunk("b")], wide)
    assert wide.tolist() == [vector for _, vector in everything(store)]
    store.close()


FILTERED = {
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

CONDITIONS = [
    "title=it's",
    'title=say "hi"',
    "title=C:\\dir\\",
    "title=100%",
    "title=a_b",
    "title:_",
    "title:%",
    "title=gr\u00f6\u00dfe \u65e5\u672c",
    "title:\u65e5",
    "title=\U0001f9f5",
    "\u043a\u043b\u044e\u0447=x",
    "title=' OR 1=1 --",
    'title=" or id != "',
    'title=x" or id != "',
    "title=x'); DROP TABLE chunks; --",
    "title=\\",
    "title!=old",
    "path under notes",
    "path:notes/",
    "path under ./notes/sub",
    "path under notes/a_b.md",
    'path under notes/"x".md',
    "path under notes\\back.md",
    "path under \u65e5\u672c",
    "path under not",
    "path under .",
    "path=notes",
    "path=notes/100%.md",
    "path=notes/it's.md",
    "path!=notes",
    "path>n/",
    "n=3",
    "n=3.0",
    "n=true",
    "n=null",
    "n!=3",
    "n:3",
    "n>2",
    "n<=3",
    "n>=1e20",
    f"n={2**70}",
    "version=1.10",
    "version>1.5",
    "date>=2024-06-01",
    "date<2025",
    "tags:logging",
    "tags:a%",
    "tags=logging",
    "a.b=1",
    "owner.team=core",
    "owner=core",
    "missing=x",
    "missing!=x",
    "missing:x",
]

TYPED = [
    Condition(field="n", operator="=", value=3),
    Condition(field="n", operator="=", value=True),
    Condition(field="n", operator="=", value=None),
    Condition(field="n", operator="!=", value=None),
    Condition(field="n", operator="=", value=2.5),
    Condition(field="n", operator=":", value=2),
    Condition(field="n", operator=">", value=2.4),
    Condition(field="path", operator=":", value="/"),
    Condition(field="path", operator="=", value=3),
    Condition(field="n", operator="under", value="3"),
]


@pytest.fixture
def filtered(place, make_chunk, unit):
    store = place.open()
    rows = sorted(FILTERED.items())
    angles = np.linspace(0, 1, len(rows))
    store.upsert(
        [make_chunk(name, uri=uri, metadata=metadata) for name, (uri, metadata) in rows],
        unit(*[(np.cos(angle), np.sin(angle)) for angle in angles]),
    )
    yield store
    store.close()


def test_filters_mean_what_ragloom_filters_says(filtered, unit):
    single: Sequence[Condition] = [*map(parse_condition, CONDITIONS), *TYPED]
    pairs = [[a, b] for a, b in zip(single, single[5:], strict=False)]
    for where in [[one] for one in single] + pairs:
        expected = [
            name
            for name, (uri, metadata) in sorted(FILTERED.items())
            if matches(uri, metadata, where)
        ]
        assert expected == names(filtered, unit((1,))[0], 100, *where), where


def test_a_folder_does_not_match_its_neighbour_with_the_same_beginning(filtered, unit):
    found = names(filtered, unit((1,))[0], 100, parse_condition("path under notes"))
    assert {"quote", "double", "percent", "under", "letter", "deep", "file"} == set(found)


def test_limits_count_what_passes_the_filter(filtered, unit):
    where = parse_condition("title!=old")
    assert ["bare", "dated"] == names(filtered, unit((1,))[0], 2, where)
    assert ["true"] == names(filtered, unit((1,))[0], 2, parse_condition("n=true"))


def test_a_filter_that_almost_nothing_passes_is_answered_in_full(place, make_chunk, unit):
    store = place.open()
    count = 400
    chunks = [
        make_chunk(f"{row:04d}", metadata={"k": "it's" if row % 100 == 99 else "no"})
        for row in range(count)
    ]
    store.upsert(chunks, unit(*[(1, row / count) for row in range(count)]))
    found = names(store, unit((1,))[0], 3, parse_condition("k=it's"))
    assert ["0099", "0199", "0299"] == found
    store.close()


def test_closing_twice_and_using_a_closed_store(place, make_chunk, unit):
    store = place.make()
    store.close()
    for call in (
        store.count,
        store.drop,
        lambda: store.delete(["a"]),
        lambda: list(store.scan()),
        lambda: store.upsert([make_chunk("a")], unit((1,))),
        lambda: store.search(unit((1,))[0], limit=1),
    ):
        with pytest.raises(StoreError, match="not open"):
            call()
    store.open(space=place.space, dimension=4, directory=place.directory)
    store.close()
    store.close()


def test_reopened_it_is_the_same(place, make_chunk, unit):
    store = place.open()
    store.upsert([make_chunk("a", metadata=METADATA), make_chunk("b")], unit((1,), (0, 1)))
    store.delete(["b"])
    before = everything(store)
    store.close()
    store = place.open()
    assert before == everything(store)
    store.delete(["a"])
    store.close()
    store = place.open()
    assert store.count() == 0
    store.close()


READER = """
import sys
from pathlib import Path
import numpy as np
store = {call}
store.open(space={space!r}, dimension=4, directory=Path({directory!r}))
[(chunks, vectors)] = store.scan()
assert store.count() == 2
print(ascii([(chunk.id, chunk.text, dict(chunk.metadata)) for chunk in chunks]), vectors.tolist())
store.delete(["a"])
store.close()
"""


def test_a_second_process_sees_it_and_is_seen(place, make_chunk, unit):
    if not place.persistent:
        pytest.skip("kept in the memory of one process")
    store = place.open()
    vectors = unit((1,), (0.5, 1))
    store.upsert([make_chunk("a", metadata=METADATA), make_chunk("b", text="\u00fc")], vectors)
    store.close()
    code = READER.format(call=place.call, space=place.space, directory=str(place.directory))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = [("a", "some text", METADATA), ("b", "\u00fc", {})]
    assert f"{rows!a} {vectors.tolist()}\n" == done.stdout
    store = place.open()
    assert ["b"] == [chunk.id for chunk, _ in everything(store)]
    store.close()


def test_spaces_do_not_see_each_other_and_dropping_one_leaves_the_other(place, make_chunk, unit):
    other = f"{place.space}!"
    store = place.open()
    store.upsert([make_chunk("a", text="first")], unit((1,)))
    store.close()
    store = place.open(space=other)
    store.upsert([make_chunk("a", text="second"), make_chunk("b")], unit((1,), (0, 1)))
    assert store.count() == 2
    assert ["second", "some text"] == [chunk.text for chunk, _ in everything(store)]
    store.drop()
    assert store.count() == 0
    store.upsert([make_chunk("c")], unit((1,)))
    assert ["c"] == names(store, unit((1,))[0])
    store.drop()
    store.close()
    store = place.open()
    assert ["first"] == [chunk.text for chunk, _ in everything(store)]
    store.close()


def test_fingerprints_are_the_same_for_the_same_place(place):
    assert place.make().fingerprint == place.make().fingerprint
    assert place.make().fingerprint

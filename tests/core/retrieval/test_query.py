"""A query is checked when it is made, and travels whole."""

from __future__ import annotations

import dataclasses

import pytest

from ragloom import Condition, ConfigError, Query, SpaceGroup


@pytest.fixture
def space(files, make_space):
    for number in range(4):
        (files / f"{number}.md").write_text(
            f"# Page {number}\n\nAlpha and number {number}.\n", "utf-8"
        )
    (files / "docs").mkdir()
    (files / "docs" / "a.md").write_text("# Docs\n\nAlpha of the docs.\n", "utf-8")
    made = make_space(min_relevance=0.0)
    made.index()
    return made


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"mode": "bm25"}, "mode: unknown mode 'bm25' (available: hybrid, rrf, dense, lexical)"),
        ({"mode": "lexicl"}, "mode: unknown mode 'lexicl'; did you mean 'lexical'?"),
        ({"top_k": -3}, "top_k: expected a whole number from 0, found -3"),
        ({"top_k": 2.5}, "top_k: expected a whole number from 0, found 2.5"),
        ({"top_k": True}, "top_k: expected a whole number from 0, found True"),
        ({"min_relevance": 1.1}, "min_relevance: expected a number from 0 to 1, found 1.1"),
        ({"min_relevance": "0.5"}, "min_relevance: expected a number from 0 to 1, found '0.5'"),
        ({"where": ["path"]}, "cannot read the condition 'path'"),
        ({"where": [Condition(field="a", operator="~", value="b")]}, "unknown operator '~'"),
    ],
)
@pytest.mark.parametrize("call", ["search", "context"])
def test_what_is_wrong_is_an_error_wherever_it_is_asked(space, call, wrong, told):
    with pytest.raises(ConfigError) as caught:
        getattr(space, call)("alpha", **wrong)
    assert told in str(caught.value)
    with pytest.raises(ConfigError):
        Query("alpha", **wrong)


@pytest.mark.parametrize(
    ("text", "told"), [(7, "expected text"), ("a\ud800", "half of a character")]
)
def test_a_query_is_text(text, told):
    with pytest.raises(ConfigError, match=told):
        Query(text)


def test_no_hits_are_none(space):
    assert () == space.search("alpha", top_k=0).hits
    assert ((), "") == (space.context("alpha", top_k=0).hits, space.context("alpha", top_k=0).text)
    assert [] == space.explain(Query("alpha", top_k=0)).hits


@pytest.mark.parametrize("where", [["path under docs"], "path under docs", ("path:docs",)])
def test_conditions_are_written_as_on_the_command_line(space, where):
    hits = space.search("alpha", where=where).hits
    assert ["docs/a.md"] == [hit.chunk.uri for hit in hits]
    assert hits == space.search(Query("alpha", where=where)).hits


def test_a_whole_query_leaves_nothing_to_say_beside_it(space):
    query = Query("alpha", top_k=2, mode="lexical")
    assert 2 == len(space.search(query).hits)
    assert space.search(query) == SpaceGroup([space]).search(query)
    with pytest.raises(ConfigError, match="a Query says everything"):
        space.search(query, top_k=3)
    with pytest.raises(dataclasses.FrozenInstanceError):
        query.top_k = 3


def test_what_a_query_leaves_open_the_settings_decide(make_space, space):
    few = make_space(top_k=1, mode="lexical", min_relevance=0.0)
    (hit,) = few.search("alpha").hits
    assert hit.cosine is None
    assert 3 == len(few.search("alpha", top_k=3).hits)


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
def test_search_and_explain_never_disagree_on_a_file_that_changed(space, files, mode):
    query = Query("alpha number", top_k=2, mode=mode)
    first = space.search(query).hits[0].chunk.uri
    (files / first).write_text("# Nothing\n\nOf the kind.\n", "utf-8")

    found = space.search(query)
    told = space.explain(query)

    verdicts = {item.hit.chunk.uri: item.verdict for item in told.hits}
    assert "omitted: its file changed after indexing" == verdicts[first]
    shown = [item.hit for item in told.hits if item.verdict == "shown"]
    assert list(found.hits) == shown
    assert 2 == len(shown)  # the next good one takes the place of what is omitted
    assert "1 hit omitted: its file changed after indexing; run 'ragloom index'" == found.reason


def test_a_moved_passage_is_shown_where_it_stands_now_in_both(space, files):
    (files / "docs" / "a.md").write_text("# New\n\n# Docs\n\nAlpha of the docs.\n", "utf-8")
    query = Query("alpha of the docs", where=["path under docs"])
    (hit,) = space.search(query).hits
    assert (3, [hit]) == (hit.chunk.lines.start, [item.hit for item in space.explain(query).hits])


def test_nothing_relevant_names_the_closest(space):
    found = space.search("alpha", min_relevance=1.0)
    assert found.closest is not None
    place = f"{found.closest.chunk.uri}:{found.closest.chunk.lines.start}"
    assert f"no relevant match (best {found.closest.relevance:.2f}, minimum 1.00)" in found.reason
    assert f"closest: {place}" in found.reason

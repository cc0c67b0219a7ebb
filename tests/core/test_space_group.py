"""Several spaces, asked as one."""

from __future__ import annotations

import json

import pytest

from ragloom import NotIndexedError, SearchResult, SpaceGroup
from ragloom.space_group import merged
from ragloom.testing.samples import chunk
from ragloom.types import Hit

PAGES = {
    "a/logs.md": "# Logs\n\nErrors are logged with their stack.\n",
    "a/trace.md": "# Traces\n\nA trace has spans of errors.\n",
    "b/review.md": "# Reviews\n\nA reviewer reads how errors are logged.\n",
}


@pytest.fixture
def spaces(make_space, files):
    """``a`` and ``b``, indexed, and ``all`` over both."""
    for path, text in PAGES.items():
        (files / path).parent.mkdir(exist_ok=True)
        (files / path).write_text(text)

    def named(name, *sources):
        made = make_space(name=name, sources=sources, min_relevance=0.0)
        made.index()
        return made

    return {"a": named("a", "a"), "b": named("b", "b"), "all": named("all", ".")}


def paths(result):
    return [hit.chunk.uri for hit in result.hits]


def hit(name, relevance, score=0.5):
    return Hit(chunk=chunk(name, text=name), score=score, relevance=relevance)


def test_the_hits_of_all_spaces_are_in_the_order_of_one_scale(spaces):
    result = SpaceGroup([spaces["a"], spaces["b"]]).search("how errors are logged", top_k=10)
    assert set(PAGES) == set(paths(result))
    scores = [hit.score for hit in result.hits]
    assert sorted(scores, reverse=True) == scores
    whole = spaces["all"].search("how errors are logged", top_k=10)
    assert paths(whole) == paths(result)
    assert ("a, b", "", 1) == (result.space, result.reason, result.generation)
    first = SpaceGroup([spaces["a"], spaces["b"]]).search("how errors are logged", top_k=1)
    assert result.hits[:1] == first.hits


def test_what_several_spaces_hold_is_there_once(spaces):
    result = SpaceGroup([spaces["all"], spaces["a"]]).search("errors", top_k=10)
    assert sorted(PAGES) == sorted(paths(result))


def test_a_space_alone_answers_as_it_does_itself(spaces):
    assert spaces["a"].search("errors") == SpaceGroup([spaces["a"]]).search("errors")


def test_a_word_that_one_of_the_spaces_holds_is_corrected_in_none(make_space, files):
    for path, text in {
        "a/lamps.md": "A flicker of lamps.",
        "b/stones.md": "Flinker stones.",
    }.items():
        (files / path).parent.mkdir(exist_ok=True)
        (files / path).write_text(text)
    a, b = (make_space(name=name, sources=(name,), mode="lexical") for name in "ab")
    a.index()
    b.index()
    assert "flicker" in a.search("flinker").searched_for
    result = SpaceGroup([a, b]).search("flinker")
    assert ["b/stones.md"] == paths(result)
    assert "" == result.searched_for


def test_the_settings_of_the_most_generous_decide_how_many(spaces, make_space):
    few = make_space(name="b", sources=("b",), min_relevance=0.0, top_k=1)
    assert 3 == len(SpaceGroup([spaces["a"], few]).search("errors").hits)


def test_reranked_hits_are_in_the_order_of_the_reranker():
    results = [
        SearchResult(query="q", space="a", hits=(hit("x", 0.5, 1.2), hit("y", 0.9, 1.1))),
        SearchResult(query="q", space="b", hits=(hit("z", 0.4, 1.3),)),
    ]
    assert ["z", "x", "y"] == [one.chunk.id for one in merged(results, 5).hits]
    mixed = [results[0], SearchResult(query="q", space="b", hits=(hit("z", 0.6, 0.9),))]
    assert ["y", "z", "x"] == [one.chunk.id for one in merged(mixed, 5).hits]


def test_reasons_name_their_space_and_those_of_spaces_without_hits_are_left_out():
    nothing = SearchResult(query="q", space="a", reason="no relevant match")
    other = SearchResult(query="q", space="b", reason="the index is empty")
    said = "a: no relevant match; b: the index is empty"
    assert ((), said) == (merged([nothing, other], 5).hits, merged([nothing, other], 5).reason)
    some = SearchResult(query="q", space="c", hits=(hit("x", 0.5),), reason="one hit is omitted")
    assert "c: one hit is omitted" == merged([nothing, some], 5).reason


def test_a_space_without_an_index_is_told_and_keeps_no_other_from_answering(spaces, make_space):
    empty = make_space(name="empty", sources=("a",))
    told = "nothing is indexed in 'empty' (available: a, all, b)"
    result = SpaceGroup([empty, spaces["b"]]).search("errors")
    assert (["b/review.md"], told) == (paths(result), result.reason)
    assert "errors" in SpaceGroup([empty, spaces["b"]]).context("errors").text
    with pytest.raises(NotIndexedError, match="'empty'"):
        SpaceGroup([empty]).search("errors")


@pytest.mark.parametrize("strategy", ["relevance", "recency", "diversity"])
def test_a_context_is_packed_from_all_of_them(spaces, strategy):
    packed = SpaceGroup([spaces["a"], spaces["b"]]).context("errors", strategy=strategy, top_k=10)
    assert set(PAGES) == {citation.path for citation in packed.citations}
    whole = spaces["all"].context("errors", strategy=strategy, top_k=10)
    assert whole.tokens == packed.tokens


def test_the_audit_log_has_one_line_for_a_question(spaces, files):
    (files / "ragloom.yaml").write_text("audit: {enabled: true}\n")
    SpaceGroup([spaces["a"], spaces["b"]]).search("errors")
    log = files / ".ragloom" / "audit.jsonl"
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    (line,) = [line for line in lines if line["operation"] == "search"]
    assert ("search", "a, b", "errors") == (line["operation"], line["space"], line["query"])


def test_spaces_of_one_model_share_it(spaces):
    one, other = spaces["a"], spaces["b"]
    SpaceGroup([one, other])
    assert one.embedder is other.embedder


def test_groups_of_the_same_spaces_answer_in_any_order(spaces):
    a, b, whole = spaces["a"], spaces["b"], spaces["all"]
    for order in ([a, b], [b, a], [whole, a], [b, whole, a], [a, whole]):
        group = SpaceGroup(order)
        assert group.search("how errors are logged", top_k=10).hits
        assert group.context("how errors are logged").citations
    SpaceGroup([a, b])
    assert a.embedder is b.embedder

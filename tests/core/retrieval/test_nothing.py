"""A query that asks for nothing is told so, and how its words are searched all the same."""

from __future__ import annotations

import pytest


@pytest.fixture
def search(make_space, files):
    (files / "bands.md").write_text("# Bands\n\nThe Who recorded Tommy in 1969.\n", "utf-8")
    (files / "hafen.md").write_text(
        "# Hafen\n\nDer Hafen schließt im Winter, und die Boote liegen an Land.\n", "utf-8"
    )
    (files / "zh.md").write_text("# 备份\n\n数据库每天凌晨两点自动备份。\n", "utf-8")
    space = make_space()
    space.index()
    return space.search


@pytest.mark.parametrize("query", ["the", "who", "who is that", "what is this", "wann", "什么时候"])
def test_of_stop_words_alone_it_is_said_that_quotation_marks_search_them(search, query):
    result = search(query)
    assert () == result.hits
    assert None is result.closest
    assert (
        f"the query has stop words only; in quotation marks they are searched: '\"{query}\"'"
        == result.reason
    )


def test_in_quotation_marks_they_are_found(search):
    assert "bands.md" == search('"the who"').hits[0].chunk.uri


@pytest.mark.parametrize(
    "query", ["hello", "Thanks a lot!", "Danke!", "谢谢", "ありがとうございます"]
)
def test_small_talk_asks_for_nothing(search, query):
    assert "the query is small talk and asks for nothing" == search(query).reason


@pytest.mark.parametrize("query", ["?", "...", "-", '""'])
def test_marks_are_no_words(search, query):
    assert "the query has no word" == search(query).reason


@pytest.mark.parametrize("query", ["zanzibar", "the zanzibar", "this.that"])
def test_words_that_stand_nowhere_have_a_closest_passage(search, query):
    result = search(query)
    assert result.closest is not None
    assert result.reason.startswith("no relevant match")

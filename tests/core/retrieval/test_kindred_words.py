"""A question that names who does it finds the text that names what is done, and the other way round."""

from __future__ import annotations

import pytest

from ragloom.retrieval.kindred_words import by_kindred_word


@pytest.fixture
def snapshot(make_space, files):
    for name, text in {
        "a.md": "# Rules\n\nEvery module has an owner.\n",
        "b.md": "# Tasks\n\nA spinner takes the wool that the sender weighs.\n",
        "c.md": "# Money\n\nThey audit the budget.\n",
    }.items():
        (files / name).write_text(text, "utf-8")
    space = make_space()
    space.index()
    return space.snapshot()


@pytest.mark.parametrize(
    ("asked", "stands"),
    [
        ("owns", "owner"),
        ("owned", "owner"),
        ("spins", "spinner"),
        ("spinning", "spinner"),
        ("sends", "sender"),
        ("weigher", "weighs"),
        ("auditors", "audit"),
    ],
)
def test_a_verb_is_found_by_its_noun_and_a_noun_by_its_verb(snapshot, asked, stands):
    (word,) = snapshot.lexical.query_words(asked)
    (other,) = snapshot.lexical.query_words(stands)
    found = by_kindred_word(word, snapshot, 0.5)
    assert found.text == asked
    assert found.forms == other.forms
    assert found.weights == tuple((term, 0.5 * weight) for term, weight in other.weights)


@pytest.mark.parametrize(
    "asked", ["owner", "module", "paints", "OPS-4712", "was", "größer", "管理"]
)
def test_others_stay_as_they_are(snapshot, asked):
    (word, *_) = snapshot.lexical.query_words(asked)
    assert by_kindred_word(word, snapshot, 0.5) == word

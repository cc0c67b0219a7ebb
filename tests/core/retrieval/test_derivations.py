"""A word that no document holds is found by other forms of it that no stemmer brings together with it."""

from __future__ import annotations

import pytest

from ragloom.retrieval.derivations import derivations
from ragloom.snapshot.languages import ENGLISH, stemmer

PAIRS = [
    ("failures", "failed"), ("broken", "breaks"), ("recovery", "recovering"), ("deliveries", "delivered"),
    ("notifications", "notify"), ("verification", "verified"), ("permissions", "permitted"),
    ("decision", "decide"), ("description", "described"), ("comparison", "compared"),
    ("resolution", "resolves"), ("children", "child"), ("indices", "index"), ("written", "writes"),
    ("storage", "stores"), ("usage", "use"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_each_is_of_the_others_family(one, other):
    stem = stemmer(ENGLISH).analyze
    assert stem(other)[0] in {stem(word)[0] for word in derivations(one)}
    assert stem(one)[0] in {stem(word)[0] for word in derivations(other)}


@pytest.mark.parametrize("word", ["bread", "boundary", "session", "mission", "größe", "管理"])
def test_other_words_have_none(word):
    assert list(derivations(word)) == []


def test_a_form_that_no_document_holds_finds_the_others(find_in):
    search = find_in(
        {
            "one.md": "# Rules\n\nA job that failed is recovered, and we notify its owner.\n",
            "two.md": "# Bread\n\nOf flour and water, in comparison with milk.\n",
        }
    )
    for query in ("failures", "job recovery", "notifications"):
        assert search(query) == ["one.md"]
    assert search("compared milk") == ["two.md"]
    assert search("permissions") == []

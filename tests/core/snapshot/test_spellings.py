"""Words with punctuation, letter for letter: what the index keeps of them, and what a query may mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom.snapshot.spellings import alternatives, punctuated, punctuated_terms, spellings


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("5.15.5", {"5.15.5", "5.15*"}),
        ("v1.2.4", {"v1.2.4", "1.2.4", "v1.2*", "1.2*"}),
        ("--no-cache, -x", {"--no-cache", "-x"}),
        ("os.path.join()", {"os.path.join", "os.path*", "*path.join"}),
        ("std::io::Error", {"std::io::error", "std::io*", "*io::error"}),
        ("Q&A", {"q&a"}),
        ("docs/setup.md", {"docs/setup.md", "setup.md", "docs/setup*", "*setup.md"}),
        ("pip install requests@1.2", {"requests@1.2", "1.2", "requests@1*", "*1.2"}),
        ("A sentence. Another one: with a well-known dash - and more.", set()),
        ("- a list\n-- a dash", set()),
    ],
)
def test_terms(text, terms):
    assert terms == punctuated_terms(text)


@pytest.mark.parametrize(
    ("word", "held_by"),
    [
        ("v1.2.4", "since 1.2.4"),
        ("1.2.4", "since v1.2.4"),
        ("1.2", "since 1.2.4"),
        ("os.path", "os.path.join(a, b)"),
        ("path.join", "os.path.join(a, b)"),
        ("nginx.conf", "etc/nginx.conf.md"),
    ],
)
def test_what_a_query_means_stands_in_longer_names(word, held_by):
    means = [term for terms in alternatives(word) for term in terms]
    assert not punctuated_terms(held_by).isdisjoint(means)


@pytest.mark.parametrize(("word", "other"), [("15.5", "5.15.5"), ("1.2", "1.20"), ("1.2", "11.2")])
def test_another_version_is_no_part_of_one(word, other):
    means = [term for terms in alternatives(word) for term in terms]
    assert punctuated_terms(other).isdisjoint(means)


@given(st.text())
def test_every_punctuated_word_is_found_by_itself(text):
    terms = punctuated_terms(text)
    assert all(next(iter(alternatives(word)))[0] in terms for word in punctuated(text))


@given(st.text())
def test_no_term_has_a_blank(text):
    assert all(term.split() == [term] for term in (*punctuated_terms(text), *spellings(text)))

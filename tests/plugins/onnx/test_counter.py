"""Counting tokens: exactly what the tokenizer says, for every text."""

from __future__ import annotations

import string
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

import ragloom_onnx
from ragloom_onnx import counter as counter_module
from ragloom_onnx.counter import TokenizerCounter, UnitCounter, counter_for

TOKENIZER = Path(ragloom_onnx.__file__).parent / "model" / "tokenizer.json"

# What BERT's normaliser drops, replaces, splits at or joins.
ODD = (
    "\x00\x07\x0b\x0c\x1c\x1d\x1e\x1f\x7f\x85\xa0\xad\u0301\u0345\u200b\u200d\u2028\u2029\u202e\u3000"
    "\ufe0f\ufeff\ufffdİıſßΣςéÅ日本語カ가🚀👩ﬁ①٣"
)
WORDS = [
    "naïve",
    "Σίσυφος",
    "[SEP]",
    "[CLS]",
    "[sep]",
    "don't",
    "a_b",
    "x" * 101,
    "x" * 99,
    "日本",
    "##ing",
]


def texts():
    anything = st.text(alphabet=st.characters(exclude_categories=["Cs"]))
    odd = st.text(alphabet=st.sampled_from(ODD + string.ascii_letters + " \t\n\r.-_[]#"))
    words = st.lists(st.sampled_from([*WORDS, " ", "\n", "\x0c", "\u2028", "plain", "-"])).map(
        "".join
    )
    return st.one_of(anything, odd, words, st.tuples(anything, odd, words).map("".join))


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.from_file(str(TOKENIZER))


@pytest.fixture(scope="module")
def counter(tokenizer):
    return counter_for("all-MiniLM-L6-v2", tokenizer)


def exact(tokenizer, text):
    return len(tokenizer.encode(text, add_special_tokens=False).ids)


def test_the_bundled_tokenizer_gets_the_fast_counter(counter):
    assert type(counter) is UnitCounter
    assert counter.name == "all-MiniLM-L6-v2"


@given(texts())
@settings(max_examples=600, deadline=None)
def test_a_count_is_what_the_tokenizer_says(counter, tokenizer, text):
    assert counter.count(text) == exact(tokenizer, text)
    assert counter.count(text) == len(counter.spans(text))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=4))
@settings(max_examples=600, deadline=None)
def test_a_count_is_the_sum_over_what_stands_between_blanks(tokenizer, text):
    for blank in " \t\n\r":
        assert exact(tokenizer, f"a{text}{blank}{text}b") == exact(tokenizer, f"a{text}") + exact(
            tokenizer, f"{text}b"
        )


def test_every_character_counts_exactly(tokenizer, counter):
    # Beyond them come CJK and private use, of which a sample follows.
    codes = [*range(0x3400), *range(0x3400, 0xD800, 97), *range(0xE000, 0x20000, 31)]
    texts = [f"a{chr(code)}b {chr(code)} c{chr(code)}" for code in codes]
    wrong = [text for text in texts if counter.count(text) != exact(tokenizer, text)]
    assert wrong == []


@given(texts())
@settings(max_examples=200, deadline=None)
def test_spans_are_in_order_within_the_text(counter, text):
    spans = counter.spans(text)
    places = [0, *(place for span in spans for place in span), len(text)]
    assert places == sorted(places)


def test_spans_are_characters_of_the_text_as_it_was_given(counter):
    text = "Größe: 日本, tokenization"
    found = [text[start:end] for start, end in counter.spans(text)]
    assert found == ["Gr", "ö", "ße", ":", "日", "本", ",", "token", "ization"]


def test_a_character_of_several_tokens_belongs_to_the_last(counter):
    spans = list(counter.spans("a 한 b"))
    assert spans[0] == (0, 1)
    assert set(spans[1:-2]) == {(2, 2)}
    assert spans[-2:] == [(2, 3), (4, 5)]
    assert len(spans) == counter.count("a 한 b") > 3


def test_lone_surrogates_are_counted_and_keep_their_place(counter):
    assert counter.count("a \ud800 b\udfff") == 4
    assert list(counter.spans("a \ud800 b")) == [(0, 1), (2, 3), (4, 5)]


def test_counts_stay_right_when_what_is_remembered_is_forgotten(tokenizer, monkeypatch):
    monkeypatch.setattr(counter_module, "_REMEMBERED", 10)
    counter = counter_for("small", tokenizer)
    for start in range(0, 60, 5):
        text = " ".join(f"word{number}, again" for number in range(start, start + 9))
        assert counter.count(text) == exact(tokenizer, text)
        assert counter.count(text + " new") == exact(tokenizer, text + " new")


def test_a_tokenizer_of_another_kind_is_asked_itself():
    other = Tokenizer(models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))  # noqa: S106
    other.pre_tokenizer = pre_tokenizers.Whitespace()
    counter = counter_for("other", other)
    assert type(counter) is TokenizerCounter
    assert counter.count("a b c") == 3
    assert list(counter.spans("a b")) == [(0, 1), (2, 3)]


def test_an_added_token_that_contains_a_blank_rules_the_fast_way_out():
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.add_tokens([AddedToken("New York", normalized=False)])
    counter = counter_for("added", tokenizer)
    assert counter.count("in New York now") == 3
    assert counter.count("in New York now") == exact(tokenizer, "in New York now")


def test_an_added_token_within_a_word_is_found():
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    tokenizer.add_tokens([AddedToken("@@x", normalized=False)])
    counter = counter_for("added", tokenizer)
    assert counter.count("mail@@xy a@b") == exact(tokenizer, "mail@@xy a@b")

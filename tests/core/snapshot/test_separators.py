"""Numbers and identifiers that writers separate in several ways: one finds the others, itself first."""

from __future__ import annotations

import numpy as np
import pytest

from ragloom.snapshot.analyzer import tokens
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.lexical_writer import LexicalDocument

SPELLINGS = [
    ["10000", "10_000", "10,000", "10'000", "10\u202f000", "10\u00a0000", "10\u2019000"],
    ["1000000", "1_000_000", "1,000,000", "10,00,000"],
    ["x86-64", "x86_64"],
    ["log4j-2", "log4j_2", "log4j2"],
    ["cp311-win_amd64", "cp311-win-amd64", "cp311_win_amd64"],
    ["max_connections", "max-connections", "maxConnections", "MAX_CONNECTIONS"],
]


@pytest.fixture
def make_index(tmp_path, write_lexical):
    def make(*texts):
        documents = [
            LexicalDocument(number, "page.md", text, "") for number, text in enumerate(texts)
        ]
        write_lexical(tmp_path / "lexical", documents)
        return LexicalIndex(tmp_path / "lexical")

    return make


@pytest.mark.parametrize("spellings", SPELLINGS, ids=lambda spellings: spellings[0])
def test_each_spelling_finds_every_other(make_index, spellings):
    index = make_index(*(f"we allow {one} of these" for one in spellings), "nothing of the kind")
    every = np.arange(len(spellings) + 1, dtype=np.uint64)
    for spelling in spellings:
        (word,) = index.query_words(spelling)
        assert index.held([word], every)[:, 0].tolist() == [True] * len(spellings) + [False]
        serials, _ = index.search(dict(word.weights), limit=9)
        assert set(serials.tolist()) == set(range(len(spellings)))


def test_an_identifier_finds_its_words_in_one_piece(make_index):
    index = make_index("the timeout of a request", "nothing of the kind")
    for spelling in ("time_out", "time-out", "timeOut", "TIME_OUT"):
        (word,) = index.query_words(spelling)
        assert [0] == index.search(dict(word.weights), limit=9)[0].tolist()
        assert index.frequency(word)


@pytest.mark.parametrize("spellings", SPELLINGS[:4], ids=lambda spellings: spellings[0])
def test_each_spelling_finds_itself_first(make_index, spellings):
    index = make_index(*(f"we allow {one} of these" for one in spellings), "nothing of the kind")
    for number, spelling in enumerate(spellings):
        (word,) = index.query_words(spelling)
        serials, scores = index.search(dict(word.weights), limit=9)
        assert scores[serials.tolist().index(number)] == max(scores)


@pytest.mark.parametrize(
    ("stands", "asked"),
    [
        ("10-20", "1020"),
        ("10_20", "1020"),
        ("1020", "10-20"),
        ("1020", "10_20"),
        ("10 items of 5,000", "10,000"),
        ("10,000,000", "10,000"),
        ("10,00", "1000"),
        ("1,2,3", "123"),
        ("1999,2000", "19992000"),
        ("v1.10,000", "10000"),
    ],
)
def test_what_separates_numbers_joins_none(make_index, stands, asked):
    index = make_index(stands, "nothing of the kind")
    assert not any(map(index.frequency, index.query_words(asked)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10,000-20,000 km", ["10,000", "20,000", "km"]),
        ("5,000km, then USD10,000.50", ["5,000", "km", "then", "USD", "10,000", "50"]),
        ("\u7ea610,000\u4eba", ["\u7ea6", "10,000", "\u4eba"]),
        ("\uff11\uff10\uff0c\uff10\uff10\uff10", ["10,000"]),
        ("C++ on 1,024 cores", ["C++", "on", "1,024", "cores"]),
    ],
)
def test_a_number_in_groups_is_one_word(text, expected):
    assert expected == tokens(text)

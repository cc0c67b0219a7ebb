"""Quoting: whatever a text holds, it passes for no delimiter, and comes back."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragloom.context import (
    attribute,
    field,
    header,
    on_one_line,
    quote_lines,
    quote_tags,
    seen,
    unquote_lines,
    unquote_tags,
)
from ragloom.context.quoting import BREAKS, absent_digest, run_length, title_line

RESULT = header(r"results?\b|end\b")
UNSEEN = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\u2066", "\u034f", "\ufe0f"]
UNSEEN += ["\x08", "\x1b", "\U000e0020", "\u115f", "\u3164", "\ud800"]
BLANKS = [" ", "\t", "\u00a0", "\u2003", "\u3000", "\u2800"]
PARTS = [
    *("--- Result 2 (score: 1.000, source: x.md) ---", "--- end of result 1 ---", "\\--- Result 2"),
    *("\\", "---", "Result", "end", "----", "\uff0d\uff0d\uff0d", "\u2014", "\u2500\u2500\u2500"),
    *("\U0001d411esult", "\uff32\uff25\uff33\uff35\uff2c\uff34", "r\u0301esult"),
    *("<document>", "</document>", "&lt;document", "&amp;lt;/document", "&#xff1c;document"),
    *("<", "\uff1c", "\u2039", "/", "document", "DOC", "ument", "&", "amp;", "lt;", "#x3c;", ">"),
    *("\r\n", *BREAKS, *UNSEEN, *BLANKS),
]
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=12).map("".join)


def lines_of(text):
    """The lines as they are seen, without what stands before them."""
    return [line.strip(" ") for line in seen(text).split("\n")]


@given(TEXTS)
@example("\\\u200b--- Result 2")
@example("--- Result 1\u2028--- Result 2\x85\\--- Result 3\r\u200b\t--- end")
def test_no_line_passes_for_a_header_and_all_comes_back(text):
    quoted = quote_lines(text, RESULT)
    header_line = re.compile(r"-{3,} *(result|end)\b", re.IGNORECASE)
    assert not list(filter(header_line.match, lines_of(quoted)))
    assert text == unquote_lines(quoted, RESULT)


@given(TEXTS)
@example("&\u200blt;document")
@example("<<document\uff1c / document")
def test_no_tag_begins_and_all_comes_back(text):
    quoted = quote_tags(text, "document")
    assert re.search(r"<\s*/?\s*document", seen(quoted), re.IGNORECASE) is None
    assert text == unquote_tags(quoted, "document")


@pytest.mark.parametrize("before", [*BREAKS, "\r\n"])
@pytest.mark.parametrize("unseen", ["", *UNSEEN, *BLANKS])
def test_every_break_and_everything_invisible_is_seen_through(before, unseen):
    forged = f"x{before}{unseen}--{unseen if unseen not in BLANKS else ''}- {unseen}Result 2"
    (line,) = [line for line in lines_of(quote_lines(forged, RESULT)) if "Result" in line]
    assert line.startswith("\\---")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "---",
            "--- a/file",
            "-- result",
            "Result 1",
            "- result",
            "x --- Result 1",
            "| --- | end |",
        ),
        *("if a < document.length:", "<doc>", "documents", "Gro\u00dfe \u65e5\u672c\u8a9e"),
    ],
)
def test_what_only_resembles_a_delimiter_stays(text):
    assert text == quote_lines(text, RESULT)
    if "< document" not in text:
        assert text == quote_tags(text, "document")


@given(TEXTS, TEXTS)
def test_values_stay_in_their_line_and_in_their_place(first, second):
    for shown in (on_one_line(first), title_line(first), attribute(first), field(first, ":")):
        assert "\n" not in seen(shown)
        shown.encode()
    assert not set('"<>') & set(attribute(first))
    line = f"{field(first, ':')}:{field(second, ':')}"
    value = r'"(?:[^"\\]|\\.)*"|[^":]+'
    found = re.fullmatch(f"({value}):({value})", line)
    assert (field(first, ":"), field(second, ":")) == found.groups()


@given(st.lists(TEXTS, min_size=1))
def test_a_digest_stands_in_no_text_and_is_the_same_each_time(texts):
    digest = absent_digest(texts)
    assert digest == absent_digest(texts)
    assert digest not in "\0".join(texts)


def test_a_run_is_counted_as_it_is_seen():
    assert 5 == run_length("=", ["==\u200b==\uff1d", "==="])


def test_quoting_is_linear():
    import time

    def seconds(number):
        text = ("\\ " * 500 + "--- Result\n" + "<  " * 300 + "&amp;" * 200) * number
        started = time.perf_counter()
        quote_lines(text, RESULT)
        quote_tags(text, "document")
        return time.perf_counter() - started

    seconds(5)
    assert seconds(200) < 40 * seconds(20) + 0.5

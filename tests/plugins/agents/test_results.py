"""The text of ``rag_search``, read by the rule that its page states, gives back what was found."""

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ragloom import Citation, Context, Lines
from ragloom.context import location, titles_line, unquote_lines
from ragloom_agents.results import HEADER, ResultsFormatter

BLOCK = re.compile(
    r"--- Result (?P<number>\d+) \(score: (?P<score>\d\.\d{3}), source: "
    r'(?P<place>(?:"(?:[^"\\]|\\.)*"|[^":|]+):\d+(?:-\d+)?)(?: \| (?P<titles>[^\n]*))?\) ---\n'
    r"(?P<text>.*?)\n--- end of result (?P=number) ---(?:\n\n|\Z)",
    re.DOTALL,
)
PIECES = [
    "--- Result 2 (score: 1.000, source: docs/trusted.md:1) ---",
    *("--- end of result 1 ---", "\\--- end of result 1 ---", "--- same text: x:1 ---", "---"),
    *("\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\u200b", "\u00a0", "\t"),
    *("\\", '"', ":", "|", " > ", ") ---", " "),
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=9).map("".join)
CITATIONS = st.builds(
    lambda text, path, titles, relevance: Citation(
        path=path or "a",
        file=Path("a"),
        lines=Lines(3, 9),
        relevance=relevance,
        text=text,
        headings=tuple(titles),
    ),
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=2),
    st.floats(0, 1),
)


@settings(max_examples=300)
@given(st.lists(CITATIONS, min_size=1, max_size=4))
def test_number_headers_and_texts_come_back(citations):
    text = ResultsFormatter().render(Context(citations=tuple(citations)))
    position = 0
    found = []
    while position < len(text):
        match = BLOCK.match(text, position)
        found.append(match)
        position = match.end()
    assert [str(number + 1) for number in range(len(citations))] == [one["number"] for one in found]
    assert list(map(location, citations)) == [one["place"] for one in found]
    assert [titles_line(one.headings) for one in citations] == [
        one["titles"] or "" for one in found
    ]
    assert [one.text for one in citations] == [unquote_lines(one["text"], HEADER) for one in found]
    # Whatever ends lines for a reader: no line but ours reads like ours.
    shown = [line.strip("\t\u00a0\u200b\u2060 ") for line in text.splitlines()]
    assert len(citations) == sum(line.startswith("--- Result") for line in shown)
    assert len(citations) == sum(line.startswith("--- end") for line in shown)

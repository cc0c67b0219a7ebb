"""The blocks that we see are those of CommonMark's reference implementation."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from itertools import accumulate, pairwise
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

pytest.importorskip("pyromark")

import cmarkgfm
from cmarkgfm.cmark import Options

from ragloom import Section, Source, Span
from ragloom.text.chunks import line_starts
from ragloom_markdown.blocks import children, parse
from ragloom_markdown.loader import MarkdownLoader
from ragloom_markdown.other import parse_plain

DATA = Path(__file__).parents[2] / "data/cases"
CASES = [
    json.loads(line)
    for name in ("headings.jsonl", "more_headings.jsonl")
    for line in (DATA / name).open(encoding="utf-8")
]
MARKDOWN = st.lists(
    st.sampled_from(
        [
            *("# ", "## ", "#", "####### ", "\n", "\n\n", "\r\n", "\r", " ", "    ", "\t", "  "),
            *(
                "```",
                "~~~~",
                "````md",
                "`",
                "---",
                "===",
                "- ",
                "* ",
                "+ ",
                "1. ",
                "12) ",
                "> ",
                ">",
            ),
            *(
                "<div>",
                "</div>",
                "<!--",
                "-->",
                "<script>",
                "</script>",
                "<a>",
                "[foo]: /u",
                "[foo]: javascript:x",
                "[b]: <%20>",
                "[",
                "]",
            ),
            *(
                '"t"',
                "text",
                "|",
                "| - |",
                "a | b",
                "\\",
                "***",
                "_ _ _",
                "中",
                "\0",
                "\f",
                "\u2028",
            ),
        ]
    ),
    max_size=30,
).map("".join)


class Cmark(HTMLParser):
    """The outermost blocks that the reference implementation sees: kind, first line from 1, and text."""

    KINDS: ClassVar = {
        "p": "paragraph",
        "ul": "list",
        "ol": "list",
        "blockquote": "quote",
        "pre": "fence",
    }
    KINDS |= {"hr": "rule", **{f"h{level}": f"heading {level}" for level in range(1, 7)}}

    def __init__(self, text: str) -> None:
        super().__init__()
        self.blocks: list[tuple[str, int, str]] = []
        self._depth = 0
        self.feed(cmarkgfm.markdown_to_html(text, Options.CMARK_OPT_SOURCEPOS))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        place = dict(attributes).get("data-sourcepos")
        if not self._depth and place:
            self.blocks.append((self.KINDS[tag], int(place.partition(":")[0]), ""))
        self._depth += tag not in {"hr", "br", "img"}

    def handle_endtag(self, tag: str) -> None:
        self._depth -= tag not in {"hr", "br", "img"}

    def handle_data(self, data: str) -> None:
        if self._depth:
            kind, line, text = self.blocks[-1]
            self.blocks[-1] = (kind, line, text + data)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, object]) -> None:
    content = str(case["text"]).encode()
    document = MarkdownLoader().load(Source(uri="a.md", path=Path("a.md")), content)
    starts = line_starts(document.prefix + document.text)
    sections = [
        {
            "title": block.title,
            "level": block.level,
            "line": starts.index(len(document.prefix) + block.start) + 1,
        }
        for block in parse(document.text).blocks
        if block.kind == "heading"
    ]
    assert case["sections"] == sections


@given(MARKDOWN)
def test_blocks_are_those_of_the_reference_implementation(text: str) -> None:
    # cmark counts the definitions of links above a paragraph as its lines, and may take a form feed
    # for a blank; pulldown-cmark may take a tab before a ">" for fewer than four columns.
    assume("]:" not in text and "\f" not in text and "\t>" not in text)
    starts = line_starts(text)
    named = [
        (f"heading {block.level}" if block.level else block.kind, block)
        for block in parse(text).blocks
        if block.kind not in {"definitions", "html"}  # neither has a place in cmark's HTML
    ]
    theirs = Cmark(text).blocks
    assert [(kind, line) for kind, line, _ in theirs] == [
        (kind, starts.index(block.start) + 1) for kind, block in named
    ]
    for (_, _, shown), (_, block) in zip(theirs, named, strict=True):
        if block.level and block.title.replace(" ", "").isalnum():
            assert " ".join(shown.split()) == block.title


@given(MARKDOWN)
def test_blocks_cover_all_that_is_not_blank(text: str) -> None:
    parsed = parse(text)
    lines = text.splitlines(keepends=True)
    ends = accumulate(map(len, lines))
    sections = [
        Section(span=Span(end - len(line), end), level=len(line), title=line)
        for end, line in zip(ends, lines, strict=True)
        if line.startswith("#")
    ]
    for blocks in (
        parsed.blocks,
        parse_plain(text, prose=True).blocks,
        parse_plain(text, sections, prose=True).blocks,
    ):
        position = 0
        for block in blocks:
            assert not text[position : block.start].strip()
            assert block.start <= block.own_end <= block.end
            position = block.end
        assert not text[position:].strip()
    for block in parsed.blocks:
        inner = children(parsed, block)
        if inner:
            assert (block.start, block.end) == (inner[0].start, inner[-1].end)
            assert all(one.end == two.start for one, two in pairwise(inner))


@pytest.mark.parametrize(
    "text",
    [
        "> " * 300 + "a",
        "- " * 300 + "a",
        "[" * 5000,
        "*" * 5000,
        "<" * 5000,
        "`" * 5000,
        "> a\n" * 3000,
    ],
)
def test_deep_and_long_input_ends(text: str) -> None:
    assert parse(f"{text}\n\n# H\n").blocks

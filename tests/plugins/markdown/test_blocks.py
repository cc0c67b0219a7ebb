"""The blocks that we see are those that markdown-it-py sees."""

from __future__ import annotations

import json
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("markdown_it")

from markdown_it import MarkdownIt

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
STOCK = MarkdownIt("commonmark", {"maxNesting": 100})


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
def test_blocks_agree_with_markdown_it(text: str) -> None:
    tokens = [token for token in STOCK.parse(text) if token.map is not None and token.level == 0]
    blocks = [block for block in parse(text).blocks if block.kind != "definitions"]
    starts = line_starts(text)
    expected = [(token.type.split("_")[0], starts[token.map[0]]) for token in tokens if token.map]
    names = {
        "bullet": "list",
        "ordered": "list",
        "blockquote": "quote",
        "hr": "rule",
        "code": "fence",
    }
    assert [(names.get(kind, kind), start) for kind, start in expected] == [
        (block.kind, block.start) for block in blocks
    ]
    headings = [
        (int(token.tag[1]), " ".join(inline.content.split()))
        for token, inline in zip(STOCK.parse(text), STOCK.parse(text)[1:], strict=False)
        if token.type == "heading_open" and token.level == 0
    ]
    assert headings == [(block.level, block.title) for block in blocks if block.kind == "heading"]


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

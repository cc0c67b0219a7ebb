"""The chunker ``heading``: where it cuts, and what is embedded above a chunk."""

from __future__ import annotations

import dataclasses

import pytest

pytest.importorskip("pyromark")

from ragloom import Chunk, ConfigError, Document, Section, Span
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import make_chunks
from ragloom_markdown.chunker import HeadingChunker

COUNTER = RegexCounter()


def cut(
    text: str, *, max_tokens: int = 256, levels: tuple[int, ...] = (1, 2), **more: object
) -> list[Chunk]:
    document = Document(uri="a.md", text=text, media_type="text/markdown")
    document = dataclasses.replace(document, **more)
    pieces = HeadingChunker(levels=levels).split(document, counter=COUNTER, max_tokens=max_tokens)
    chunks = make_chunks(document, pieces, COUNTER)
    assert all(chunk.tokens <= max_tokens for chunk in chunks)
    return chunks


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def test_one_chunk_a_section_with_its_path() -> None:
    chunks = cut("before\n\n# Guide\n\na\n\n## Errors\n\nb\n\n### Logging\n\nc\n\n## Other\n\nd\n")
    assert [
        "before",
        "# Guide\n\na",
        "## Errors\n\nb\n\n### Logging\n\nc",
        "## Other\n\nd",
    ] == texts(chunks)
    assert [(), ("Guide",), ("Guide", "Errors"), ("Guide", "Other")] == [c.headings for c in chunks]
    assert ["", "", "Guide", "Guide"] == [chunk.context for chunk in chunks]


def test_levels_say_where_a_section_begins() -> None:
    text = "# A\n\na\n\n## B\n\nb\n\n### C\n\nc\n"
    assert 1 == len(cut(text, levels=(1,)))
    three = cut(text, levels=(1, 2, 3))
    assert ("A", "B", "C") == three[-1].headings
    assert "A > B" == three[-1].context
    assert ("A", "B") == cut(text, levels=(2,))[-1].headings
    with pytest.raises(ConfigError, match="levels"):
        HeadingChunker(levels=(0, 7))


def test_an_empty_section_is_folded_into_its_child() -> None:
    chunks = cut("# A\n\n## B\n\n## C\n\ntext\n\n# D\n")
    assert ["# A\n\n## B", "## C\n\ntext", "# D"] == texts(chunks)
    assert [("A", "B"), ("A", "C"), ("D",)] == [chunk.headings for chunk in chunks]


def test_repeated_headings_are_told_apart() -> None:
    chunks = cut("# A\n\n## Notes\n\nsame\n\n# B\n\n## Notes\n\nsame\n")
    assert [("A", "Notes"), ("B", "Notes")] == [chunk.headings for chunk in chunks]
    assert 2 == len({chunk.id for chunk in chunks})


def test_the_title_of_the_front_matter_is_context_unless_the_first_heading_says_it() -> None:
    (chunk,) = cut("text\n", metadata={"title": "The  Title"})
    assert ("The Title", ()) == (chunk.context, chunk.headings)
    (chunk,) = cut("# The title\n\ntext\n", metadata={"title": "The Title"})
    assert "" == chunk.context
    chunks = cut("# Other\n\n## B\n\ntext\n\n## C\n\nd\n", metadata={"title": "The Title"})
    assert ["The Title", "The Title > Other"] == [chunk.context for chunk in chunks]


def test_a_long_section_is_cut_at_deeper_headings_first() -> None:
    part = "word " * 30
    chunks = cut(f"# A\n\n{part}\n\n### B\n\n{part}\n\n### C\n\n{part}\n", max_tokens=50)
    assert [("A",), ("A", "B"), ("A", "C")] == [chunk.headings for chunk in chunks]
    assert ["", "A", "A"] == [chunk.context for chunk in chunks]


def test_then_between_paragraphs_then_between_sentences() -> None:
    chunks = cut("# A\n\n" + "\n\n".join(f"{'word ' * 9}{n}." for n in range(8)), max_tokens=30)
    assert all(chunk.text.endswith(".") for chunk in chunks)
    assert ["A"] * (len(chunks) - 1) == [chunk.context for chunk in chunks[1:]]
    one = cut(
        " ".join(f"Sentence number {n} is here, e.g. this one." for n in range(40)), max_tokens=40
    )
    assert all(chunk.text.startswith("Sentence") and chunk.text.endswith(".") for chunk in one)


def test_a_fence_that_fits_is_never_cut() -> None:
    fence = "```py\n" + "x = 1\n\n" * 6 + "```"
    chunks = cut(f"# A\n\n{'word ' * 40}\n\n{fence}\n\n{'word ' * 40}\n", max_tokens=60)
    assert 1 == sum(fence in chunk.text for chunk in chunks)


def test_a_fence_in_a_list_is_not_cut_where_avoidable() -> None:
    item = "- item\n\n  ```\n  a b c\n\n  d e f\n  ```\n\n"
    chunks = cut(item * 12, max_tokens=40)
    assert all(chunk.text.count("```") % 2 == 0 for chunk in chunks)
    assert len(chunks) > 3


def test_rows_of_a_split_table_are_embedded_below_its_header() -> None:
    rows = "".join(f"| name {n} | value {n} |\n" for n in range(60))
    chunks = cut(
        f"# T\n\nIntro.\n\n| Name | Value |\n| --- | --- |\n{rows}\nAfter.\n", max_tokens=80
    )
    assert len(chunks) > 4
    for chunk in chunks[1:]:
        assert "T\n| Name | Value |" == chunk.context
        assert chunk.text.startswith("| name ")
    assert rows.strip() in "\n".join(texts(chunks))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 60_000,
        "word " * 12_000,
        "中文合約轉換體驗課問題" * 730,
        "```\n" + "x = 1  # some code\n" * 8_000 + "```\n",
        "# " + "long title " * 5_000 + "\n\ntext\n",
        "| a | b |\n| - | - |\n| " + "cell " * 5_000 + "| x |\n",
        "> " * 80 + "deep " * 2_000,
        "[a]: /url\n" * 3_000,
        "<div>\n" + "<p>html</p>\n" * 3_000 + "</div>\n",
    ],
    ids=["one word", "one line", "Han", "fence", "title", "cell", "quote", "definitions", "html"],
)
def test_whatever_is_too_long_is_split(text: str) -> None:
    chunks = cut(text)
    assert len(chunks) > 1
    assert max(len(chunk.text) for chunk in chunks) <= 16 * 256
    assert "".join(text.split()) == "".join("".join(texts(chunks)).split())


def test_other_texts_have_no_headings() -> None:
    (chunk,) = cut("import a\n# comment\nx = 1\n", media_type="text/x-python")
    assert () == chunk.headings


def section(text: str, title: str, level: int) -> Section:
    start = text.index(title)
    return Section(span=Span(start, start + len(title)), level=level, title=title)


@pytest.mark.parametrize("media_type", ["text/markdown", "text/x-rst", "application/x-mine"])
def test_sections_that_a_loader_hands_over_are_headings(media_type: str) -> None:
    text = "before\n\n*Top\n\na\n\n**One\n\nb\n\n# no heading\n\n*******Deep\n\nc\n"
    given = (section(text, "*Top", 1), section(text, "**One", 2), section(text, "*******Deep", 7))
    chunks = cut(text, media_type=media_type, sections=given)
    assert ["before", "*Top\n\na", text[text.index("**One") :].strip()] == texts(chunks)
    assert [(), ("*Top",), ("*Top", "**One")] == [chunk.headings for chunk in chunks]
    assert ["", "", "*Top"] == [chunk.context for chunk in chunks]
    deep = cut(text, media_type=media_type, sections=given, levels=(1, 2, 6))
    assert ("*Top", "**One", "*******Deep") == deep[-1].headings

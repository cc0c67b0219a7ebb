"""What Quarto, MDX, MyST and Obsidian add to CommonMark."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyromark")

from ragloom import Document, Source
from ragloom.testing.fakes import RegexCounter
from ragloom_markdown.chunker import HeadingChunker
from ragloom_markdown.flavours import linked_notes, plain_title
from ragloom_markdown.loader import MarkdownLoader


def load(text: str, name: str = "a.md") -> Document:
    return MarkdownLoader().load(Source(uri=name, path=Path(name)), text.encode())


def headings(text: str, name: str = "a.md") -> list[tuple[str, ...]]:
    chunker = HeadingChunker(levels=range(1, 7))
    pieces = chunker.split(load(text, name), counter=RegexCounter(), max_tokens=10_000)
    return [piece.headings for piece in pieces]


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Methods {#sec-methods .unnumbered}", "Methods"),
        ("Methods {-}", "Methods"),
        ("Wide {width=50%}", "Wide"),
        ("Headings {/* #my-id */}", "Headings"),
        ("Rails {: #id .class}", "Rails"),
        ("The {py:func}`open` of {ref}`this`", "The open of this"),
        ("See [[Harbour Rules|the rules]] and [[Tides]] ^abc-1", "See the rules and Tides"),
        ("A [span]{.smallcaps} and `x`{.py} here", "A span and `x` here"),
        ("A set {a, b} and `{x}`", "A set {a, b} and `{x}`"),
        ("{{title}}", "{{title}}"),
        ("2 ^ 3 and [a](b)", "2 ^ 3 and [a](b)"),
        ("{#only}", "{#only}"),
    ],
)
def test_titles_as_they_are_shown(written: str, plain: str) -> None:
    assert plain == plain_title(written)
    assert [(plain,)] == headings(f"# {written}\n\ntext\n")


def test_directives_and_their_headings_are_text_of_their_section() -> None:
    text = "(label)=\n# Top\n\n```{note} Title\n# no heading\n```\n\n## Next\n\n{ref}`label`\n"
    assert [("Top",), ("Top", "Next")] == headings(text)[-2:]


def test_callouts_are_part_of_their_section() -> None:
    text = "# Top\n\n> [!warning]- Watch out\n> # no heading\n> ![[Tides#^high]]\n\ntext ^abc\n"
    assert [("Top",)] == headings(text)


@pytest.mark.parametrize("name", ["a.qmd", "a.Rmd"])
def test_code_cells_hold_no_headings(name: str) -> None:
    text = "---\ntitle: T\n---\n\n# Data\n\n```{r, echo=FALSE}\n# a comment\n```\n\n## More {#m}\n\nx\n"
    assert [("Data",), ("Data", "More")] == headings(text, name)
    assert {"title": "T"} == load(text, name).metadata


def test_links_to_notes_are_metadata() -> None:
    text = "[[Tides|high]] ![[map.png]] [[Tides#Spring]] `[[no]]` [[#here]]\n\n```\n[[not]]\n```\n\n[[B]]\n"
    assert {"links": ["Tides", "map.png", "B"]} == load(text).metadata
    assert {"links": "mine"} == load(f"---\nlinks: mine\n---\n{text}").metadata
    assert [] == linked_notes("[[ ]] [[x\ny]]")
    assert 200 == len(linked_notes("".join(f"[[{number}]]" for number in range(300))))

"""Blocks of texts that are not Markdown, in which a ``#`` begins no heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ragloom.text import blank_line_starts, line_starts, tile
from ragloom_markdown.blocks import Block, Parsed

__all__ = ["parse_plain", "parse_rst"]

# https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#sections
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")


def parse_plain(text: str, *, prose: bool) -> Parsed:
    """What stands between blank lines: paragraphs, or else code, which is not cut in sentences."""
    kind = "paragraph" if prose else "fence"
    return Parsed((), [], list(_paragraphs(text, 0, len(text), kind)))


def parse_rst(text: str) -> Parsed:
    """Section titles and paragraphs of reStructuredText.

    A title stands above a line of one punctuation character that is as long, or between two; which
    character means which level follows from their order in the file.
    """
    starts = line_starts(text)
    edges = [*starts, len(text)]
    lines = [text[begin:end].rstrip() for begin, end in pairwise(edges)]
    styles: list[tuple[str, bool]] = []
    blocks: list[Block] = []
    position = 0
    for number, below in enumerate(lines):
        if not number or _ADORNMENT.fullmatch(below) is None:
            continue
        title = lines[number - 1]
        over = number > 1 and lines[number - 2] == below and not _blank_or_rule(title)
        before = lines[number - 3] if over and number > 2 else ""  # noqa: PLR2004 - an overline
        before = before if over else lines[number - 2] if number > 1 else ""
        if before or not _is_title(title, below, over=over):
            continue
        begin = starts[number - 1 - over]
        if begin < position:
            continue
        style = (below[0], over)
        if style not in styles:
            styles.append(style)
        end = edges[number + 1]
        blocks += _paragraphs(text, position, begin)
        level = min(styles.index(style) + 1, 6)
        title = " ".join(title.split())
        blocks.append(Block("heading", begin, end, end, level=level, title=title))
        position = end
    blocks += _paragraphs(text, position, len(text))
    return Parsed((), [], blocks)


def _blank_or_rule(line: str) -> bool:
    return not line or _ADORNMENT.fullmatch(line) is not None


def _is_title(title: str, below: str, *, over: bool) -> bool:
    if _blank_or_rule(title) or len(below) < len(title.strip()):
        return False
    return over or not title[0].isspace()


def _paragraphs(text: str, start: int, end: int, kind: str = "paragraph") -> Iterator[Block]:
    if text[start:end].strip():
        for span in tile(start, end, blank_line_starts(text, start, end)):
            yield Block(kind, span.start, span.end, span.end)

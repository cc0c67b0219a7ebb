"""The lines of a text with their places, for scanners of headings."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from ragloom.text import line_starts


class Line(NamedTuple):
    """A line without white space at its end.

    Attributes:
        text: Its text.
        start: Its offset in characters.
        end: Where the next line begins.
    """

    text: str
    start: int
    end: int


def lines_of(text: str) -> list[Line]:
    """All lines of a text."""
    edges = [*line_starts(text), len(text)]
    return [Line(text[start:end].rstrip(), start, end) for start, end in pairwise(edges)]

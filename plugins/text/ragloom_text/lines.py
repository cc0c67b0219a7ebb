"""What scanners of headings share: lines with their places, and titles without markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
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


def without_markup(title: str, markup: Iterable[tuple[re.Pattern[str], str]]) -> str:
    """A title on one line, with each pattern of ``markup`` in turn replaced by what it shows."""
    for pattern, shown in markup:
        title = pattern.sub(shown, title)
    return " ".join(title.split())

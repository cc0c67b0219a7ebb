"""Where a passage that exceeds the budget may end: after a sentence, or a line of a list, table or code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from ragloom.text.chunks import line_starts
from ragloom.text.sentences import sentence_starts

_STRUCTURED = re.compile(
    r"[ \t>]*(?:(?:[-+*•]|[\w#]{1,3}[.)])[ \t]|\||`{3}|~{3}|:\w+:)"
    r"|(?: {4}|\t)[ \t]*\S|[^\r\n|]*\|[^\r\n|]*\|"
)
"""A line of a list, a table or code."""
_FENCE = re.compile(r"[ \t>]*(?:```|~~~)")
_MARKS = ' \t\r\n#=*-_~`\'":.+^"<>'
_WORD = re.compile(r"\w")


def ends(text: str) -> Sequence[Sequence[int]]:
    """Offsets at which ``text`` may be truncated, ascending: the better ones, then any line's start.

    After a sentence; and before a line of a list, a table or a block of code, which sentences do not end.
    """
    lines = line_starts(text)
    edges = [0, *sentence_starts(text), len(text)]
    chosen = set(edges[1:-1])
    fenced = _fenced(text, lines)
    for start, end in pairwise(edges):
        inside = lines[bisect_right(lines, start) : bisect_right(lines, end - 1)]
        if any(line in fenced or _STRUCTURED.match(text, line) for line in inside):
            chosen.update(inside)
    return sorted(chosen), lines[1:]


def says_more(text: str, titles: Sequence[str]) -> bool:
    """Whether a passage holds more than the titles above it, and the line that opens its code."""
    known = {title.strip(_MARKS) for title in titles}
    return any(
        _WORD.search(line) and line.strip(_MARKS) not in known and not _FENCE.match(line)
        for line in text.splitlines()
    )


def _fenced(text: str, lines: Sequence[int]) -> set[int]:
    """The lines between fences, and the closing ones."""
    found: set[int] = set()
    inside = False
    for line in lines:
        if inside:
            found.add(line)
        if _FENCE.match(text, line):
            inside = not inside
    return found

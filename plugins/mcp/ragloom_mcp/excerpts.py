"""Lines of an indexed file, and of no other file."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from ragloom import SourceError, Space

LINES_AT_ONCE = 1000
CHARACTERS_AT_ONCE = 100_000

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A few lines, letter for letter.

    Attributes:
        path: As the index names the file.
        text: The lines.
        start_line: The first, 1-based.
        end_line: The last, inclusive; 0 for an empty file.
        lines: Number of lines of the file.
        truncated: Whether the last line is not whole, because it alone is too long.
        changed: Whether the file has changed since it was indexed.
    """

    path: str
    text: str
    start_line: int
    end_line: int
    lines: int
    truncated: bool
    changed: bool


def excerpt(space: Space, path: str, start_line: int = 1, end_line: int | None = None) -> Excerpt:
    """Read lines of a file that is in the index.

    Raises:
        NotIndexedError: Nothing is indexed yet.
        SourceError: It is not indexed, leads outside, is a secret, or has no such line.
    """
    entry = space.snapshot().files.get(path)
    if entry is None:
        raise SourceError(f"{path!r} is not an indexed file of {space.name!r}")
    document = space.read(path)
    lines = _LINE.findall(document.text if document.extracted else document.prefix + document.text)
    last = min(len(lines), start_line + LINES_AT_ONCE - 1)
    if end_line is not None:
        if end_line < start_line:
            raise SourceError(f"end_line {end_line} comes before start_line {start_line}")
        last = min(last, end_line)
    if start_line > max(len(lines), 1):
        raise SourceError(f"{path!r} has {len(lines)} lines; there is no line {start_line}")
    size = list(accumulate(map(len, lines[start_line - 1 : last])))
    last = min(last, start_line - 1 + max(bisect_right(size, CHARACTERS_AT_ONCE), 1))
    text = "".join(lines[start_line - 1 : last])
    return Excerpt(
        path=path,
        text=text[:CHARACTERS_AT_ONCE],
        start_line=start_line,
        end_line=last,
        lines=len(lines),
        truncated=len(text) > CHARACTERS_AT_ONCE,
        changed=document.content_hash != entry.content_hash,
    )

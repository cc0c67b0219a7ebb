"""Lines of an indexed file, and of no other file."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from ragloom import SourceError, Space

LINES_AT_ONCE = 1000
CHARACTERS_AT_ONCE = 100_000

_LONGEST = 1_000_000  # characters of a file that is given whole
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
        from_index: Whether the lines are those of the indexed chunks, blank where none holds them, as the
            setting ``check_files`` is false.
    """

    path: str
    text: str
    start_line: int
    end_line: int
    lines: int
    truncated: bool
    changed: bool
    from_index: bool = False


def excerpt(space: Space, path: str, start_line: int = 1, end_line: int | None = None) -> Excerpt:
    """Read lines of a file that is in the index.

    Raises:
        NotIndexedError: Nothing is indexed yet.
        SourceError: It is not indexed, leads outside, is a secret, or has no such line.
    """
    whole, changed = _read(space, path)
    lines = _LINE.findall(whole)
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
        changed=changed,
        from_index=not space.settings.check_files,
    )


def whole_text(space: Space, path: str) -> str:
    """The text of a file that is in the index; raises as :func:`excerpt`, and where it is very long."""
    text, _ = _read(space, path)
    if len(text) > _LONGEST:
        raise SourceError(
            f"{path!r} has {len(text):,} characters, more than {_LONGEST:,}: read_source reads lines of it"
        )
    return text


def _read(space: Space, path: str) -> tuple[str, bool]:
    """The text of an indexed file, and whether the file has changed."""
    entry = space.snapshot().files.get(path)
    if entry is None:
        raise SourceError(f"{path!r} is not an indexed file of {space.name!r}")
    if not space.settings.check_files:
        return _from_chunks(space, path), False
    document = space.read(path)
    text = document.text if document.extracted else document.prefix + document.text
    return text, document.content_hash != entry.content_hash


def _from_chunks(space: Space, path: str) -> str:
    """What the chunks of a file hold, at the lines where they stood."""
    snapshot = space.snapshot()
    (number,) = np.flatnonzero(np.array([uri == path for uri in snapshot.uris]))
    rows = np.flatnonzero(snapshot.file_of_row == number)
    chunks = sorted((snapshot.chunk(int(row)) for row in rows), key=lambda one: one.span)
    text, at, line = "", 0, 1
    for chunk in chunks:
        start, end = chunk.span
        if end <= at:
            continue
        if start > at:
            text += "\n" * (chunk.lines.start - line)
        text += chunk.text[max(at - start, 0) :]
        at, line = end, chunk.lines.end + chunk.text.endswith(("\n", "\r"))
    return text

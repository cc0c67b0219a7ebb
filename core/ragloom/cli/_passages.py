"""Hits for a terminal and for a pipe: passages with line numbers, and the query's words highlighted."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli._places import clipped, end_of, hyperlink, wrapped
from ragloom.cli._session import on_one_line, printable
from ragloom.config.spelling import counted
from ragloom.context.citations import also
from ragloom.context.query_words import QueryWords

if TYPE_CHECKING:
    from ragloom.types import Chunk, Hit

__all__ = ["COLUMNS_IN_A_PIPE", "best_line", "line_of", "lines_of", "shown_path"]

COLUMNS_IN_A_PIPE = 160
_ROWS = 8  # of a passage on a terminal
_LINE_END = re.compile(r"\r\n|\r|\n")
_LIKELY, _MAYBE = 0.7, 0.4  # relevance: shown green, shown yellow
_LEAST = 20  # columns of a passage, however narrow the terminal is

_styled = partial(click.style, bold=True, fg="red")


def shown_path(uri: str, root: Path) -> str:
    """The path of a file, relative to the current folder."""
    path = root / uri
    try:
        return os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)


def best_line(chunk: Chunk, words: QueryWords) -> int:
    """The line of the file from which a passage is shown, where it is longer than a terminal shows."""
    return chunk.lines.start + words.best_start(_LINE_END.split(chunk.text.rstrip()), _ROWS)


def line_of(
    hit: Hit,
    path: str,
    words: QueryWords,
    shown: Callable[[str], str] = str,
    *,
    columns: int | None = COLUMNS_IN_A_PIPE,
) -> str:
    """A hit on one line that begins with ``path:line:``, as grep's do, so that editors can jump.

    Where the passage does not fit, the line is that of its best matching lines, which are shown.

    Args:
        hit: The hit.
        path: As it is written.
        words: Of the query.
        shown: Writes the path of another file.
        columns: Maximum width of the line; None for all of the passage.
    """
    chunk = hit.chunk
    lines = _LINE_END.split(chunk.text.rstrip())
    headings = " > ".join(chunk.headings)
    said = [f"{headings}:"] if headings else []
    start = words.best_start(lines, _fitting(lines, columns, len(path) + len(" ".join(said))))
    said += ["…"] if start else []
    said += " ".join(lines[start:]).split()
    phrases = [f"[{phrase}]" for phrase in also(hit, shown)]
    head = f"{path}:{chunk.lines.start + start}: {hit.relevance:.2f} "
    if columns is None:
        return on_one_line(head + " ".join([*said, *phrases]))
    return clipped(on_one_line(head + " ".join([*said, *phrases])), columns)


def _fitting(lines: list[str], columns: int | None, taken: int) -> int:
    """All of the lines where they fit on one line of which so many columns are taken.

    Otherwise as many as fill half of it by their mean length, since some are longer.
    """
    length = sum(len(line) + 1 for line in lines)
    if columns is None or length <= (room := columns - taken - len(":1000: 0.00 … ")):
        return len(lines)
    return max(room * len(lines) // length // 2, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How hits look on a terminal.

    Attributes:
        width: Columns.
        scores: Whether the scores are shown.
        shown: Writes the path of a file.
        link: Gives the address of a line of a file, by its uri; None where places are no links.
    """

    width: int
    scores: bool = False
    shown: Callable[[str], str] = str
    link: Callable[[str, int], str] | None = None


def lines_of(hit: Hit, path: str, words: QueryWords, look: Look) -> Iterator[str]:
    """A hit as a few lines for a terminal."""
    chunk = hit.chunk
    color = "green" if hit.relevance >= _LIKELY else "yellow" if hit.relevance >= _MAYBE else "red"
    place = f"{on_one_line(path)}:{chunk.lines.start}"
    if chunk.lines.end > chunk.lines.start:
        place += f"-{chunk.lines.end}"
    place = click.style(place, bold=True)
    if look.link is not None:
        place = hyperlink(place, look.link(chunk.uri, best_line(chunk, words)))
    yield f"{click.style(f'{hit.relevance:.2f}', fg=color)}  {place}"
    if chunk.headings:
        titles = end_of(on_one_line(" > ".join(chunk.headings)), look.width - 6)
        yield click.style(f"      {titles}", fg="cyan")
    if look.scores:
        named = {"score": hit.score, "cosine": hit.cosine, "words": hit.lexical}
        given = (f"{name} {value:.3f}" for name, value in named.items() if value is not None)
        yield click.style(f"      {', '.join(given)}", dim=True)
    yield from _passage(chunk.text, chunk.lines.start, words, width=look.width)
    for phrase in also(hit, look.shown):
        yield click.style(f"      {on_one_line(phrase)}", dim=True)


def _passage(text: str, first: int, words: QueryWords, *, width: int) -> Iterator[str]:
    """The best matching rows of a passage, and how many lines there are above and below them."""
    lines = _LINE_END.split(text.rstrip())
    last = first + len(lines) - 1
    digits = max(4, len(str(last + 1)))
    room = max(width - digits - 4, _LEAST)
    rows = [
        (number, at, row)
        for number, line in enumerate(lines, first)
        for at, row in enumerate(wrapped(printable(line.expandtabs(4)), room, room - len("… ")))
    ]
    start = words.best_start([row for _, _, row in rows], _ROWS)
    end = start + _ROWS
    if above := rows[start][0] - first:
        yield click.style(f"{'…':>{digits + 1}} {counted(above, 'line')} above", dim=True)
    for index, (number, at, row) in enumerate(rows[start:end], start):
        shown = row
        if index == start and at:
            shown = f"… {row}"
        if index + 1 == end < len(rows) and rows[end][1]:
            shown = f"{clipped(shown, room - 2, '')} …"
        gutter = f"{number if at == 0 or index == start else '':>{digits + 1}} │"
        yield f"{click.style(gutter, dim=True)} {words.mark(shown, _styled)}".rstrip()
    if end < len(rows) and (below := last - rows[end - 1][0]):
        yield click.style(f"{'…':>{digits + 1}} {counted(below, 'more line')}", dim=True)

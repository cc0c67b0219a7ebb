"""Hits for a terminal: passages with line numbers, and the query's words highlighted."""

from __future__ import annotations

import os
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli._session import on_one_line, printable
from ragloom.snapshot.analyzer import analyze

if TYPE_CHECKING:
    from ragloom.types import Hit

__all__ = ["Mark", "line_of", "lines_of", "marker", "shown_path"]

Mark = Callable[[str], str]
"""Returns a text with the query's words highlighted."""

_ROWS = 8  # of a passage on a terminal
_WORD = re.compile(r"\w+")
_LIKELY, _MAYBE = 0.7, 0.4  # relevance: shown green, shown yellow


def shown_path(uri: str, root: Path) -> str:
    """The path of a file, relative to the current folder."""
    path = root / uri
    try:
        return os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)


def line_of(hit: Hit, path: str) -> str:
    """A hit on one line that begins with ``path:line:``, as grep's do, so that editors can jump."""
    chunk = hit.chunk
    headings = " > ".join(chunk.headings)
    said = " ".join([*([f"{headings}:"] if headings else []), *chunk.text.split()])
    return on_one_line(f"{path}:{chunk.lines.start}: {hit.relevance:.2f} {said}")


def lines_of(hit: Hit, path: str, mark: Mark, *, width: int, scores: bool) -> Iterator[str]:
    """A hit as a few lines for a terminal of ``width`` columns."""
    chunk = hit.chunk
    color = "green" if hit.relevance >= _LIKELY else "yellow" if hit.relevance >= _MAYBE else "red"
    place = f"{on_one_line(path)}:{chunk.lines.start}"
    if chunk.lines.end > chunk.lines.start:
        place += f"-{chunk.lines.end}"
    head = f"{click.style(f'{hit.relevance:.2f}', fg=color)}  {click.style(place, bold=True)}"
    yield head
    if chunk.headings:
        yield click.style(f"      {on_one_line(' > '.join(chunk.headings))}", fg="cyan")
    if scores:
        named = {"score": hit.score, "cosine": hit.cosine, "words": hit.lexical}
        given = (f"{name} {value:.3f}" for name, value in named.items() if value is not None)
        yield click.style(f"      {', '.join(given)}", dim=True)
    yield from _passage(chunk.text, chunk.lines.start, mark, width=width)


def _passage(text: str, first: int, mark: Mark, *, width: int) -> Iterator[str]:
    lines = re.split(r"\r\n|\r|\n", text.rstrip())
    digits = max(4, len(str(first + len(lines))))
    room = max(width - digits - 4, 20)
    rows = 0
    for number, line in enumerate(lines, first):
        if rows >= _ROWS:
            left = first + len(lines) - number
            more = f"{'…':>{digits + 1}} {left} more line{'s' if left > 1 else ''}"
            yield click.style(more, dim=True)
            return
        wrapped = _wrap(printable(line.expandtabs(4)), room)
        if rows + len(wrapped) > _ROWS:
            wrapped = [*wrapped[: _ROWS - rows]]
            wrapped[-1] = f"{wrapped[-1][: room - 2]} …"
        for at, row in enumerate(wrapped):
            gutter = f"{number if at == 0 else '':>{digits + 1}} │"
            yield f"{click.style(gutter, dim=True)} {mark(row)}".rstrip()
        rows += len(wrapped)


def _wrap(line: str, width: int) -> list[str]:
    if not line.isascii() and any(unicodedata.east_asian_width(char) in "WF" for char in line):
        width //= 2  # such characters are two columns wide
    wrapped = textwrap.wrap(
        line, width, replace_whitespace=False, drop_whitespace=True, break_on_hyphens=False
    )
    return wrapped or [""]


def marker(terms: Iterable[str], stems: Callable[[str], Sequence[str]]) -> Mark:
    """Highlights the words that share a stem with the query.

    Args:
        terms: The stems of the query.
        stems: Returns the stems of a word.
    """
    wanted = frozenset(terms)

    def mark_word(word: str) -> str:
        found = stems(word)
        if found and found[0] in wanted:
            return _styled(word)
        if wanted.isdisjoint(found):
            return word
        # A word within an identifier, or two characters of a script without spaces.
        folded = word.casefold()
        if len(folded) != len(word):
            return _styled(word)
        inside = [False] * len(word)
        for term in analyze(word):
            at = folded.find(term)
            if at >= 0 and not wanted.isdisjoint(stems(term)[:1]):
                inside[at : at + len(term)] = [True] * len(term)
        runs = groupby(zip(inside, word, strict=True), key=itemgetter(0))
        texts = ((marked, "".join(char for _, char in run)) for marked, run in runs)
        return "".join(_styled(text) if marked else text for marked, text in texts)

    return lambda text: _WORD.sub(lambda found: mark_word(found[0]), text)


def _styled(text: str) -> str:
    return click.style(text, bold=True, fg="red")

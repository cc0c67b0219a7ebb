"""Hits for a terminal: passages with line numbers, and the query's words highlighted."""

from __future__ import annotations

import os
import re
import textwrap
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli._session import on_one_line, printable
from ragloom.config.spelling import counted
from ragloom.context.citations import also
from ragloom.snapshot.analyzer import Word, word_pattern, words

if TYPE_CHECKING:
    from ragloom.snapshot.lexical import LexicalIndex
    from ragloom.types import Hit

__all__ = ["QueryWords", "line_of", "lines_of", "shown_path"]

_ROWS = 8  # of a passage on a terminal
_LINE_END = re.compile(r"\r\n|\r|\n")
_LIKELY, _MAYBE = 0.7, 0.4  # relevance: shown green, shown yellow


def shown_path(uri: str, root: Path) -> str:
    """The path of a file, relative to the current folder."""
    path = root / uri
    try:
        return os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)


def line_of(hit: Hit, path: str, words: QueryWords, shown: Callable[[str], str] = str) -> str:
    """A hit on one line that begins with ``path:line:``, as grep's do, so that editors can jump.

    The passage is there from its best matching lines on. ``shown`` writes the path of another file.
    """
    chunk = hit.chunk
    lines = _LINE_END.split(chunk.text.rstrip())
    start = best_start(lines, words, _ROWS)
    headings = " > ".join(chunk.headings)
    said = [f"{headings}:"] if headings else []
    said += [f"… {chunk.lines.start + start}:"] if start else []
    said += " ".join(lines[start:]).split()
    said += [f"[{phrase}]" for phrase in also(hit, shown)]
    return on_one_line(f"{path}:{chunk.lines.start}: {hit.relevance:.2f} {' '.join(said)}")


def lines_of(
    hit: Hit,
    path: str,
    words: QueryWords,
    *,
    width: int,
    scores: bool,
    shown: Callable[[str], str] = str,
) -> Iterator[str]:
    """A hit as a few lines for a terminal of ``width`` columns; ``shown`` as for :func:`line_of`."""
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
    yield from _passage(chunk.text, chunk.lines.start, words, width=width)
    for phrase in also(hit, shown):
        yield click.style(f"      {on_one_line(phrase)}", dim=True)


def _passage(text: str, first: int, words: QueryWords, *, width: int) -> Iterator[str]:
    """The best matching rows of a passage, and how many lines there are above and below them."""
    lines = _LINE_END.split(text.rstrip())
    last = first + len(lines) - 1
    digits = max(4, len(str(last + 1)))
    room = max(width - digits - 4, 20)
    rows = [
        (number, at, row)
        for number, line in enumerate(lines, first)
        for at, row in enumerate(_wrap(printable(line.expandtabs(4)), room, room - len("… ")))
    ]
    start = best_start([row for _, _, row in rows], words, _ROWS)
    end = start + _ROWS
    if above := rows[start][0] - first:
        yield click.style(f"{'…':>{digits + 1}} {counted(above, 'line')} above", dim=True)
    for index, (number, at, row) in enumerate(rows[start:end], start):
        shown = row
        if index == start and at:
            shown = f"… {row}"
        if index + 1 == end < len(rows) and rows[end][1]:
            shown = f"{shown[: room - 2]} …"
        gutter = f"{number if at == 0 or index == start else '':>{digits + 1}} │"
        yield f"{click.style(gutter, dim=True)} {words.mark(shown)}".rstrip()
    if end < len(rows) and (below := last - rows[end - 1][0]):
        yield click.style(f"{'…':>{digits + 1}} {counted(below, 'more line')}", dim=True)


def best_start(rows: Sequence[str], words: QueryWords, most: int) -> int:
    """Where to begin, so that ``most`` rows hold the most different words of the query, by weight.

    Of equal windows it is the one that begins with such a word and soon has the others. 0 where all rows
    fit, or where only the first would be omitted; as many rows as possible are filled.
    """
    if len(rows) <= most:
        return 0
    found = [words.found(row) for row in rows]
    best, start = (0.0, 0), 0
    for at in range(len(rows)):
        held: set[str] = set()
        reach = 0
        for offset, more in enumerate(found[at : at + most]):
            if more - held:
                held |= more
                reach = offset
        weight = sum(words.weights[term] for term in sorted(held))
        if found[at] and (weight, -reach) > best:
            best, start = (weight, -reach), at
    return min(start, len(rows) - most) if start > 1 else 0


def _wrap(line: str, width: int, narrower: int) -> list[str]:
    """``line`` where it fits into ``width`` columns, otherwise rows of ``narrower`` columns at most."""
    if not line.isascii() and any(unicodedata.east_asian_width(char) in "WF" for char in line):
        width, narrower = width // 2, narrower // 2  # such characters are two columns wide
    if len(line) <= width:
        return [line]
    wrapped = textwrap.wrap(
        line, narrower, replace_whitespace=False, drop_whitespace=True, break_on_hyphens=False
    )
    return wrapped or [""]


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words of a query, found and highlighted in every form.

    Attributes:
        weights: The stems of the query, and how much each tells.
        stems: Returns the stems of a text.
    """

    weights: Mapping[str, float]
    stems: Callable[[str], Sequence[str]]

    @classmethod
    def of(cls, query: str, lexical: LexicalIndex) -> QueryWords:
        """Those of ``query``, weighed by their inverse document frequency."""
        terms = lexical.query_terms(query)
        return cls(
            {term: lexical.inverse_document_frequency(term) for term in terms}, lexical.stems
        )

    def found(self, text: str) -> frozenset[str]:
        """The stems that ``text`` holds."""
        return frozenset(self.stems(text)) & self.weights.keys()

    def mark(self, text: str) -> str:
        """``text`` with the words that share a stem with the query highlighted."""
        return word_pattern(text).sub(lambda found: self._marked(found[0]), text)

    def _holds(self, term: str) -> bool:
        return not self.weights.keys().isdisjoint(self.stems(term))

    def _is_whole(self, word: Word) -> bool:
        wholes = [form[0] for form in word.forms if len(form) == 1]
        parts = [self.stems(term) for term in _parts_of(word) if term not in wholes]
        wanted = self.weights.keys()
        return any(wanted & set(self.stems(whole)).difference(*parts) for whole in wholes)

    def _marked(self, token: str) -> str:
        found = words(token)
        if len(found) == 1 and self._is_whole(found[0]):
            return _styled(token)
        # A word within an identifier, or two characters of a script without spaces.
        terms = [term for word in found for term in _parts_of(word) if self._holds(term)]
        folded = token.casefold()
        if len(folded) != len(token):
            return _styled(token) if terms else token
        inside = [False] * len(token)
        for term in terms:
            at = folded.find(term)
            if at >= 0:
                inside[at : at + len(term)] = [True] * len(term)
        runs = groupby(zip(inside, token, strict=True), key=itemgetter(0))
        texts = ((marked, "".join(char for _, char in run)) for marked, run in runs)
        return "".join(_styled(text) if marked else text for marked, text in texts)


def _parts_of(word: Word) -> Sequence[str]:
    return [term for term in word.terms if (term,) not in word.forms] or word.terms


def _styled(text: str) -> str:
    return click.style(text, bold=True, fg="red")

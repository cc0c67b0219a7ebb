"""reStructuredText: its section titles, to docutils' judgement.

The scanner walks the lines as docutils' state machine does (``docutils/parsers/rst/states.py``, 0.23), but
only as far as titles need it: what is indented holds no title, so of lists, directives and the like only
the first line is told from a title.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace

from ragloom import Document, Section, Source, Span
from ragloom.text import read_document
from ragloom_text.enumerators import begins_item
from ragloom_text.lines import without_markup

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*")
_SHORT = 4  # an adornment of fewer characters is text where it does not fit its title

_OPTION = r"(?:(?:-|\+)[a-zA-Z0-9](?: ?{0})?|(?:--|/)[a-zA-Z0-9][\w-]*(?:[ =]{0})?)".format(
    r"(?:[a-zA-Z][\w-]*|<[^<>]+>)"
)
_OPTIONS = re.compile(rf"{_OPTION}(?:, {_OPTION})*(?:  +| ?$)", re.ASCII)
_ONE_LINE = re.compile(
    r"(?:[-+*\u2022\u2023\u2043]|\||\.\.|__)(?: |$)"  # lists, line blocks, explicit markup
    r"|:(?![: ])(?:[^:\\]|\\.|:(?!(?:[ `]|$)))*(?<! ):(?: |$)"  # a field
)
_DOCTEST = re.compile(r">>>(?: |$)")
_GRID = re.compile(r"\+-[-+]+-\+")
_SIMPLE_TABLE = re.compile(r"=+(?: +=+)+")
_SIMPLE_BORDER = re.compile(r"=[ =]*+")
_LITERAL = re.compile(r"(?<!\\)(?:\\\\)*::$")

_MARKUP = (
    (re.compile(r"``(.+?)``"), r"\1"),
    (re.compile(r"(?<![\w:+.-]):[\w:+.-]++(?<=:)`~?([^`]+)`"), r"`\1`"),
    (re.compile(r"`([^`<]*[^`<\s])\s*<[^`>]+>`(?:__?)?"), r"\1"),
    (re.compile(r"`([^`]+)`(?:__?|:[\w:+.-]+:)?"), r"\1"),
    (re.compile(r"(?<!\w)(\*\*?)(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<!\w)\|(?=\S)(.+?)(?<=\S)\|_{0,2}(?!\w)"), r"\1"),
    (re.compile(r"(?<=\w)__?(?!\w)"), ""),
    (re.compile(r"\\(?:\s|(.))"), r"\1"),
)


class RstLoader:
    """Reads reStructuredText, markup and all."""

    suffixes = frozenset({".rest", ".rst"})
    fingerprint = "rst-3"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`, with the section titles."""
        document = read_document(source, content, media_type="text/x-rst")
        return replace(document, sections=titles(document.text))


def titles(text: str) -> tuple[Section, ...]:
    """The section titles of reStructuredText, in order.

    A title stands above a line of one punctuation character, or between two; which character means which
    level follows from their order in the file. One that skips a level is none, as docutils says.
    """
    return tuple(_Scanner(text).scan())


def plain_title(title: str) -> str:
    """A title without its inline markup, on one line."""
    return without_markup(title, _MARKUP)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._lines: list[str] = []
        position = 0
        for line in re.sub("[\v\f]", " ", text).splitlines(keepends=True):
            self._starts.append(position)
            self._lines.append(line.expandtabs(8).rstrip())
            position += len(line)
        self._starts.append(position)
        numbered = list(enumerate(self._lines))
        self._filled = [number for number, line in numbered if line]
        self._borders = [number for number, line in numbered if _SIMPLE_BORDER.fullmatch(line)]
        self._styles: list[str] = []
        self._level = 0

    def scan(self) -> Iterator[Section]:
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            if not line or line[0] == " " or _ONE_LINE.match(line) or self._one_item(at, line):
                at += 1
            elif _DOCTEST.match(line):
                at = self._text_end(at, flush=False)
            elif _GRID.fullmatch(line):
                at = self._grid_end(at)
            elif _SIMPLE_TABLE.fullmatch(line):
                at = self._simple_table_end(at)
            elif _ADORNMENT.fullmatch(line) and (taken := self._below_adornment(at)):
                if taken > 0:
                    at += taken
                else:
                    yield from self._section(at, at + 3, self._lines[at + 1], line[0] * 2)
                    at += 3
            elif self._underlined(at):
                yield from self._section(at, at + 2, line, self._lines[at + 1][0])
                at += 2
            else:
                at = self._paragraph_end(at)

    def _line(self, at: int) -> str:
        return self._lines[at] if at < len(self._lines) else ""

    def _one_item(self, at: int, line: str) -> bool:
        following = self._lines[at + 1] if at + 1 < len(self._lines) else None
        if begins_item(line, following):
            return True
        options = _OPTIONS.match(line)
        if options is None:
            return False
        return bool(line[options.end() :]) or self._line(self._not_blank(at + 1))[:1] == " "

    def _below_adornment(self, at: int) -> int:
        """Lines that an adornment takes which heads no title; 0 where it is text; -1 where it does."""
        line, title, below = (self._line(at + number) for number in range(3))
        short = len(line) < _SHORT
        if not title:
            taken = 1  # a transition
        elif _ADORNMENT.fullmatch(title):
            taken = 2
        elif below != line or (short and _width(title) > len(line)):
            taken = min(3, len(self._lines) - at)
        else:
            return -1
        return 0 if short else taken

    def _underlined(self, at: int) -> bool:
        title, below = self._lines[at], self._line(at + 1)
        if _ADORNMENT.fullmatch(below) is None:
            return False
        return len(below) >= _SHORT or _width(title) <= len(below)

    def _section(self, first: int, end: int, title: str, style: str) -> Iterator[Section]:
        new = style not in self._styles
        level = len(self._styles) + 1 if new else self._styles.index(style) + 1
        if level > self._level + 1:
            return
        if new:
            self._styles.append(style)
        self._level = level
        span = Span(self._starts[first], self._starts[end])
        yield Section(span=span, level=level, title=plain_title(title))

    def _text_end(self, at: int, *, flush: bool = True) -> int:
        """After the last line of a block: before a blank one, or one that is indented."""
        while at < len(self._lines) and (line := self._lines[at]):
            if flush and line[0] == " ":
                break
            at += 1
        return at

    def _paragraph_end(self, at: int) -> int:
        end = self._text_end(at)
        if end == at + 1 and self._line(end):
            return end  # a term, and its definition
        if _LITERAL.search(self._lines[end - 1]) is None:
            return end
        end = self._not_blank(end)
        quote = self._line(end)[:1]
        if _ADORNMENT.fullmatch(quote):
            while self._line(end)[:1] == quote:
                end += 1
        return end

    def _not_blank(self, at: int) -> int:
        """The next line that is not blank; the number of lines where there is none."""
        index = bisect_left(self._filled, at)
        return self._filled[index] if index < len(self._filled) else len(self._lines)

    def _grid_end(self, at: int) -> int:
        end = self._text_end(at)
        end = next((one for one in range(at, end) if self._lines[one][0] not in "+|"), end)
        if _GRID.fullmatch(self._lines[end - 1]) is None:
            for last in range(end - 2, at + 1, -1):
                if _GRID.fullmatch(self._lines[last]):
                    return last + 1
        return end

    def _simple_table_end(self, at: int) -> int:
        found = 0
        for index in range(bisect_left(self._borders, at + 1), len(self._borders)):
            number = self._borders[index]
            line = self._lines[number]
            if len(line) != len(self._lines[at]):
                return number + 1
            if found or not self._line(number + 1):
                return number + 1
            found = number
        return found + 1 if found else len(self._lines)


def _width(title: str) -> int:
    """Columns of a title: wide characters take two, combining ones none."""
    if title.isascii():
        return len(title)
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in title)
    return len(title) + wide - sum(bool(unicodedata.combining(one)) for one in title)

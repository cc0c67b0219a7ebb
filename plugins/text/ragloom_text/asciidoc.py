"""AsciiDoc: its section titles and discrete headings, as Asciidoctor finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from ragloom import Document, Section, Source, Span
from ragloom.text import read_document
from ragloom_text.lines import Line, lines_of, without_markup

# https://docs.asciidoctor.org/asciidoc/latest/sections/titles-and-levels/
_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?")
_UNDERLINES = "=-~^+"  # of titles in two lines, the outermost first
_VERBATIM = re.compile(r"(?P<mark>-{4,}|\.{4,}|\+{4,}|/{4,}|`{3}|[|,:!]={3,})")
_FENCE = re.compile(r"```[^`\s].*")
_COMPOUND = re.compile(r"={4,}|\*{4,}|_{4,}|~{4,}|--")
_ATTRIBUTE = re.compile(r":!?\w[\w-]*!?:(?:[ \t].*)?")
_OFFSET = re.compile(r":leveloffset:[ \t]*([+-]?\d+)")
_NO_OFFSET = re.compile(r":(?:!leveloffset|leveloffset!):")
_METADATA = re.compile(r"\[(?:|[\[\w.#%,\"'{].*)\]")
_BLOCK_TITLE = re.compile(r"\.\.?[^ \t.].*")
_ONE_LINE = re.compile(
    r"//(?!/).*|'{3,}|<{3,}|-{3}|- - -|\*{3}|\* \* \*"  # comments and breaks
    r"|(?:image|video|audio|toc|include)::\S*\[.*\]"
)
_ITEM = re.compile(r"\s*(?:[*-]+|\.+|(?:\d+|[a-zA-Z])\.|<(?:\d+|\.)>)[ \t]")
_CONDITION = re.compile(r"(?:ifdef|ifndef|ifeval|endif)::\S*\[.*\]")
_DISCRETE = re.compile(r"\[(?:discrete|float)\b.*\]")
_DEEPEST = 20  # blocks inside of each other that are followed
_MARKUP = (
    (re.compile(r"\[\[[^\[\]]*\]\]"), ""),
    (re.compile(r"<<[^<,>]+,\s*([^<>]+)>>"), r"\1"),
    (re.compile(r"(?:link|xref|mailto):[^\s\[]*\[([^\]]*)\]"), r"\1"),
    (re.compile(r"(?:https?|ftp)://[^\s\[]+\[([^\]]+)\]"), r"\1"),
    (re.compile(r"(?<!\w)([`*_+#])\1?(?=\S)(.+?)(?<=\S)\1?\1(?!\w)"), r"\2"),
)


class AsciiDocLoader:
    """Reads AsciiDoc, markup and all."""

    suffixes = frozenset({".adoc", ".asciidoc"})
    fingerprint = "asciidoc-1"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`, with the section titles."""
        document = read_document(source, content, media_type="text/x-asciidoc")
        sections = titles(document.text)
        first = sections[0] if sections else None
        metadata = {"title": first.title} if first and first.level == 1 else {}
        return replace(document, sections=sections, metadata=metadata)


def titles(text: str) -> tuple[Section, ...]:
    """The section titles and discrete headings of AsciiDoc; a document's title is of level 1.

    Both branches of a condition count. What is included is another file.
    """
    lines = [line for line in lines_of(text) if not _CONDITION.fullmatch(line.text)]
    return tuple(_Scanner(lines).scan(0, len(lines)))


class _Scanner:
    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._offset = 0
        self._in_body = False

    def scan(self, at: int, end: int, nested: int = 0) -> Iterator[Section]:
        """The titles of some lines, at the beginning of a block; in a block only discrete ones."""
        discrete = False
        while at < end:
            line = self._lines[at].text
            if not line or _METADATA.fullmatch(line):
                discrete = bool(line and (discrete or _DISCRETE.fullmatch(line)))
                at += 1
            elif _ATTRIBUTE.fullmatch(line):
                at = self._attribute(at, end)
            elif taken := self._title_at(at, end):
                if discrete or not nested:
                    yield self._section(at, taken)
                at += taken
                if not nested and not discrete and not self._in_body:
                    at += self._authors(at, end)
                self._in_body, discrete = True, False
            elif (inner := self._block(at, end)) is not None:
                if _COMPOUND.fullmatch(line) and nested < _DEEPEST:
                    yield from self.scan(at + 1, inner, nested + 1)
                at, discrete = inner + 1, False
            elif _ONE_LINE.fullmatch(line) or _BLOCK_TITLE.fullmatch(line):
                at += 1
            else:
                at, discrete, self._in_body = self._paragraph_end(at, end), False, True

    def _authors(self, at: int, end: int) -> int:
        """Lines below the document's title that name authors and revision, whatever they look like."""
        first = self._lines[at - 1].text
        if not first.startswith(("= ", "=\t", "# ")) and set(first) != {"="}:
            return 0
        below = (line.text for line in self._lines[at : min(at + 2, end)])
        taken = takewhile(
            lambda line: line and line[:2] != "//" and not _ATTRIBUTE.fullmatch(line), below
        )
        return len(list(taken))

    def _attribute(self, at: int, end: int) -> int:
        """After an attribute, and the lines that it goes on with."""
        line = self._lines[at].text
        if offset := _OFFSET.fullmatch(line):
            relative = offset[1][0] in "+-"
            self._offset = int(offset[1]) + (self._offset if relative else 0)
        elif _NO_OFFSET.fullmatch(line):
            self._offset = 0
        while at + 1 < end and self._lines[at].text.endswith(" \\"):
            at += 1
        return at + 1

    def _title_at(self, at: int, end: int) -> int:
        """Lines of the title that begins here: one, two, or none."""
        line = self._lines[at].text
        if _TITLE.fullmatch(line):
            return 1
        below = self._lines[at + 1].text if at + 1 < end else ""
        underlined = below[:1] in _UNDERLINES and below == below[:1] * len(below) != ""
        if not underlined or abs(len(line) - len(below)) > 1 or line.startswith("."):
            return 0
        return 2 if any(one.isalnum() or one == "_" for one in line) else 0

    def _section(self, at: int, taken: int) -> Section:
        line, last = self._lines[at], self._lines[at + taken - 1]
        match = _TITLE.fullmatch(line.text) if taken == 1 else None
        level = len(match[1]) if match else 1 + _UNDERLINES.index(last.text[0])
        title = plain_title(match[2] if match else line.text)
        level = max(1, level + self._offset)
        return Section(span=Span(line.start, last.end), level=level, title=title)

    def _block(self, at: int, end: int) -> int | None:
        """The line that closes the delimited block which begins here; ``end`` where none does."""
        line = self._lines[at].text
        if _FENCE.fullmatch(line):
            line = "```"
        elif not _VERBATIM.fullmatch(line) and not _COMPOUND.fullmatch(line):
            return None
        return next((one for one in range(at + 1, end) if self._lines[one].text == line), end)

    def _paragraph_end(self, at: int, end: int) -> int:
        item = _ITEM.match(self._lines[at].text)  # it takes metadata for text
        at += 1
        while at < end:
            line = self._lines[at].text
            if not line or (_METADATA.fullmatch(line) and not item):
                break
            if self._block(at, at + 1) is not None:
                break
            at += 1
        return at


def plain_title(title: str) -> str:
    """A title without its inline markup, on one line."""
    return without_markup(title, _MARKUP)

"""reStructuredText, whose section titles are headings of their own kind."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from ragloom import Document, Section, Source, Span
from ragloom.text import line_starts, read_document

# https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#sections
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")


class RstLoader:
    """Reads reStructuredText, markup and all."""

    suffixes = frozenset({".rest", ".rst"})
    fingerprint = "rst-2"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`, with the section titles."""
        document = read_document(source, content, media_type="text/x-rst")
        return replace(document, sections=titles(document.text))


def titles(text: str) -> tuple[Section, ...]:
    """The section titles of reStructuredText.

    A title stands above a line of one punctuation character that is as long, or between two; which
    character means which level follows from their order in the file.
    """
    starts = line_starts(text)
    edges = [*starts, len(text)]
    lines = [text[begin:end].rstrip() for begin, end in pairwise(edges)]
    styles: list[tuple[str, bool]] = []
    sections: list[Section] = []
    for number, below in enumerate(lines):
        if not number or _ADORNMENT.fullmatch(below) is None:
            continue
        title = lines[number - 1]
        over = number > 1 and lines[number - 2] == below and not _blank_or_rule(title)
        before = lines[number - 3] if over and number > 2 else ""  # noqa: PLR2004 - an overline
        before = before if over else lines[number - 2] if number > 1 else ""
        if before or not _is_title(title, below, over=over):
            continue
        begin = starts[number - 1 - over]
        if sections and begin < sections[-1].span.end:
            continue
        style = (below[0], over)
        if style not in styles:
            styles.append(style)
        span, level = Span(begin, edges[number + 1]), styles.index(style) + 1
        sections.append(Section(span=span, level=level, title=" ".join(title.split())))
    return tuple(sections)


def _blank_or_rule(line: str) -> bool:
    return not line or _ADORNMENT.fullmatch(line) is not None


def _is_title(title: str, below: str, *, over: bool) -> bool:
    if _blank_or_rule(title) or len(below) < len(title.strip()):
        return False
    return over or not title[0].isspace()

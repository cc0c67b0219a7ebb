"""Passages between delimiters that they cannot contain.

A passage is shown letter for letter, so nothing in it is escaped: the delimiter grows instead, to
one character more than the longest run of its character in any passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragloom import Citation, Context

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class TextFormatter:
    """Blocks between ``===== [1] docs/a.md:3-9 | Title =====`` and ``===== end [1] =====``."""

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; empty for no citations."""
        rule = "=" * _length("=", context.citations, at_least=5)
        return "\n".join(
            f"{rule} [{number}] {location(citation)}{_titles(citation, ' | ')} {rule}\n"
            f"{_closed(citation.text)}{rule} end [{number}] {rule}\n"
            for number, citation in enumerate(context.citations, start=1)
        )


class MarkdownFormatter:
    """A heading with the source, then the passage in a fenced code block."""

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; empty for no citations."""
        fence = "`" * _length("`", context.citations, at_least=3)
        return "\n".join(
            f"### [{number}] {_code_span(location(citation))}{_titles(citation, ' ')}\n\n"
            f"{fence}\n{_closed(citation.text)}{fence}\n"
            for number, citation in enumerate(context.citations, start=1)
        )


def location(citation: Citation) -> str:
    """``docs/a.md:3-9``, or ``docs/a.md:3`` for one line; what is not printable is escaped."""
    start, end = citation.lines
    return f"{_printable(citation.path)}:{start}" + (f"-{end}" if end != start else "")


def _titles(citation: Citation, before: str) -> str:
    titles = " > ".join(_printable(" ".join(title.split())) for title in citation.headings)
    return before + titles if titles else ""


def _length(character: str, citations: Iterable[Citation], *, at_least: int) -> int:
    shown = (text for citation in citations for text in (citation.text, *_line_of(citation)))
    runs = (len(run) for text in shown for run in re.findall(f"{re.escape(character)}+", text))
    return max(at_least, 1 + max(runs, default=0))


def _line_of(citation: Citation) -> Iterable[str]:
    # Paths and titles come from the files, too.
    return (citation.path, *citation.headings)


def _closed(text: str) -> str:
    """The text, ended by a line feed so that the delimiter begins a line."""
    return text if text.endswith("\n") else text + "\n"


def _printable(text: str) -> str:
    """One line: control characters, line separators and lone surrogates become escapes."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _code_span(text: str) -> str:
    """The text as inline code, between more backticks than it has in a row."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"

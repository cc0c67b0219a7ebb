"""Passages between delimiters that they cannot contain.

A passage is shown letter for letter, so nothing in it is escaped: the delimiter grows instead, to
one character more than the longest run of its character in any passage.
"""

from __future__ import annotations

import re

from ragloom import Context
from ragloom.context import (
    closed,
    location,
    longest_run,
    shown_titles,
    titles_line,
    truncation_note,
)


class MarkdownFormatter:
    """A heading with the source, then the passage in a fenced code block."""

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; empty for no citations."""
        citations = context.citations
        fence = "`" * max(3, 1 + longest_run("`", citations))
        return "\n".join(
            f"### [{number}] {_code_span(location(citation))}{truncation_note(citation)}"
            f"{' ' if titles else ''}{titles_line(titles)}\n\n{fence}\n{closed(citation.text)}{fence}\n"
            for number, (citation, titles) in enumerate(
                zip(citations, shown_titles(citations), strict=True), start=1
            )
        )


def _code_span(text: str) -> str:
    """The text as inline code, between more backticks than it has in a row."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}"

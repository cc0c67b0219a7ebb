"""HTML to Markdown: what is text stays text."""

from __future__ import annotations

import re

from markdownify import MarkdownConverter

_BEGINS_BLOCK = re.compile(
    r"^([ \t]*)(?=#{1,6}(?:\s|$)|>|`{3}|~{3}|(?:=+|-+)[ \t]*$|<[a-zA-Z/!?])", re.MULTILINE
)
"""Text that would begin a heading, a quote, a fence or HTML in Markdown."""


class Converter(MarkdownConverter):
    """markdownify, with text escaped where it would begin a block, and as it is elsewhere."""

    def __init__(self) -> None:
        super().__init__(
            heading_style="ATX", bullets="-", escape_asterisks=False, escape_underscores=False
        )

    def escape(self, text: str | None, *_parents: object) -> str:
        """Escape text of an element that is no code."""
        return _BEGINS_BLOCK.sub(r"\1\\", text or "")

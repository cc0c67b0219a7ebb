"""A marked section of a Markdown file; all outside of it stays as it is."""

from __future__ import annotations

import re

BEGIN, END = "<!-- ragloom:begin -->", "<!-- ragloom:end -->"
_SECTION = re.compile(rf"{re.escape(BEGIN)}.*?{re.escape(END)}(?:\r?\n)?", re.DOTALL)


def put(text: str, content: str) -> str:
    """``text`` with the section, instead of the one that it has, or at its end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    section = f"{BEGIN}\n{content.strip()}\n{END}\n".replace("\n", newline)
    if _SECTION.search(text):
        return _SECTION.sub(lambda _found: section, text, count=1)
    ended = text if not text or text.endswith("\n") else text + newline
    return ended + (newline if ended.strip() else "") + section


def drop(text: str) -> str:
    """``text`` without the section."""
    return _SECTION.sub("", text, count=1)

"""What flavours of Markdown add to CommonMark: titles without their markup, and the links of a note.

Quarto, R Markdown and kramdown write ``## Title {#id .class}``, MDX ``{/* #id */}``, MyST roles, and
Obsidian wikilinks and block ids. Their directives and callouts are fences and quotes to CommonMark, whose
text is searched as it stands.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragloom_markdown.blocks import Parsed

_TITLES = (
    (re.compile(r"(?<!\s)\s*+\{(?:[#.:/=%\-][^{}]*+|[\w-]++=[^{}]*+)\}\s*+\Z"), ""),  # attributes
    (re.compile(r"\{[\w:+-]+\}(`+)(.+?)\1"), r"\2"),  # MyST: roles
    (re.compile(r"(?<!\s)\s++\^[\w-]++\Z"), ""),  # Obsidian: block ids
    (re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]"), r"\1"),  # Obsidian: wikilinks, embeds
    (re.compile(r"\[([^\[\]]+)\]\{[^{}]*\}"), r"\1"),  # Pandoc: spans
    (re.compile(r"`\{[.#][^{}]*\}"), "`"),  # and code with attributes
)
_CODE = re.compile(
    r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1|\Z)|(?<!`)(`+)(?!`).{1,500}?(?<!`)\2(?!`)",
    re.MULTILINE | re.DOTALL,
)
_WIKILINK = re.compile(r"!?\[\[([^\[\]|#^\r\n]+)(?:[#^|][^\[\]\r\n]*)?\]\]")
_MOST_LINKS = 200


def with_plain_titles(parsed: Parsed) -> Parsed:
    """The same blocks, with the titles of headings as they are shown."""
    blocks = [
        replace(block, title=plain_title(block.title)) if block.kind == "heading" else block
        for block in parsed.blocks
    ]
    return replace(parsed, blocks=blocks)


def plain_title(title: str) -> str:
    """A title as it is written, without attributes, roles, block ids and the brackets of links to notes."""
    if not any(mark in title for mark in "{[^"):
        return title
    plain = title
    for pattern, shown in _TITLES:
        plain = pattern.sub(shown, plain)
    return plain.strip() or title


def linked_notes(text: str) -> list[str]:
    """The notes that wikilinks and embeds outside of code name, each once, in their order."""
    if "[[" not in text:
        return []
    found = dict.fromkeys(match[1].strip() for match in _WIKILINK.finditer(_CODE.sub("", text)))
    return [name for name in found if name][:_MOST_LINKS]

"""Org: its headlines, and what its keywords say of the file."""

from __future__ import annotations

import re
from dataclasses import replace

from ragloom import Document, Json, Section, Source, Span
from ragloom.text import read_document
from ragloom_text.lines import lines_of, without_markup

# https://orgmode.org/worg/org-syntax.html#Headings
_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)")
_TODO = re.compile(r"(?i)#\+(?:SEQ_|TYP_)?TODO:[ \t]*(.*)")
_KEYWORD = re.compile(r"(?i)#\+(TITLE|SUBTITLE|AUTHOR|DATE|DESCRIPTION|LANGUAGE):[ \t]*(\S.*)")
_TAGS_KEYWORD = re.compile(r"(?i)#\+(FILETAGS|KEYWORDS|CATEGORY):[ \t]*(\S.*)")
_TAGS = re.compile(r"(?<![ \t])[ \t]++:(?:[\w@#%]++:)++\Z")
_PRIORITY = re.compile(r"\A\[#[A-Za-z0-9]\d?\][ \t]*")
_NAME = re.compile(r"([^\s(|]+)(?:\([^)]*\))?")
_MARKUP = (
    (re.compile(r"\[\[[^\[\]]+\]\[([^\[\]]+)\]\]"), r"\1"),
    (re.compile(r"\[\[([^\[\]]+)\]\]"), r"\1"),
    (re.compile(r"(?<!\w)([*/_=~+])(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
)


class OrgLoader:
    """Reads Org, markup and all."""

    suffixes = frozenset({".org"})
    fingerprint = "org-1"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`, with the headlines; title, author and tags are metadata."""
        document = read_document(source, content, media_type="text/x-org")
        return replace(
            document, sections=headlines(document.text), metadata=_metadata(document.text)
        )


def headlines(text: str) -> tuple[Section, ...]:
    """The headlines of Org that have a title, without their state, priority and tags."""
    lines = lines_of(text)
    states = {"TODO", "DONE"}
    for line in lines:
        if todo := _TODO.fullmatch(line.text):
            states.update(_NAME.findall(todo[1]))
    found: list[Section] = []
    for line in lines:
        match = _HEADLINE.fullmatch(line.text)
        if match is not None and (title := _title(match[2], states)):
            span = Span(line.start, line.end)
            found.append(Section(span=span, level=len(match[1]), title=title))
    return tuple(found)


def _title(written: str, states: set[str]) -> str:
    title = _TAGS.sub("", f" {written}").strip()
    first, _, rest = title.partition(" ")
    title = _PRIORITY.sub("", rest.strip() if first in states else title)
    return without_markup(title, _MARKUP)


def _metadata(text: str) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for line in lines_of(text):
        if match := _KEYWORD.fullmatch(line.text):
            found.setdefault(match[1].lower(), match[2])
        elif match := _TAGS_KEYWORD.fullmatch(line.text):
            name = {"filetags": "tags"}.get(match[1].lower(), match[1].lower())
            words = [word for word in re.split(r"[:,\s]+", match[2]) if word]
            found.setdefault(name, words if name != "category" else match[2])
    return found

"""What a template says of itself: fields with defaults, from front matter or from where it lies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from ragloom import Json, Metadata, SourceError
from ragloom.text import FrontMatter, split_front_matter
from ragloom_templates.patterns import PatternDescriptions
from ragloom_templates.skeleton import TO_BE_WRITTEN
from ragloom_templates.types import COMPLEXITY, DOMAIN, METHODOLOGY

SKILL_FILE = "SKILL.md"
PATTERN_FILE = "system.md"
_ENDING = ".md"
_LONGEST = 1_000_000
_KIND_ENDINGS = (".prompt", ".agent", ".instructions", ".chatmode")
_DEFAULTS = {"domain": DOMAIN, "complexity": COMPLEXITY, "methodology": METHODOLOGY}
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)")
_HEADING_LINES = re.compile(r"(?:[ \t]{0,3}#{1,6}(?:[ \t][^\r\n]*)?(?:\r\n|\n|\r|\Z)\s*)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A template's fields, and where its content begins.

    Attributes:
        metadata: The front matter, with ``name``, ``domain``, ``complexity``, ``methodology`` and
            ``description`` as strings and ``keywords`` as a list of strings.
        start: Characters of the front matter.
        front_matter: What was read; None where there is none.
    """

    metadata: Metadata
    start: int
    front_matter: FrontMatter | None


def parse(
    text: str, path: PurePosixPath, descriptions: PatternDescriptions | None = None
) -> Parsed:
    """Read a template's decoded file.

    Args:
        text: All of it.
        path: Where it lies; its name, or its folder's, is the name of a template that gives none.
        descriptions: Of patterns, which hardly ever have front matter.

    Raises:
        SourceError: The front matter cannot be read, or there is nothing below it.
    """
    if len(text) > _LONGEST:
        raise SourceError(
            f"{len(text):,} characters are more than {_LONGEST:,}, the maximum of a template"
        )
    front_matter = split_front_matter(text, strict=True)
    given = {} if front_matter is None else front_matter.fields
    start = 0 if front_matter is None else front_matter.length
    if not text[start:].strip():
        raise SourceError("it has no content" + (" below its front matter" if start else ""))
    description = _text(given.get("description"))
    if description == TO_BE_WRITTEN:
        description = ""
    keywords = _keywords(given.get("keywords"))
    if not description and path.name == PATTERN_FILE:
        described = descriptions.get(path.parent.name) if descriptions else None
        description = described.description if described else first_paragraph(text[start:])
        keywords = keywords or (list(described.tags) if described else [])
    metadata: dict[str, Json] = dict(given)
    metadata |= {field: _text(given.get(field)) or value for field, value in _DEFAULTS.items()}
    metadata["name"] = _text(given.get("name")) or _name(path)
    metadata["description"] = description
    metadata["keywords"] = keywords
    return Parsed(metadata=metadata, start=start, front_matter=front_matter)


def path_without_ending(path: PurePosixPath) -> PurePosixPath:
    """What names a template: its path without ``.md``, or the folder of a skill or a pattern."""
    if path.name in (SKILL_FILE, PATTERN_FILE):
        return path.parent
    return path.with_name(path.name.removesuffix(_ENDING))


def first_paragraph(text: str) -> str:
    """The first lines that are neither blank nor a heading, on one line."""
    rest = text.lstrip()
    while heading := _HEADING_LINES.match(rest):
        rest = rest[heading.end() :].lstrip()
    return " ".join(_BLANK_LINE.split(rest, maxsplit=1)[0].split())


def _name(path: PurePosixPath) -> str:
    name = path_without_ending(path).name
    for ending in _KIND_ENDINGS:
        name = name.removesuffix(ending)
    return name or path.name


def _text(value: Json) -> str:
    """A field as one line of text, whatever was written there."""
    if value is None or isinstance(value, Mapping):
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(filter(None, map(_text, value)))
    return " ".join(str(value).split())


def _keywords(value: Json) -> list[Json]:
    """A comma string, a list, null or a number as a list of strings."""
    if isinstance(value, str):
        return [part for part in map(str.strip, value.split(",")) if part]
    if isinstance(value, Sequence):
        return [text for text in map(_text, value) if text]
    return [text] if (text := _text(value)) else []

"""Where a file's front matter ends."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ragloom import Json, Metadata
from ragloom_markdown.safe_yaml import UnreadableYamlError, read_mapping, read_scalar

__all__ = ["FrontMatter", "split_front_matter"]

_END = r"[ \t]*(?:\r\n|\n|\r|\Z)"
_OPEN = re.compile(rf"---{_END}")
_CLOSE = re.compile(rf"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.){_END}")
_BLANK_LAST_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)\Z")
_KEY = r"[^\s#:\-\[\]{}>|*&!%@`'\",?][^:\r\n]*"
_FIRST_KEY = re.compile(rf"(?:[ \t]*+(?:#[^\r\n]*+)?[\r\n])*+['\"]?{_KEY}:(?:\s|\Z)")
_KEY_LINE = re.compile(rf"^({_KEY}):[ \t]++([^\r\n]*+)", re.MULTILINE)
_LISTS = frozenset({"keywords", "tags"})


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What stands before a document's text.

    Attributes:
        length: Characters up to and including the closing line.
        metadata: Typed values, all of which JSON can hold.
        warnings: What could not be read, a line each.
    """

    length: int
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def split_front_matter(text: str) -> FrontMatter | None:
    """Read the front matter of a decoded file; None where there is none and all is text.

    It begins with ``---`` in the first line, and ends with the next line that is ``---`` or ``...``
    without indentation: one inside a block scalar is indented. It has to be a mapping, or empty. Blank
    lines inside both ends make it two thematic breaks with text between them (compare Pandoc's
    ``yaml_metadata_block``). A block that YAML cannot read, but that begins like a mapping, is still
    front matter: of it only lines such as ``key: value`` are kept, and a warning says so.

    ``keywords`` and ``tags`` always become lists: ``a, b`` is two, and an empty value is none.
    """
    opening = _OPEN.match(text)
    if opening is None:
        return None
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        return None
    block = text[opening.end() : closing.start()]
    if block[:1] in "\r\n" and block.strip() and _BLANK_LAST_LINE.search(block) is not None:
        return None
    length = closing.end()
    try:
        mapping, warnings = read_mapping(block)
    except UnreadableYamlError as error:
        if _FIRST_KEY.match(block) is None:
            return None
        warning = f"front matter: {error}; only its simple lines were read"
        metadata = _with_lists(_simple_lines(block))
        return FrontMatter(length=length, metadata=metadata, warnings=(warning,))
    if mapping is None:
        return None
    return FrontMatter(
        length=length,
        metadata=_with_lists(mapping),
        warnings=tuple(f"front matter: {warning}" for warning in warnings),
    )


def _simple_lines(block: str) -> Mapping[str, Json]:
    """Every ``key: value`` line of a block that YAML cannot read as a whole."""
    return {
        match[1].strip(): read_scalar(match[2].rstrip(" \t"))
        for match in _KEY_LINE.finditer(block)
        if match[2][:1] not in {"!", "&", "*", "|", ">", "{", "["}
    }


def _with_lists(mapping: Mapping[str, Json]) -> Mapping[str, Json]:
    return {
        key: _as_list(value) if key.lower() in _LISTS else value for key, value in mapping.items()
    }


def _as_list(value: Json) -> Json:
    """``a, b`` as a list; a list as it is; one value as a list of one."""
    if value is None:
        return []
    if isinstance(value, str):
        return [part for part in map(str.strip, value.split(",")) if part]
    if isinstance(value, list | tuple):
        return [part for part in value if part is not None]
    return [value]

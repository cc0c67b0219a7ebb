"""Front matter: the YAML mapping, TOML or JSON in the first lines of a file that nobody vouches for.

Values are read from YAML's nodes without its constructors: nothing can be executed, and no alias can
grow without bound. Scalars follow the core schema of YAML 1.2
(https://yaml.org/spec/1.2.2/#103-core-schema) instead of 1.1's: ``yes`` and ``no`` are text, so that
``country: no`` is Norway, and ``12:30`` is text, too. Dates become ISO text, which sorts as time does.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, cast

from ragloom.config.yaml_file import compose, safe_loader
from ragloom.errors import SourceError
from ragloom.text.json_fields import json_fields
from ragloom.text.toml_fields import toml_fields
from ragloom.types import Json

if TYPE_CHECKING:
    from yaml import MappingNode, Node, SafeLoader

_END = r"[ \t]*(?:\r\n|\n|\r|\Z)"
_OPEN = re.compile(rf"---{_END}")
_CLOSE = re.compile(rf"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.){_END}")
_TOML_OPEN = re.compile(rf"\+\+\+{_END}")
_TOML_CLOSE = re.compile(rf"(?:(?<=\n)|(?<=\r))\+\+\+{_END}")
_BLANK_LINE = re.compile(r"[ \t]*[\r\n]")
_KEY = r"[^\s#:\-\[\]{}>|*&!%@`'\",?][^:\r\n]*"
_FIRST_KEY = re.compile(rf"(?:[ \t]*+(?:#[^\r\n]*+)?[\r\n])*+['\"]?{_KEY}:(?:\s|\Z)")
_KEY_LINE = re.compile(rf"^({_KEY}):[ \t]++([^\r\n]*+)", re.MULTILINE)
_LINE_END = re.compile(r"\r\n|\n|\r")
_FIRST = 2  # the line of a block's first line, since "---" stands before it
_LONGEST = 200_000  # characters, which take YAML up to a second
_ENTRY = re.compile(rf"^(?:['\"]?{_KEY}:(?=\s|\Z)|[^\s#:\-\]}}])", re.MULTILINE)
"""Where an entry of the outermost mapping may begin: a line without indentation that goes nothing on."""
_MOST_ENTRIES = 500  # that are read one by one; each costs YAML a start
_NAMED = 3  # lines that a warning names
_LISTS = frozenset({"alias", "aliases", "keywords", "tags"})

_PLAIN = "?"  # the tag of a scalar that has neither a tag nor quotes
_CORE = "tag:yaml.org,2002:"
_STRING = f"{_CORE}str"
_TAGS = frozenset(
    _CORE + name
    for name in (
        *("str", "int", "float", "bool", "null", "timestamp", "binary"),
        *("seq", "map", "set", "omap", "pairs", "merge"),
    )
) | {_PLAIN}
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_OTHER_BASE = re.compile(r"0o[0-7]{1,400}|0x[0-9a-fA-F]{1,400}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(  # https://yaml.org/type/timestamp.html
    r"""(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)
    (?:(?:[Tt]|[ \t]+)(?P<hour>\d\d?):(?P<minute>\d\d):(?P<second>\d\d)(?:\.(?P<fraction>\d*))?
    (?:[ \t]*(?P<zone>Z|[-+]\d\d?(?::?\d\d)?))?)?""",
    re.VERBOSE,
)


class FrontMatterError(SourceError):
    """Front matter that cannot be read.

    Attributes:
        problem: What is wrong.
        line: Where, 1-based.
    """

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"front matter, line {line}: {problem}")
        self.problem = problem
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What stands before a document's text.

    Attributes:
        length: Characters up to and including the closing line.
        fields: Values that JSON can hold.
        lines: The line of every key of the outermost mapping, 1-based.
        plain: Those of these keys whose value is a scalar without quotes or tag.
        repeated: Keys that are given twice; the last counts.
        warnings: What could not be read, a line each.
    """

    length: int
    fields: Mapping[str, Json] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    repeated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def split_front_matter(text: str, *, strict: bool = False) -> FrontMatter | None:
    """Read the front matter of a decoded file; None where there is none and all is text.

    It begins with ``---`` in the first line, and ends with the next line that is ``---`` or ``...``
    without indentation: one inside a block scalar is indented. It has to be a mapping, or empty. Where a
    blank line follows the first, that is a thematic break and all is text (as in Pandoc's
    ``yaml_metadata_block``). Of a block that YAML cannot read, but that begins like a mapping, each entry
    is read by itself: what is wrong with one loses no other, and ``key: value`` is text where its value is
    no YAML, such as ``{{title}}``. A warning names the lines. ``keywords``, ``tags`` and ``aliases`` become
    lists: ``a, b`` is two, and an empty value is none. Unless strict, it may also be TOML between two lines
    ``+++``, or JSON: between two lines ``;;;``, or an object that begins the file.

    Args:
        text: The file.
        strict: Every value but null is text as it is written, so that a version 1.10 stays ``1.10``,
            and front matter that cannot be read is an error.

    Raises:
        FrontMatterError: Only if strict: it begins like a mapping and is none, or is never closed.
    """
    opening = _OPEN.match(text)
    if opening is None:
        return None if strict else _toml(text) or _json(text)
    closing = _CLOSE.search(text, opening.end())
    block = text[opening.end() : closing.start() if closing else None]
    meant = _FIRST_KEY.match(block) is not None
    if closing is None:
        if strict and meant:
            raise FrontMatterError("it is never closed by a line '---'", 1)
        return None
    if not strict and _BLANK_LINE.match(block):
        return None
    reader = _Reader(typed=not strict)
    try:
        fields = reader.root(block)
    except FrontMatterError as error:
        if strict:
            raise
        if not meant:
            return None
        fields, warning = _entries(block, error)
        length = closing.end()
        return FrontMatter(length=length, fields=_with_lists(fields), warnings=(warning,))
    if fields is None:
        return None
    return FrontMatter(
        length=closing.end(),
        fields=fields if strict else _with_lists(fields),
        lines=reader.lines,
        plain=frozenset(reader.plain),
        repeated=tuple(reader.repeated),
        warnings=tuple(f"front matter: {warning}" for warning in reader.warnings),
    )


def _toml(text: str) -> FrontMatter | None:
    """Front matter in TOML, between two lines ``+++`` (https://gohugo.io/content-management/front-matter/)."""
    opening = _TOML_OPEN.match(text)
    closing = opening and _TOML_CLOSE.search(text, opening.end())
    if opening is None or closing is None:
        return None
    block = _LINE_END.sub("\n", text[opening.end() : closing.start()])
    try:
        return FrontMatter(length=closing.end(), fields=_with_lists(toml_fields(block)))
    except ValueError as error:
        fields, lost = {}, []
        for number, line in enumerate(block.split("\n"), _FIRST):
            try:
                fields.update(toml_fields(line))
            except ValueError:
                lost.append(number)
        named = ", ".join(map(str, lost[:_NAMED])) or "none alone"
        warning = f"front matter: {error}; lines that are not read: {named}"
    return FrontMatter(length=closing.end(), fields=_with_lists(fields), warnings=(warning,))


def _json(text: str) -> FrontMatter | None:
    found = json_fields(text)
    if found is None:
        return None
    warnings = (found.problem,) if found.problem else ()
    return FrontMatter(length=found.length, fields=_with_lists(found.fields), warnings=warnings)


def _entries(block: str, error: FrontMatterError) -> tuple[dict[str, Json], str]:
    """What can be read of a block that YAML cannot read as a whole, and a warning about the rest."""
    block = _LINE_END.sub("\n", block)
    starts = [match.start() for match in _ENTRY.finditer(block)]
    if len(block) > _LONGEST or len(starts) > _MOST_ENTRIES:
        problem = f"{error.problem} in line {error.line}"
        return dict(
            _simple_lines(block)
        ), f"front matter: {problem}; only its simple lines were read"
    fields: dict[str, Json] = {}
    lost: list[str] = []
    for start, end in zip(starts, [*starts[1:], len(block)], strict=True):
        entry = block[start:end]
        line = block.count("\n", 0, start) + _FIRST
        reader = _Reader(typed=True)
        try:
            found = reader.root(entry)
        except FrontMatterError as wrong:
            lines = entry.rstrip().split("\n")
            found = dict(_simple_lines(lines[0]))
            kept = "read as text" if found and len(lines) == 1 else "skipped"
            place = min(line + wrong.line - _FIRST, line + len(lines) - 1)
            lost.append(f"line {place}: {wrong.problem} ({kept})")
        if found is None:
            lost.append(f"line {line}: no 'key: value' (skipped)")
        fields.update(found or {})
    if len(lost) > _NAMED:
        lost[_NAMED:] = [f"and {len(lost) - _NAMED} more lines"]
    return fields, f"front matter: {'; '.join(lost or [f'line {error.line}: {error.problem}'])}"


def _simple_lines(block: str) -> Mapping[str, Json]:
    """Every ``key: value`` line of a block that YAML cannot read as a whole."""
    return {
        match[1].strip(): _line_value(match[2].rstrip(" \t"))
        for match in _KEY_LINE.finditer(block)
        if match[2][:1] not in {"!", "&", "*", "|", ">", "{", "["} or match[2].startswith("{{")
    }


def _line_value(text: str) -> Json:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else _resolve(text)


def _with_lists(mapping: Mapping[str, Json]) -> Mapping[str, Json]:
    return {
        key: _as_list(value) if key.lower() in _LISTS else value for key, value in mapping.items()
    }


def _as_list(value: Json) -> Json:
    if value is None:
        return []
    if isinstance(value, str):
        return [word for word in map(str.strip, value.split(",")) if word]
    if isinstance(value, list | tuple):
        return [item for item in value if item is not None]
    return [value]


@cache
def _loader() -> type[SafeLoader]:
    import yaml

    class Loader(safe_loader()):  # type: ignore[misc]
        """Leaves plain scalars without the tags of YAML 1.1."""

        def resolve(self, kind: type[Node], value: str, implicit: tuple[bool, bool]) -> str:
            if kind is yaml.ScalarNode and implicit[0]:
                return _PLAIN
            return cast("str", super().resolve(kind, value, implicit))

    return Loader


class _Refused:
    """Stands for a value that its tag forbids to read."""


class _Reader:
    """Turns nodes into values."""

    def __init__(self, *, typed: bool) -> None:
        self.lines: dict[str, int] = {}
        self.plain: list[str] = []
        self.repeated: list[str] = []
        self.warnings: list[str] = []
        self._typed = typed

    def root(self, block: str) -> dict[str, Json] | None:
        """The mapping that ``block`` is, empty for nothing but comments; None for anything else."""
        import yaml

        if len(block) > _LONGEST:
            raise FrontMatterError(f"more than {_LONGEST:,} characters", 2)
        try:
            node = compose(block, loader=_loader())
        except yaml.YAMLError as error:
            problem = getattr(error, "problem", None) or getattr(error, "reason", None)
            mark = getattr(error, "problem_mark", None)
            # The block's first line is the file's second.
            line = 2 if mark is None else mark.line + 2
            if not self._typed and _FIRST_KEY.match(block) is None:
                return None
            raise FrontMatterError(problem or "not YAML", line) from error
        if node is None:
            return {}
        value = self._value(node)
        if not isinstance(node, yaml.MappingNode) or not isinstance(value, dict):
            return None
        self.lines = {key.value: _line(key) for key, _ in node.value}
        self.plain = [key.value for key, inner in node.value if inner.tag == _PLAIN]
        return value

    def _value(self, node: Node) -> Json | _Refused:
        from yaml import MappingNode, ScalarNode, SequenceNode

        if self._typed and node.tag not in _TAGS:
            tag = node.tag.replace(_CORE, "!!")
            self.warnings.append(f"the value tagged {tag} is skipped")
            return _Refused()
        if isinstance(node, MappingNode):
            return self._mapping(node)
        if isinstance(node, SequenceNode):
            values = map(self._value, node.value)
            return [value for value in values if not isinstance(value, _Refused)]
        if self._typed and isinstance(node, ScalarNode) and not node.style and node.tag != _STRING:
            return _resolve(node.value)
        if not self._typed and node.tag in (_PLAIN, _CORE + "null") and node.value in _NULL:
            return None
        return str(node.value)

    def _mapping(self, node: MappingNode) -> dict[str, Json]:
        from yaml import ScalarNode

        merged: dict[str, Json] = {}
        values: dict[str, Json] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise FrontMatterError("a key is not plain text", _line(key_node))
            key, value = key_node.value, self._value(value_node)
            if self._typed and key == "<<" and not key_node.style:
                for source in value if isinstance(value, list) else [value]:
                    if not isinstance(source, dict):
                        problem = "<< merges something that is not a mapping"
                        raise FrontMatterError(problem, _line(key_node))
                    merged = {**source, **merged}
                continue
            if key in values:
                self.repeated.append(key)
                self.warnings.append(f"{key!r} is given twice; the last counts")
            if isinstance(value, _Refused):
                values.pop(key, None)
            else:
                values[key] = value
        return merged | values


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 2


def _resolve(text: str) -> Json:
    """The value of a plain scalar."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) else text
    match = _DATE.fullmatch(text)
    return text if match is None else _iso(match)


def _iso(match: re.Match[str]) -> str:
    """A date or a time in ISO form; as written where the calendar has no such day."""
    given = match.groupdict()
    try:
        day = dt.date(int(given["year"]), int(given["month"]), int(given["day"]))
        if given["hour"] is None:
            return day.isoformat()
        clock = dt.time(int(given["hour"]), int(given["minute"]), int(given["second"]))
    except ValueError:
        return match[0]
    fraction = f".{given['fraction']}" if given["fraction"] else ""
    return f"{day.isoformat()}T{clock.isoformat()}{fraction}{_zone(given['zone'])}"


def _zone(zone: str | None) -> str:
    if zone is None:
        return ""
    if zone == "Z":
        return "+00:00"
    digits = zone[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "00")  # noqa: PLR2004
    return f"{zone[0]}{int(hours):02}:{minutes}"

"""One YAML mapping from a file that nobody vouches for, as values that JSON can hold.

The values are built from PyYAML's parse events, without its constructors: nothing can be executed, no
alias can grow without bound, and every scalar follows the core schema of YAML 1.2
(https://yaml.org/spec/1.2.2/#103-core-schema) instead of 1.1's: ``yes`` and ``no`` are text, so that
``country: no`` is Norway, and ``12:30`` is text, too. Dates become ISO text, which sorts as time does.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from ragloom import Json

__all__ = ["UnreadableYamlError", "read_mapping", "read_scalar"]

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_NODES = 10_000
_MOST_DEPTH = 50

_CORE = "tag:yaml.org,2002:"
_TAGS = frozenset(
    _CORE + name
    for name in (
        *("str", "int", "float", "bool", "null", "timestamp", "binary"),
        *("seq", "map", "set", "omap", "pairs", "merge"),
    )
)
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


class UnreadableYamlError(Exception):
    """The text is no YAML, or is larger inside than any front matter."""


class _Refused:
    """Stands for a value that a tag forbids to read."""


_REFUSED = _Refused()
_Value = Json | _Refused


@dataclass(slots=True)
class _Open:
    """A mapping or sequence that is not yet closed."""

    mapping: bool
    anchor: str | None
    refused: bool
    size: int = 1
    key: str | None = None
    merging: bool = False
    merged: dict[str, Json] = field(default_factory=dict)
    items: list[Json] = field(default_factory=list)
    values: dict[str, Json] = field(default_factory=dict)

    def result(self) -> _Value:
        if self.refused:
            return _REFUSED
        return {**self.merged, **self.values} if self.mapping else self.items


def read_mapping(text: str) -> tuple[Mapping[str, Json] | None, list[str]]:
    """The mapping that ``text`` is, and warnings about it.

    None for anything else than a mapping; an empty mapping for nothing but blanks and comments.

    Raises:
        UnreadableYamlError: It is not YAML, or has more than 10,000 values or 50 levels.
    """
    try:
        return _Builder().build(text)
    except yaml.YAMLError as error:
        raise UnreadableYamlError(_reason(error)) from error


def read_scalar(text: str) -> Json:
    """One scalar as it stands in a line; quotes around it are taken off."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else _resolve(text)


def _reason(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    mark = getattr(error, "problem_mark", None)
    # The block's first line is the file's second.
    return f"{problem} in line {mark.line + 2}" if mark is not None else str(problem)


class _Builder:
    """Builds one document from parse events."""

    def __init__(self) -> None:
        self._stack: list[_Open] = []
        self._anchors: dict[str, tuple[_Value, int]] = {}
        self._warnings: list[str] = []
        self._root: _Value = {}

    def build(self, text: str) -> tuple[Mapping[str, Json] | None, list[str]]:
        for event in _events(text):
            if isinstance(event, yaml.AliasEvent):
                if event.anchor not in self._anchors:
                    raise UnreadableYamlError(f"alias *{event.anchor} refers to nothing before it")
                self._add(*self._anchors[event.anchor], key=None)
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                if len(self._stack) >= _MOST_DEPTH:
                    raise UnreadableYamlError(f"more than {_MOST_DEPTH} levels")
                mapping = isinstance(event, yaml.MappingStartEvent)
                refused = self._refuses(event.tag)
                self._stack.append(_Open(mapping=mapping, anchor=event.anchor, refused=refused))
            elif isinstance(event, yaml.CollectionEndEvent):
                done = self._stack.pop()
                self._remember(done.anchor, done.result(), done.size)
                self._add(done.result(), done.size, key=None)
        root = self._root
        return (root if isinstance(root, Mapping) else None), self._warnings

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        value: _Value = event.value
        tag = event.tag
        if self._refuses(tag):
            value = _REFUSED
        elif not event.style and tag != _CORE + "str":
            value = _resolve(event.value)
        self._remember(event.anchor, value, 1)
        self._add(value, 1, key=event.value, plain=not event.style)

    def _refuses(self, tag: str | None) -> bool:
        if tag is None or tag == "!" or tag in _TAGS:
            return False
        self._warnings.append(f"the value tagged {tag.replace(_CORE, '!!')} is left out")
        return True

    def _remember(self, anchor: str | None, value: _Value, size: int) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, size)

    def _add(self, value: _Value, size: int, *, key: str | None, plain: bool = False) -> None:
        """Put a finished value where it belongs; ``key`` is its text if it can be a key."""
        if not self._stack:
            self._root = value
            return
        parent = self._stack[-1]
        parent.size += size
        if parent.size > _MOST_NODES:
            raise UnreadableYamlError(f"more than {_MOST_NODES} values, aliases included")
        if not parent.mapping:
            if not isinstance(value, _Refused):
                parent.items.append(value)
        elif parent.key is None:
            if key is None:
                key = _alias_key(value)
            parent.merging = plain and key == "<<"
            parent.key = key
        else:
            self._set(parent, parent.key, value)
            parent.key = None

    def _set(self, parent: _Open, key: str, value: _Value) -> None:
        if parent.merging:
            for source in value if isinstance(value, list) else [value]:
                if not isinstance(source, Mapping):
                    raise UnreadableYamlError("<< merges something that is not a mapping")
                parent.merged = {**source, **parent.merged}
            return
        if key in parent.values:
            self._warnings.append(f"{key!r} is given twice; the last counts")
        if isinstance(value, _Refused):
            parent.values.pop(key, None)
        else:
            parent.values[key] = value


def _alias_key(value: _Value) -> str:
    if isinstance(value, str):
        return value
    raise UnreadableYamlError("a key is not plain text")


def _events(text: str) -> Iterator[yaml.Event]:
    """The events of the one document in ``text``."""
    documents = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise UnreadableYamlError("more than one document")
        yield event


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
    part = match.groupdict()
    try:
        day = dt.date(int(part["year"]), int(part["month"]), int(part["day"]))
        if part["hour"] is None:
            return day.isoformat()
        clock = dt.time(int(part["hour"]), int(part["minute"]), int(part["second"]))
    except ValueError:
        return match[0]
    fraction = f".{part['fraction']}" if part["fraction"] else ""
    return f"{day.isoformat()}T{clock.isoformat()}{fraction}{_zone(part['zone'])}"


def _zone(zone: str | None) -> str:
    if zone is None:
        return ""
    if zone == "Z":
        return "+00:00"
    digits = zone[1:].replace(":", "")
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "00")  # noqa: PLR2004
    return f"{zone[0]}{int(hours):02}:{minutes}"

"""Change one member of a JSON file that people write: comments, trailing commas and order stay.

Nothing but the member's own text is touched. JSON with comments is what VS Code, OpenCode and others read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ragloom import Json

_SPACE = re.compile(r"(?:\ufeff|\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"[-+.\w]+")
_REST_OF_LINE = re.compile(r"[^\S\n]*(?:(?://[^\n]*|/\*[^\n]*?\*/)[^\S\n]*)*(?=\n|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Member:
    key: str
    start: int
    value: _Value
    comma: int  # behind the comma that follows, or -1

    @property
    def end(self) -> int:
        return self.value.end


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    start: int
    end: int
    members: Sequence[_Member] | None = None  # of an object
    plain: Json = field(default=None)


def read(text: str) -> Json:
    """What the file says.

    Raises:
        ValueError: It is not JSON, even with comments; the line is named.
    """
    if not text[_SPACE.match(text).end() :]:  # type: ignore[union-attr]  # it matches nothing, too
        return {}
    return _parse(text).plain


def put(text: str, path: Sequence[str], value: Json) -> str:
    """``text`` with a member of that path, instead of the one that it has.

    Args:
        text: Of the file; blank for a new one.
        path: The keys, outermost first; objects that are missing are written.
        value: Of the member.

    Raises:
        ValueError: The file is not JSON, or a key of the path has no object.
    """
    if not text.strip("\ufeff \t\r\n"):
        for key in reversed(path):
            value = {key: value}
        return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    found = _parse(text)
    for depth, key in enumerate(path):
        members = _members(found, path[:depth])
        held = next((member for member in members if member.key == key), None)
        if held is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _add(text, found, key, value)
        found = held.value
    return text[: found.start] + _written(text, found.start, value) + text[found.end :]


def drop(text: str, path: Sequence[str]) -> str:
    """``text`` without the member of that path; as it is where it has none.

    Raises:
        ValueError: The file is not JSON, or a key of the path has no object.
    """
    found = _parse(text)
    for depth, key in enumerate(path):
        members = _members(found, path[:depth])
        held = next((member for member in members if member.key == key), None)
        if held is None:
            return text
        if depth == len(path) - 1:
            return _without(text, members, held)
        found = held.value
    return text


def _members(value: _Value, path: Sequence[str]) -> Sequence[_Member]:
    if value.members is None:
        raise ValueError(f"{'.'.join(path) or 'the file'} is not an object")
    return value.members


def _add(text: str, parent: _Value, key: str, value: Json) -> str:
    members = parent.members or ()
    newline = "\r\n" if "\r\n" in text else "\n"
    if not members:
        inner = text[parent.start + 1 : parent.end - 1]
        indent = _indent(text, parent.start)
        step = _step(text)
        body = f"{newline}{indent}{step}" + _member(text, key, value, indent + step, newline)
        end = f"{newline}{indent}"
        kept = inner.rstrip()
        return text[: parent.start + 1] + kept + body + end + text[parent.end - 1 :]
    last = members[-1]
    if "\n" not in text[parent.start : parent.end]:  # all in one line
        line = json.dumps({key: value}, ensure_ascii=False)[1:-1]
        before = text[: last.end] + ", " + line
        return before + text[last.end if last.comma < 0 else last.comma :]
    indent = _indent(text, last.start)
    body = _member(text, key, value, indent, newline)
    at = last.end if last.comma < 0 else last.comma
    rest = _REST_OF_LINE.match(text, at)
    place = rest.end() if rest else at
    if newline == "\r\n" and text[place - 1 : place] == "\r":
        place -= 1
    comma = "," if last.comma < 0 else ""
    after = "," if last.comma >= 0 else ""
    return f"{text[: last.end]}{comma}{text[last.end : place]}{newline}{indent}{body}{after}{text[place:]}"


def _without(text: str, members: Sequence[_Member], gone: _Member) -> str:
    """From the end of the member before, or the start of the object, to the end of its own."""
    at = members.index(gone)
    end = gone.end if gone.comma < 0 else gone.comma
    if at == 0:
        start = gone.start
        following = _SPACE.match(text, end)
        if len(members) > 1 and following:
            return text[:start] + text[members[1].start :]
        line = text.rfind("\n", 0, start) + 1
        start = line if not text[line:start].strip() else start
        rest = _REST_OF_LINE.match(text, end)
        if rest and not rest[0].strip() and start == line:
            end = min(rest.end() + 1, len(text))
        return text[:start] + text[end:]
    before = members[at - 1]
    if gone.comma < 0:  # it was the last: the one before ends without a comma, as it did
        return text[: before.end] + text[before.comma : _line_before(text, gone.start)] + text[end:]
    return text[: _line_before(text, gone.start)] + text[end:]


def _line_before(text: str, start: int) -> int:
    """The end of the line before, if only blanks stand before ``start`` in its own; else ``start``."""
    line = text.rfind("\n", 0, start)
    if line >= 0 and not text[line:start].strip():
        return line - 1 if text[line - 1 : line] == "\r" else line
    return len(text[:start].rstrip(" "))


def _member(text: str, key: str, value: Json, indent: str, newline: str) -> str:
    written = json.dumps(value, indent=_step(text), ensure_ascii=False)
    return f"{json.dumps(key)}: " + written.replace("\n", newline + indent)


def _written(text: str, start: int, value: Json) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    return json.dumps(value, indent=_step(text), ensure_ascii=False).replace(
        "\n", newline + _indent(text, start)
    )


def _indent(text: str, at: int) -> str:
    """The blanks that begin the line of a place."""
    line = text.rfind("\n", 0, at) + 1
    return re.match(r"[ \t]*", text[line:])[0]  # type: ignore[index]  # it matches nothing, too


def _step(text: str) -> str:
    """By how much the file indents."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _parse(text: str) -> _Value:
    value = _value(text, _skip(text, 0), 0)
    end = _skip(text, value.end)
    if end != len(text):
        raise _fault(text, end)
    return value


_DEEPEST = 200


def _value(text: str, at: int, depth: int) -> _Value:
    first = text[at : at + 1]
    if depth > _DEEPEST:
        raise _fault(text, at)
    if first == "{":
        return _object(text, at, depth)
    if first == "[":
        items: list[Json] = []
        place = _skip(text, at + 1)
        while text[place : place + 1] != "]":
            item = _value(text, place, depth + 1)
            items.append(item.plain)
            place = _skip(text, item.end)
            if text[place : place + 1] == ",":
                place = _skip(text, place + 1)
            elif text[place : place + 1] != "]":
                raise _fault(text, place)
        return _Value(start=at, end=place + 1, plain=items)
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if not found:
        raise _fault(text, at)
    try:
        return _Value(start=at, end=found.end(), plain=json.loads(found[0], strict=False))
    except ValueError:
        raise _fault(text, at) from None


def _object(text: str, at: int, depth: int) -> _Value:
    members: list[_Member] = []
    place = _skip(text, at + 1)
    while text[place : place + 1] != "}":
        found = _STRING.match(text, place)
        if not found:
            raise _fault(text, place)
        colon = _skip(text, found.end())
        if text[colon : colon + 1] != ":":
            raise _fault(text, colon)
        value = _value(text, _skip(text, colon + 1), depth + 1)
        following = _skip(text, value.end)
        comma = following + 1 if text[following : following + 1] == "," else -1
        key = str(json.loads(found[0], strict=False))
        members.append(_Member(key=key, start=place, value=value, comma=comma))
        place = _skip(text, comma) if comma >= 0 else following
        if comma < 0 and text[place : place + 1] != "}":
            raise _fault(text, place)
    plain: Json = {member.key: member.value.plain for member in members}
    return _Value(start=at, end=place + 1, members=members, plain=plain)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _fault(text: str, at: int) -> ValueError:
    line = text.count("\n", 0, at) + 1
    seen = text[at : at + 20].splitlines()
    return ValueError(
        f"line {line}: not JSON at {seen[0]!r}" if seen else f"line {line}: it ends early"
    )

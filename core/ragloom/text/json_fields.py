"""Front matter in JSON: an object that begins the file, or lies between two lines ``;;;``."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from ragloom.text.parsing import parse_json, plain_json
from ragloom.types import Json

_LONGEST: Final = 200_000  # characters
_END = r"[ \t]*(?:\r\n|\n|\r|\Z)"
_OPEN = re.compile(rf";;;{_END}")
_CLOSE = re.compile(rf"(?:(?<=\n)|(?<=\r));;;{_END}")
_OBJECT = re.compile(r'\{\s*"')
_LINE_END = re.compile(_END)
_SPACE = re.compile(r"[ \t\r\n]*")


class JsonFields(NamedTuple):
    """The fields, how many characters they and their delimiters take, and what is wrong with them."""

    length: int
    fields: dict[str, Json]
    problem: str = ""


def json_fields(text: str) -> JsonFields | None:
    """What a text begins with, where that is front matter in JSON; else None.

    Between two lines ``;;;`` the braces of the object may be omitted, as in Hexo
    (https://hexo.io/docs/front-matter#JSON-Front-matter). Without these lines the object has to begin in
    the first line and to be followed by the end of its last, as in Hugo
    (https://gohugo.io/content-management/front-matter/).
    """
    opening = _OPEN.match(text)
    if opening is None:
        return _object(text) if _OBJECT.match(text) else None
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        return None
    block = text[opening.end() : closing.start()].strip()
    if not block.startswith("{"):
        block = f"{{{block.removesuffix(',')}}}"
    try:
        return JsonFields(closing.end(), _fields(parse_json(block[:_LONGEST])))
    except ValueError as error:
        problem = " ".join(str(error).split())
        return JsonFields(closing.end(), {}, f"front matter: not JSON, nothing is read: {problem}")


def _object(text: str) -> JsonFields | None:
    """The object that a text begins with; None for anything else, all of which is text then."""
    try:
        value, end = json.JSONDecoder().raw_decode(text[:_LONGEST])
    except (ValueError, RecursionError):
        return None
    last = _LINE_END.match(text, end)
    after = _SPACE.match(text, end)
    if last is None or (after is not None and after.end() == len(text)):
        return None  # nothing but JSON is text
    return JsonFields(last.end(), _fields(value))


def _fields(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - of the file, not of a program
    return {key: plain_json(inner) for key, inner in value.items()}

"""Descriptions of HTTP APIs (OpenAPI and Swagger, YAML or JSON): a section an operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragloom import Json, Section, Span
from ragloom.config import compose

if TYPE_CHECKING:
    from yaml import Node

# https://spec.openapis.org/oas/latest.html#path-item-object
_METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
_VERSION = re.compile(
    r"""(?:^|[\r\n])[ \t{]*["']?(?:openapi|swagger)["']?[ \t]*:[ \t]*["']?\d"""
    r"""|"(?:openapi|swagger)"\s*:\s*"\d"""
)
_HEAD = 20_000  # characters in which the version stands
_LONGEST = 3_000_000  # characters, which take YAML some seconds
_NAMED = ("summary", "operationId")
_LINE_END = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


def is_api(text: str) -> bool:
    """Whether a text in YAML or JSON begins like the description of an API."""
    return len(text) <= _LONGEST and _VERSION.search(text, 0, _HEAD) is not None


def outline(text: str) -> tuple[tuple[Section, ...], dict[str, Json]]:
    """The sections of an API's description, and its title and version.

    A path is of level 1, its operations, such as ``GET /pets: List pets``, of level 2. What stands
    beside the paths is of level 1, too, and each component, such as a schema, of level 2 or 3. A section's
    heading is the line of its key. There is none where the text is neither YAML nor JSON.
    """
    from yaml import MappingNode, YAMLError

    try:
        root = compose(text.replace("\t", " "))  # which YAML forbids where JSON has them
    except (YAMLError, RecursionError, ValueError):
        return (), {}
    if not isinstance(root, MappingNode):
        return (), {}
    sections: list[Section] = []
    for level, key, title in _headings(root):
        span = _line_of(text, key)
        if title and (not sections or span.start >= sections[-1].span.end):  # no alias
            sections.append(Section(span=span, level=level, title=title))
    return tuple(sections), _metadata(root)


def _headings(root: Node) -> Iterator[tuple[int, Node, str]]:
    for key, value in _entries(root):
        if key.value in {"paths", "webhooks"}:
            for path, item in _entries(value):
                yield 1, path, _text(path)
                for method, operation in _entries(item):
                    if method.value in _METHODS:
                        yield 2, method, _operation(path, method, operation)
            continue
        yield 1, key, _text(key)
        if key.value in {"components", "definitions", "parameters", "responses"}:
            for name, component in _entries(value):
                yield 2, name, _text(name)
                for inner, _ in _entries(component) if key.value == "components" else ():
                    yield 3, inner, _text(inner)


def _entries(node: Node) -> list[tuple[Node, Node]]:
    """The keys and values of a mapping, where the keys are text."""
    from yaml import MappingNode, ScalarNode

    if not isinstance(node, MappingNode):
        return []
    return [(key, value) for key, value in node.value if isinstance(key, ScalarNode)]


def _text(key: Node) -> str:
    return " ".join(str(key.value).split())


def _operation(path: Node, method: Node, operation: Node) -> str:
    named = {key.value: _text(value) for key, value in _entries(operation) if key.value in _NAMED}
    said = next((f": {named[name]}" for name in _NAMED if named.get(name)), "")
    return f"{_text(method).upper()} {_text(path)}{said}"


def _line_of(text: str, key: Node) -> Span:
    """A key, with its line where nothing stands before it, and where its value begins in another."""
    start, end = key.start_mark.index, key.end_mark.index
    begin = max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) + 1
    if not text[begin:start].strip():
        start = begin
    line = _LINE_END.match(text, end)
    if line is not None and line[0].strip(" \t\r\n:{") == "":
        end = line.end()
    return Span(start, end)


def _metadata(root: Node) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for key, value in _entries(root):
        if key.value == "info":
            for name, text in _entries(value):
                if name.value in {"title", "version"} and isinstance(text.value, str):
                    found[str(name.value)] = text.value
    return found

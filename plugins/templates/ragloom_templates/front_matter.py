"""The front matter of a template: read strictly, as text, and with the line of every key.

All values but null are text as it is written: a version 1.10 stays ``1.10``, and nothing that YAML
would turn into a date or a truth value is lost. Nothing in it is ever constructed or run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import yaml

from ragloom import Json, SourceError
from ragloom.config import compose

__all__ = ["FrontMatter", "FrontMatterError", "split_front_matter"]

_END = r"[ \t]*(?:\r\n|\n|\r|\Z)"
_OPEN = re.compile(rf"---{_END}")
_CLOSE = re.compile(rf"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.){_END}")
_KEY = re.compile(r"(?:[ \t]*+(?:#[^\r\n]*+)?[\r\n])*+['\"]?[\w][^:\r\n]*:(?:\s|\Z)")
_LONGEST = 64 * 1024  # characters; longer is no front matter that people write
_NULL = "tag:yaml.org,2002:null"


class FrontMatterError(SourceError):
    """Front matter that cannot be read.

    Args:
        problem: What is wrong.
        line: Where, 1-based.
    """

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(f"front matter, line {line}: {problem}")
        self.problem = problem
        self.line = line


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What stands before a template's text.

    Attributes:
        length: Characters up to and including the closing line.
        fields: Strings, None, lists and mappings.
        lines: The line of every key of the outermost mapping, 1-based.
        repeated: Keys that are given twice; the last counts.
    """

    length: int
    fields: Mapping[str, Json] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)
    repeated: tuple[str, ...] = ()


def split_front_matter(text: str) -> FrontMatter | None:
    """The front matter of a decoded file; None where there is none, and all is text.

    It begins with ``---`` in the first line and ends with the next line that is ``---`` or ``...``. What
    stands between two such lines and does not begin like a mapping is text between two rules.

    Raises:
        FrontMatterError: It begins like a mapping and is not one, or is never closed.
    """
    opening = _OPEN.match(text)
    if opening is None:
        return None
    meant = _KEY.match(text, opening.end()) is not None
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        if meant:
            raise FrontMatterError("it is never closed by a line '---'", 1)
        return None
    block = text[opening.end() : closing.start()]
    if len(block) > _LONGEST:
        raise FrontMatterError(f"it is longer than {_LONGEST} characters", 1)
    try:
        root = compose(block)
    except yaml.YAMLError as error:
        if not meant:
            return None
        raise FrontMatterError(*_reason(error)) from error
    if root is None:
        return FrontMatter(length=closing.end())
    if not isinstance(root, yaml.MappingNode):
        return None
    reader = _Reader()
    fields = reader.mapping(root)
    return FrontMatter(
        length=closing.end(),
        fields=fields,
        lines={key.value: _line(key) for key, _ in root.value if isinstance(key, yaml.ScalarNode)},
        repeated=tuple(reader.repeated),
    )


def _reason(error: yaml.YAMLError) -> tuple[str, int]:
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    mark = getattr(error, "problem_mark", None)
    # The block's first line is the file's second.
    return str(problem), 2 if mark is None else mark.line + 2


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 2


class _Reader:
    """Turns composed nodes into text, lists and mappings."""

    def __init__(self) -> None:
        self.repeated: list[str] = []

    def mapping(self, node: yaml.MappingNode) -> dict[str, Json]:
        values: dict[str, Json] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise FrontMatterError("a key is not plain text", _line(key))
            if key.value in values:
                self.repeated.append(key.value)
            values[key.value] = self._value(value)
        return values

    def _value(self, node: yaml.Node) -> Json:
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        return None if node.tag == _NULL else str(node.value)

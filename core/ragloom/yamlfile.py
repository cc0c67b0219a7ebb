"""Reading a settings file so that an error can name the line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragloom.errors import ConfigError
from ragloom.types import Json

if TYPE_CHECKING:
    from yaml import MappingNode, Node

__all__ = ["YamlFile", "read_yaml"]

KeyPath = tuple[str | int, ...]


class YamlFile:
    """The content of a YAML file and the line of every key.

    Attributes:
        path: Where it was read from.
        content: The top-level mapping.
        lines: 1-based lines by the path of keys and list positions that leads to a value.
    """

    def __init__(
        self, path: Path, content: Mapping[str, Json], lines: Mapping[KeyPath, int]
    ) -> None:
        self.path = path
        self.content = content
        self.lines = lines

    def place(self, *keys: str | int) -> str:
        """``file:line`` of a key, or of the nearest key around it."""
        while keys and keys not in self.lines:
            keys = keys[:-1]
        return f"{self.path}:{self.lines.get(keys, 1)}"


def read_yaml(path: Path) -> YamlFile:
    """Read a mapping, with safe types only.

    Raises:
        ConfigError: The file cannot be read, is not YAML, or is not a mapping with string keys; the
            message names the file and the line.
    """
    import yaml  # 18 ms, and only where there is a file

    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: cannot be read as UTF-8: {error}"
        raise ConfigError(message) from error
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error)
        message = f"{path}:{line}: not valid YAML: {problem}"
        raise ConfigError(message) from error
    if node is None:
        return YamlFile(path, {}, {})
    reader = _Reader(path)
    content = reader.value(node, ())
    if not isinstance(content, dict):
        message = f"{path}:1: expected a mapping of settings, found {type(content).__name__}"
        raise ConfigError(message)
    return YamlFile(path, content, reader.lines)


class _Reader:
    """Turns nodes into plain values and notes where each key stands."""

    def __init__(self, path: Path) -> None:
        from yaml import SafeLoader

        self.lines: dict[KeyPath, int] = {}
        self._path = path
        self._loader = SafeLoader("")

    def value(self, node: Node, keys: KeyPath) -> Json:
        from yaml import MappingNode, SequenceNode

        self.lines.setdefault(keys, node.start_mark.line + 1)
        if isinstance(node, MappingNode):
            return self._mapping(node, keys)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*keys, number)) for number, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, keys: KeyPath) -> dict[str, Json]:
        from yaml import ScalarNode

        mapping: dict[str, Json] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, ScalarNode) or key_node.value == "<<":
                raise ConfigError(f"{self._path}:{line}: a key must be a plain word")
            key = key_node.value
            if key in mapping:
                raise ConfigError(f"{self._path}:{line}: {key!r} is given twice")
            self.lines[*keys, key] = line
            mapping[key] = self.value(value_node, (*keys, key))
        return mapping

    def _scalar(self, node: Node) -> Json:
        from yaml import YAMLError

        line = node.start_mark.line + 1
        try:
            value = self._loader.construct_object(node, deep=True)
        except (YAMLError, ValueError) as error:
            problem = getattr(error, "problem", None) or error
            raise ConfigError(f"{self._path}:{line}: {problem}") from error
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        return str(value)

"""Reading a settings file so that an error can name the line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from ragloom.errors import ConfigError
from ragloom.types import Json

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
    lines: dict[KeyPath, int] = {}
    if node is None:
        return YamlFile(path, {}, lines)
    content = _value(node, (), lines, path, yaml.SafeLoader(""))
    if not isinstance(content, dict):
        message = f"{path}:1: expected a mapping of settings, found {type(content).__name__}"
        raise ConfigError(message)
    return YamlFile(path, content, lines)


def _value(node: object, keys: KeyPath, lines: dict[KeyPath, int], path: Path, loader: object) -> Json:
    import yaml

    assert isinstance(node, yaml.Node) and isinstance(loader, yaml.SafeLoader)
    line = node.start_mark.line + 1
    lines.setdefault(keys, line)
    if isinstance(node, yaml.MappingNode):
        mapping: dict[str, Json] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode) or key_node.value == "<<":
                message = f"{path}:{key_line}: a key must be a plain word"
                raise ConfigError(message)
            key = key_node.value
            if key in mapping:
                message = f"{path}:{key_line}: {key!r} is given twice"
                raise ConfigError(message)
            lines[*keys, key] = key_line
            mapping[key] = _value(value_node, (*keys, key), lines, path, loader)
        return mapping
    if isinstance(node, yaml.SequenceNode):
        return [
            _value(item, (*keys, number), lines, path, loader)
            for number, item in enumerate(node.value)
        ]
    try:
        value = loader.construct_object(node, deep=True)
    except (yaml.YAMLError, ValueError) as error:
        message = f"{path}:{line}: {getattr(error, 'problem', None) or error}"
        raise ConfigError(message) from error
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return str(value)

"""Reading a settings file so that an error can name the line."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shown
from typing import TYPE_CHECKING, cast

from ragloom.errors import ConfigError
from ragloom.types import Json

if TYPE_CHECKING:
    from yaml import MappingNode, Mark, Node, SafeLoader

_MOST_VALUES = 100_000  # aliases included, so that a few lines cannot become gigabytes
_DEEPEST = 50
_LARGEST = 1_000_000  # bytes of a settings file

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class YamlFile:
    """The content of a YAML file and the line of every key.

    Attributes:
        path: Where it was read from.
        content: The top-level mapping.
        lines: 1-based lines by the path of keys and list positions that leads to a value.
    """

    path: Path
    content: Mapping[str, Json]
    lines: Mapping[KeyPath, int]

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
        text = read_settings_file(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else f"not UTF-8: {error}"
        raise ConfigError(f"{path}: cannot be read: {why}") from error
    try:
        node = compose(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{path}:{line}: not valid YAML: {problem}") from error
    if node is None:
        return YamlFile(path, {}, {})
    reader = _Reader(path)
    content = reader.value(node, ())
    if not isinstance(content, dict):
        message = f"{path}:1: expected a mapping of settings, found {type(content).__name__}"
        raise ConfigError(message)
    return YamlFile(path, content, reader.lines)


def is_settings_file(path: Path) -> bool:
    """Whether there is a file of settings.

    Raises:
        ConfigError: A folder, or a link that leads nowhere, has its name.
    """
    if path.is_file() or not os.path.lexists(path):
        return path.is_file()
    what = "a folder" if path.is_dir() else "no regular file"
    if path.is_symlink() and not path.exists():
        what = "a link that leads nowhere"
    raise ConfigError(f"{path}: {what}, where settings are read from: rename or delete it")


def read_settings_file(path: Path) -> bytes:
    """The content of a file of settings.

    Raises:
        ConfigError: It has more than 1,000,000 bytes; the rest is not read.
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ConfigError(f"{path}: larger than {_LARGEST:,} bytes, the maximum of a settings file")
    return content


def compose(text: str, *, loader: type[SafeLoader] | None = None) -> Node | None:
    """The document in ``text``, as nodes that can be walked to their ends; None where there is none.

    Raises:
        YAMLError: It is not YAML, is nested more than 50 deep, as is what holds itself, or is more than
            100,000 values with its aliases.
    """
    import yaml

    loader = loader or safe_loader()
    nested = 0
    for event in yaml.parse(text, Loader=loader):  # libyaml's composer would overflow the stack
        nested += isinstance(event, yaml.CollectionStartEvent)
        nested -= isinstance(event, yaml.CollectionEndEvent)
        if nested > _DEEPEST:
            raise _too_large(f"more than {_DEEPEST} levels", cast("Mark | None", event.start_mark))
    root = yaml.compose(text, Loader=loader)
    count = 0
    left = [] if root is None else [(root, 0)]
    while left:
        node, depth = left.pop()
        count += 1
        if depth > _DEEPEST:
            problem = f"more than {_DEEPEST} levels, or an alias inside what it stands for"
            raise _too_large(problem, node.start_mark)
        if count > _MOST_VALUES:
            raise _too_large(f"more than {_MOST_VALUES} values, aliases included", node.start_mark)
        if isinstance(node, yaml.MappingNode):
            left.extend((part, depth + 1) for pair in node.value for part in pair)
        elif isinstance(node, yaml.SequenceNode):
            left.extend((item, depth + 1) for item in node.value)
    return root


def safe_loader() -> type[SafeLoader]:
    """PyYAML's fastest safe loader."""
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _too_large(problem: str, mark: Mark | None) -> Exception:
    from yaml import MarkedYAMLError

    return MarkedYAMLError(problem=problem, problem_mark=mark)


class _Reader:
    """Turns nodes into plain values and notes where each key stands."""

    def __init__(self, path: Path) -> None:
        import yaml

        self.lines: dict[KeyPath, int] = {}
        self._path = path
        self._yaml = yaml
        self._loader = yaml.SafeLoader("")

    def value(self, node: Node, keys: KeyPath) -> Json:
        self.lines.setdefault(keys, node.start_mark.line + 1)
        if isinstance(node, self._yaml.MappingNode):
            return self._mapping(node, keys)
        if isinstance(node, self._yaml.SequenceNode):
            return [self.value(item, (*keys, number)) for number, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: MappingNode, keys: KeyPath) -> dict[str, Json]:
        mapping: dict[str, Json] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, self._yaml.ScalarNode) or key_node.value == "<<":
                raise ConfigError(f"{self._path}:{line}: a key must be a plain word")
            key = key_node.value
            if key in mapping:
                raise ConfigError(f"{self._path}:{line}: {key!r} is given twice")
            self.lines[*keys, key] = line
            mapping[key] = self.value(value_node, (*keys, key))
        return mapping

    def _scalar(self, node: Node) -> Json:
        line = node.start_mark.line + 1
        try:
            value = _possible(self._loader.construct_object(node, deep=True))
        except (
            self._yaml.YAMLError,
            ValueError,
            ArithmeticError,
            LookupError,
            AttributeError,
        ) as error:
            problem = getattr(error, "problem", None) or f"cannot read {shown(node.value)}: {error}"
            raise ConfigError(f"{self._path}:{line}: {problem}") from error
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        return str(value)


def _possible(value: object) -> object:
    """``value``, unless the file system or the machine's numbers could not take it."""
    if isinstance(value, str) and b"\0" in value.encode():
        raise ValueError("no setting holds a NUL character")
    if isinstance(value, int) and abs(value) > sys.maxsize:
        raise ValueError(f"no setting is larger than {sys.maxsize}")
    return value

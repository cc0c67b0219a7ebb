"""What can be set for the librarian: defaults < ``librarian:`` in the file < environment < arguments."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from threading import TIMEOUT_MAX
from typing import cast

from ragloom import ConfigError, Json
from ragloom.config import CONFIG_NAME, YamlFile, did_you_mean, read_yaml

__all__ = ["LibrarianSettings", "load_librarian_settings"]

KEY = "librarian"
_ENVIRONMENT = "RAGLOOM_LIBRARIAN_"


@dataclass(frozen=True, slots=True, kw_only=True)
class LibrarianSettings:
    """Where the knowledge base comes from, and how it is asked.

    Attributes:
        sources: Folders of Markdown files, relative to the workspace; those that do not exist are
            left out.
        k: Documents to choose from.
        threshold: The least relevance, 0 to 1, of a document that is shown.
        top_n: Documents at the most.
        timeout: Seconds that the node waits for an answer; 0 for as long as it takes.
    """

    sources: tuple[str, ...] = ("docs/adrs", "docs/standards", "docs/LLDs/done")
    k: int = 5
    threshold: float = 0.7
    top_n: int = 3
    timeout: float = 10.0


def load_librarian_settings(
    root: str | os.PathLike[str] = ".",
    *,
    config: str | os.PathLike[str] | None = None,
    environment: Mapping[str, str] | None = None,
) -> LibrarianSettings:
    """Read the settings of a workspace.

    Args:
        root: The workspace's folder.
        config: The settings file; ``ragloom.yaml`` in ``root``, if there is one, otherwise.
        environment: Variables such as ``RAGLOOM_LIBRARIAN_THRESHOLD``; the process's own by default.

    Raises:
        ConfigError: A key is unknown, or a value is of the wrong type or out of range.
    """
    path = Path(root, CONFIG_NAME) if config is None else Path(config)
    file = read_yaml(path) if config is not None or path.is_file() else YamlFile(path, {}, {})
    declared = file.content.get(KEY) or {}
    if not isinstance(declared, Mapping):
        message = f"{file.place(KEY)}: {KEY}: expected a mapping such as {{threshold: 0.6}}"
        raise ConfigError(message)
    legal = [known.name for known in fields(LibrarianSettings)]
    values: dict[str, object] = {}
    for name, value in declared.items():
        place = file.place(KEY, name)
        if name not in legal:
            hint = did_you_mean(name, legal) or f"; legal are: {', '.join(legal)}"
            raise ConfigError(f"{place}: unknown setting {KEY}.{name}{hint}")
        values[name] = _parsed(name, value, f"{place}: {KEY}.{name}")
    variables = os.environ if environment is None else environment
    for name in legal:
        variable = _ENVIRONMENT + name.upper()
        if variable in variables:
            values[name] = _parsed(name, variables[variable], variable)
    return replace(LibrarianSettings(), **values)  # type: ignore[arg-type] # the parsers vouch for it


def with_options(settings: LibrarianSettings, options: Mapping[str, Json]) -> LibrarianSettings:
    """``settings`` with every option that is not None.

    Raises:
        ConfigError: A value is of the wrong type or out of range.
    """
    given = {
        name: _parsed(name, value, name) for name, value in options.items() if value is not None
    }
    return replace(settings, **given)  # type: ignore[arg-type] # the parsers vouch for it


def _parsed(name: str, value: Json, place: str) -> object:
    try:
        return _PARSERS[name](value)
    except ValueError as error:
        raise ConfigError(f"{place}: expected {error}, found {value!r}") from error


def _folders(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return tuple(cast("list[str]", value))
    raise ValueError("a list of folders")


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return math.nan
    try:
        return float(value)
    except (OverflowError, ValueError):
        return math.nan


def _count(value: Json) -> int:
    number = _number(value)
    if number >= 1 and number.is_integer():
        return int(number)
    raise ValueError("a whole number from 1")


def _share(value: Json) -> float:
    number = _number(value)
    if 0 <= number <= 1:
        return number
    raise ValueError("a number from 0 to 1")


def _seconds(value: Json) -> float:
    number = _number(value)
    if 0 <= number <= TIMEOUT_MAX:
        return number
    raise ValueError("seconds, or 0 for no limit")


_PARSERS: Mapping[str, Callable[[Json], object]] = {
    "sources": _folders,
    "k": _count,
    "threshold": _share,
    "top_n": _count,
    "timeout": _seconds,
}

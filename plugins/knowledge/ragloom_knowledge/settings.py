"""What can be set for lessons: the key ``knowledge`` of ``ragloom.yaml``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from ragloom import ConfigError, Json
from ragloom.config import Settings, did_you_mean

__all__ = ["KnowledgeSettings", "read_settings"]

_DATABASE: Final = "RAGLOOM_KNOWLEDGE_DATABASE"
_KEY: Final = "knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeSettings:
    """How lessons are kept and asked.

    Attributes:
        database: The URL of the table; empty for SQLite below ``.ragloom``. The variable
            ``RAGLOOM_KNOWLEDGE_DATABASE`` goes before it, as it may hold a password.
        retention_days: Age at which a lesson expires, from when it was embedded.
        task_relevance: What fits a task less, 0 to 1, is not a pattern.
        failure_relevance: Likewise for a failure.
        max_tokens: What the block of patterns may have at the most.
        serve: Whether the MCP server and ``llm`` may search lessons, as the space ``knowledge``.
    """

    database: str = ""
    retention_days: int = 365
    task_relevance: float = 0.7
    failure_relevance: float = 0.75
    max_tokens: int = 1500
    serve: bool = False


def read_settings(
    workspace: Settings, environment: Mapping[str, str] | None = None
) -> KnowledgeSettings:
    """What the settings say under ``knowledge``.

    Raises:
        ConfigError: A key is unknown, or a value of the wrong type or out of range.
    """
    variables = os.environ if environment is None else environment
    value = workspace.extensions.get(_KEY)
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(
            f"{workspace.named(_KEY)}: expected a mapping of settings, found {value!r}"
        )
    legal = [known.name for known in fields(KnowledgeSettings)]
    settings = KnowledgeSettings()
    for key, given in (value or {}).items():
        named = workspace.named(f"{_KEY}.{key}")
        if key not in legal:
            hint = did_you_mean(key, legal)
            raise ConfigError(f"{named}: unknown setting {key!r}{hint} (legal: {', '.join(legal)})")
        try:
            settings = replace(settings, **{key: _read(key, given)})  # type: ignore[arg-type]
        except ValueError as error:
            raise ConfigError(f"{named}: expected {error}, found {given!r}") from error
    if variables.get(_DATABASE):
        settings = replace(settings, database=variables[_DATABASE])
    return settings


def _read(key: str, value: Json) -> str | int | float:
    if key == "database":
        if isinstance(value, str):
            return value
        raise ValueError("a URL such as 'sqlite:///lessons.db'")
    if key == "serve":
        if isinstance(value, bool):
            return value
        raise ValueError("true or false")
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if key.endswith("relevance"):
        if number and isinstance(value, int | float) and 0 <= value <= 1:
            return float(value)
        raise ValueError("a number from 0 to 1")
    if number and isinstance(value, int) and value >= 1:
        return value
    raise ValueError("a whole number from 1")

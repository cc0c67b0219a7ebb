"""What can be set for lessons: the key ``knowledge`` of ``ragloom.yaml``."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final

from ragloom import ConfigError
from ragloom.types import Json

__all__ = ["KnowledgeSettings", "read_settings"]

_DATABASE: Final = "RAGLOOM_KNOWLEDGE_DATABASE"


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
    """

    database: str = ""
    retention_days: int = 365
    task_relevance: float = 0.7
    failure_relevance: float = 0.75
    max_tokens: int = 1500


def read_settings(value: Json, environment: Mapping[str, str] | None = None) -> KnowledgeSettings:
    """The settings in the value of the key ``knowledge``; None for none.

    Raises:
        ConfigError: A key is unknown, or a value of the wrong type or out of range.
    """
    variables = os.environ if environment is None else environment
    if value is not None and not isinstance(value, Mapping):
        raise ConfigError(f"knowledge: expected a mapping of settings, found {value!r}")
    legal = [known.name for known in fields(KnowledgeSettings)]
    settings = KnowledgeSettings()
    for key, given in (value or {}).items():
        if key not in legal:
            close = difflib.get_close_matches(key, legal, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ConfigError(
                f"knowledge: unknown setting {key!r}{hint} (legal: {', '.join(legal)})"
            )
        settings = replace(settings, **{key: _read(key, given)})  # type: ignore[arg-type]
    if variables.get(_DATABASE):
        settings = replace(settings, database=variables[_DATABASE])
    return settings


def _read(key: str, value: Json) -> str | int | float:
    if key == "database":
        if isinstance(value, str):
            return value
        raise ConfigError("knowledge.database: expected a URL such as 'sqlite:///lessons.db'")
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if key.endswith("relevance"):
        if number and isinstance(value, int | float) and 0 <= value <= 1:
            return float(value)
        raise ConfigError(f"knowledge.{key}: expected a number from 0 to 1, found {value!r}")
    if number and isinstance(value, int) and value >= 1:
        return value
    raise ConfigError(f"knowledge.{key}: expected a whole number from 1, found {value!r}")

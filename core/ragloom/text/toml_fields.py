"""Fields in TOML as values that JSON can hold."""

from __future__ import annotations

import datetime as dt
import math
import tomllib
from typing import Final, cast

from ragloom.types import Json

_LONGEST: Final = 200_000  # characters


def toml_fields(block: str) -> dict[str, Json]:
    """The fields of a block of TOML, as JSON has them.

    Raises:
        ValueError: It is no TOML, or too long.
    """
    if len(block) > _LONGEST:
        raise ValueError(f"more than {_LONGEST:,} characters")
    try:
        return {key: _plain_json(value) for key, value in tomllib.loads(block).items()}
    except RecursionError as error:
        raise ValueError("too deep") from error


def _plain_json(value: object) -> Json:
    """A value of TOML; dates and times become ISO text, and what is no number does, too."""
    if isinstance(value, dict):
        return {key: _plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain_json(inner) for inner in value]
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return cast("Json", value)

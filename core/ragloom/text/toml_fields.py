"""Fields in TOML as values that JSON can hold."""

from __future__ import annotations

import tomllib
from typing import Final

from ragloom.text.parsing import plain_json
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
        return {key: plain_json(value) for key, value in tomllib.loads(block).items()}
    except RecursionError as error:
        raise ValueError("too deep") from error

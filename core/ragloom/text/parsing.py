"""JSON that people or other programs wrote, and values as JSON has them."""

from __future__ import annotations

import datetime as dt
import json
import math
from typing import cast

from ragloom.types import Json


def parse_json(content: bytes | str) -> Json:
    """The value that ``content`` stands for.

    Raises:
        ValueError: It is not JSON, is nested deeper than Python reads, or holds a number with more digits.
    """
    try:
        value: Json = json.loads(content)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def plain_json(value: object) -> Json:
    """A value of TOML or of JSON; dates, times, infinity and what is no number become text."""
    if isinstance(value, dict):
        return {key: plain_json(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain_json(inner) for inner in value]
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return cast("Json", value)

"""JSON that people or other programs wrote."""

from __future__ import annotations

import json

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

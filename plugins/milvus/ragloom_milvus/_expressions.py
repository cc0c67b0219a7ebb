"""Conditions as a filter for a Milvus server: never too narrow, sometimes too wide.

What a condition means is defined by :func:`ragloom.stores.filters.matches`, which looks at every candidate
once more. The server's filter only has to spare us most of the others, so it may let more through
and must hold nothing back. That keeps what is hard out of it: where a value would need escaping, or
a condition has no counterpart, nothing is narrowed. Tried against Milvus 2.3 and Milvus Lite 3.2.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

from ragloom import Condition, Json
from ragloom.stores import PATH, as_folder, as_number, joined
from ragloom_milvus._rows import METADATA, URI

_PLAIN_KEY: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*")
_COMPOSED: Final = re.compile(r"[^\x00-\x7f]|[K;`]")
"""Letters that may be written in other ways, which ragloom takes for the same and the server does not.

Of ASCII these three: the signs for kelvin, the Greek question mark and varia are composed to them.
"""
_EXACT: Final = 2**53
"""Beyond it an integer and the server's double may differ."""


def narrowing(where: Sequence[Condition]) -> str:
    """A filter expression that every chunk passes which passes ``where``; empty for no filter."""
    parts = [part for condition in where if (part := _narrow(condition))]
    return " and ".join(f"({part})" for part in parts)


def _narrow(condition: Condition) -> str:
    if condition.operator == "and":
        return narrowing(joined(condition))
    if condition.operator == "or":
        each = [_narrow(one) for one in joined(condition)]
        return " or ".join(f"({part})" for part in each) if all(each) else ""
    if condition.operator == "not":
        return ""  # of what the filter lets through too much, it would hold back too much
    if condition.field == PATH:
        return _narrow_path(condition)
    if not _PLAIN_KEY.fullmatch(condition.field) or _COMPOSED.search(condition.field):
        return ""
    keys = [f'{METADATA}["{condition.field}"]']
    if "." in condition.field:
        keys.append(METADATA + "".join(f'["{key}"]' for key in condition.field.split(".")))
    alternatives = [part for key in keys for part in _alternatives(key, condition)]
    return " or ".join(alternatives)


def _narrow_path(condition: Condition) -> str:
    if condition.operator == "under" and isinstance(condition.value, tuple):
        each = [
            _narrow_path(replace(condition, value=one))
            for one in condition.value
            if isinstance(one, str)
        ]
        return " or ".join(f"({part})" for part in each) if all(each) else ""
    if not isinstance(condition.value, str):
        return ""
    if condition.operator == "=" and (literal := _string(condition.value)):
        return f"{URI} == {literal}"
    if condition.operator == "under":
        folder = as_folder(condition.value)
        # "0" comes right after "/", so these are the strings that begin with "folder/".
        start, end = _string(f"{folder}/"), _string(f"{folder}0")
        if folder and start and end:
            return f"{URI} == {_string(folder)} or ({URI} >= {start} and {URI} < {end})"
    return ""


def _alternatives(key: str, condition: Condition) -> list[str]:
    """Expressions of which one at least is true where the condition is; none when unknown."""
    literals = _literals(cast("Json", condition.value)) if condition.operator in ("=", ":") else []
    has = [f"json_contains({key}, {literal})" for literal in literals]
    if condition.operator == "=":
        return [f"{key} == {literal}" for literal in literals] + has
    # The orders are left to ragloom: a list passes where an element does, and dates are no text.
    return [*has, f'{key} >= ""'] if has else []


def _literals(value: Json) -> list[str]:
    """What a value that equals ``value`` may look like on the server; none when that is unknown."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, int | float):
        return [literal] if (literal := _number(value)) else []
    if not isinstance(value, str) or value == "null":
        return []
    string = _string(value)
    if not string:
        return []
    literals = [string]
    if value.casefold() in {"true", "false"}:
        literals.append(value.casefold())
    number = as_number(value)
    if number is not None:
        literal = _number(number)
        if not literal:
            return []
        literals.append(literal)
    return literals


def _string(value: str) -> str:
    """``value`` as a literal; empty when it would need escaping, or may be composed in another way."""
    if not value.isprintable() or '"' in value or "\\" in value or _COMPOSED.search(value):
        return ""
    return f'"{value}"'


def _number(value: float) -> str:
    """``value`` as a literal; empty when the server's double might not be the same number."""
    if not math.isfinite(value) or abs(value) >= _EXACT:
        return ""
    return repr(value)

"""Conditions on a chunk's metadata and path: what they mean, and how people write them.

This module is the one definition of what a condition means. A store that can evaluate conditions
itself may do so to narrow the candidates, and gives the last word to :func:`matches`.

=======================  =========================================================================
``status=accepted``      equal; a number in the metadata is compared as a number, a truth value with
                         ``true`` or ``false``, nothing at all with ``null``
``status!=accepted``     not equal, or not there: the one operator that a missing field passes
``priority>=2``          ``<`` ``<=`` ``>`` ``>=``: as numbers when both sides look like numbers,
``date<2025-01-01``      as strings when both are strings, and otherwise not passed
``tags:logging``         a list has such an element, or a string contains it
``path under docs/adr``  the file is ``docs/adr`` or lies below it; ``path:docs/adr`` says the same. In
                         Python the value may be a tuple of folders: the file lies below one of them
=======================  =========================================================================

Upper and lower case differ. A dotted field such as ``owner.team`` is looked up as that very key,
then level by level. ``path`` is the chunk's uri.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast, get_args

from ragloom.errors import ConfigError
from ragloom.types import Condition, Json, Metadata, Operator

PATH: Final = "path"

FORMS: Final = (
    "field=value, field!=value, field<value, field<=value, field>value, field>=value, "
    "field:value (a list has it, a string contains it) or 'path under folder'"
)

_UNDER: Final = re.compile(r"\s*+path\s++under\s++(?P<value>\S.*+)", re.DOTALL)
_TEST: Final = re.compile(
    r"\s*+(?P<field>[^\s=!<>:]++)\s*+(?P<operator>!=|<=|>=|==|=|<|>|:)(?P<value>.*+)", re.DOTALL
)
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER: Final = 300

_OPERATORS: Final = frozenset(get_args(Operator))
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MISSING: Final = object()
"""The value of a field that a file does not have."""


def parse_condition(text: str) -> Condition:
    """Read a condition as it is written on a command line or in settings.

    The value stays a string, so that ``version=1.10`` is not taken for 1.1; :func:`matches`
    compares it as a number where the metadata holds one. A value in double or single quotes is
    taken as it stands, with the blanks at its ends.

    Raises:
        ConfigError: It has none of the legal forms, which the message lists.
    """
    if under := _UNDER.fullmatch(text):
        return Condition(field=PATH, operator="under", value=_unquote(under["value"].strip()))
    test = _TEST.fullmatch(text)
    if test is None:
        raise ConfigError(f"cannot read the condition {text!r}: write {FORMS}")
    name, sign, value = test["field"], test["operator"], _unquote(test["value"].strip())
    if sign == "==":
        sign = "="
    if name == PATH and sign == ":":
        sign = "under"
    return Condition(field=name, operator=cast("Operator", sign), value=value)


def matches(chunk_uri: str, metadata: Metadata, where: Sequence[Condition]) -> bool:
    """Whether a chunk of the file ``chunk_uri`` with ``metadata`` passes every condition.

    A string in a condition is lenient, as it may come from a command line: it is compared as a
    number, truth value or null where the metadata holds one. Any other value is strict: ``3`` does
    not equal ``"3"``, and ``True`` does not equal ``1``.

    Raises:
        ConfigError: A condition has an unknown operator.
    """
    return all(
        passes(look_up(chunk_uri, metadata, condition.field), condition) for condition in where
    )


def check_condition(condition: Condition) -> Condition:
    """``condition``; raises a ConfigError where its operator is unknown."""
    if condition.operator not in _OPERATORS:
        raise ConfigError(f"unknown operator {condition.operator!r} in a condition: write {FORMS}")
    return condition


def passes(found: object, condition: Condition) -> bool:
    """Whether a field's value, or :data:`MISSING`, passes a condition; raises as :func:`matches`."""
    check_condition(condition)
    if found is MISSING:
        return condition.operator == "!="
    held = cast("Json", found)
    match condition.operator:
        case "=":
            return _equal(held, condition.value)
        case "!=":
            return not _equal(held, condition.value)
        case ":":
            return _contains(held, condition.value)
        case "under":
            return _under(held, condition.value)
        case _:
            return _ordered(held, condition.value, _ORDER[condition.operator])


def look_up(chunk_uri: str, metadata: Metadata, name: str) -> object:
    """The value of a field, or :data:`MISSING`."""
    if name == PATH:
        return chunk_uri
    if name in metadata:
        return metadata[name]
    level: object = metadata
    for key in name.split("."):
        if not isinstance(level, Mapping) or key not in level:
            return MISSING
        level = level[key]
    return level


def _equal(held: Json, wanted: Json) -> bool:
    if isinstance(wanted, str):
        if isinstance(held, str):
            return held == wanted
        if isinstance(held, bool):
            return wanted.casefold() == str(held).casefold()
        if held is None:
            return wanted == "null"
        number = as_number(wanted)
        return number is not None and isinstance(held, int | float) and held == number
    if isinstance(held, bool) or isinstance(wanted, bool) or held is None or wanted is None:
        return held is wanted
    return isinstance(held, int | float) and held == wanted


def _contains(held: Json, wanted: Json) -> bool:
    if isinstance(held, str):
        return isinstance(wanted, str) and wanted in held
    if isinstance(held, Sequence):
        return any(_equal(item, wanted) for item in held)
    return False


def _ordered(held: Json, wanted: Json, compare: Callable[[Any, Any], bool]) -> bool:
    left, right = as_number(held), as_number(wanted)
    if left is not None and right is not None:
        return compare(left, right)
    return isinstance(held, str) and isinstance(wanted, str) and compare(held, wanted)


def _under(held: Json, wanted: Json) -> bool:
    if isinstance(wanted, tuple):
        return any(_under(held, one) for one in wanted)
    if not isinstance(held, str) or not isinstance(wanted, str):
        return False
    folder = as_folder(wanted)
    return not folder or held == folder or held.startswith(folder + "/")


def as_number(value: Json) -> int | float | None:
    """The number that ``value`` is or, as a string, is written as; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, str) or len(value) > _LONGEST_NUMBER or not _NUMBER.fullmatch(value):
        return None
    try:
        return int(value)
    except ValueError:
        number = float(value)
        return number if math.isfinite(number) else None


def as_folder(value: str) -> str:
    """``value`` without ``./`` before it and ``/`` behind it; empty for the whole workspace."""
    folder = value
    while folder.startswith("./"):
        folder = folder[2:].lstrip("/")
    folder = folder.rstrip("/")
    return "" if folder == "." else folder


def _unquote(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value

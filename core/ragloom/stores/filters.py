"""What a condition on a chunk's metadata and path means; ``grammar`` says how it is written.

This module is the one definition. A store that can evaluate conditions itself may do so to narrow the
candidates, and gives the last word to :func:`matches`.

============================  ====================================================================
``status=accepted``           equal; a number in the metadata is compared as a number, a truth value
                              with ``true`` or ``false``, nothing at all with ``null``
``status!=accepted``          not equal, or not there: the opposite of ``=``
``priority>=2``               ``<`` ``<=`` ``>`` ``>=``: a number compares with numbers, written as
``date<2025-01-01``           text or not; a date with dates; any other text with text, by its letters
``tags:logging``              a list has such an element, or a string contains it
``exists tags``               the field is there, and is neither null nor an empty list
``path under docs/adr``       the file is ``docs/adr`` or lies below it; ``path:docs/adr`` says the same.
                              In Python the value may be a tuple of folders: it lies below one of them
``not tags:draft``            the condition does not pass: "has not"
``a=1 and (b=2 or c=3)``      all pass, one passes; ``and`` binds closer than ``or``
============================  ====================================================================

A list passes ``=`` and the orders where one of its elements does; so ``!=`` says that none is equal. A
date is ``2025``, ``2025-03``, ``2025-03-01``, or that day with a time; in a condition it stands for all of
its year, month, day or minute, in the metadata for its beginning, and without a zone it is in UTC. Upper
and lower case differ; composed and decomposed letters do not. A dotted field such as ``owner.team`` is
looked up as that very key, then level by level. ``path`` is the chunk's uri.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast, get_args
from unicodedata import normalize

from ragloom.errors import ConfigError
from ragloom.stores.dates import as_moment, as_period
from ragloom.stores.grammar import FORMS, PATH, parse_condition
from ragloom.types import Condition, Json, Metadata, Operator

__all__ = [
    "MISSING",
    "PATH",
    "all_of",
    "as_folder",
    "as_number",
    "check_condition",
    "composed",
    "joined",
    "look_up",
    "matches",
    "parse_condition",
    "passes",
]

_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER: Final = 300

_OPERATORS: Final = frozenset(get_args(Operator))
_JOINS: Final = frozenset({"and", "or", "not"})
_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
MISSING: Final = object()
"""The value of a field that a file does not have."""


def matches(chunk_uri: str, metadata: Metadata, where: Sequence[Condition]) -> bool:
    """Whether a chunk of the file ``chunk_uri`` with ``metadata`` passes every condition.

    A string in a condition is lenient, as it may come from a command line: it is compared as a
    number, truth value or null where the metadata holds one. Any other value is strict: ``3`` does
    not equal ``"3"``, and ``True`` does not equal ``1``.

    Raises:
        ConfigError: A condition has an unknown operator.
    """
    return all(_matches(chunk_uri, metadata, condition) for condition in where)


def _matches(chunk_uri: str, metadata: Metadata, condition: Condition) -> bool:
    if condition.operator not in _JOINS:
        return passes(look_up(chunk_uri, metadata, condition.field), condition)
    inner = (_matches(chunk_uri, metadata, one) for one in joined(condition))
    match condition.operator:
        case "and":
            return all(inner)
        case "or":
            return any(inner)
        case _:
            return not any(inner)


def check_condition(condition: Condition) -> Condition:
    """``condition``; raises a ConfigError where its operator is unknown, or it joins no conditions."""
    if condition.operator not in _OPERATORS:
        raise ConfigError(f"unknown operator {condition.operator!r} in a condition: write {FORMS}")
    if condition.operator in _JOINS:
        for one in joined(condition):
            check_condition(one)
    return condition


def joined(condition: Condition) -> tuple[Condition, ...]:
    """What an ``and``, ``or`` or ``not`` joins, of which ``not`` passes where none does; () for a test.

    Raises:
        ConfigError: Its value is no tuple of conditions.
    """
    if condition.operator not in _JOINS:
        return ()
    parts = condition.value
    if not isinstance(parts, tuple) or not all(isinstance(one, Condition) for one in parts):
        raise ConfigError(
            f"a condition with the operator {condition.operator!r} takes a tuple of conditions, "
            f"not {parts!r}"
        )
    return cast("tuple[Condition, ...]", parts)


def all_of(where: Sequence[Condition]) -> tuple[Condition, ...]:
    """The conditions of which all have to pass, each ``and`` among them taken apart."""
    return tuple(
        inner
        for condition in where
        for inner in (all_of(joined(condition)) if condition.operator == "and" else (condition,))
    )


def passes(found: object, condition: Condition) -> bool:
    """Whether a field's value, or :data:`MISSING`, passes a test; raises as :func:`matches`."""
    check_condition(condition)
    if found is MISSING:
        return condition.operator == "!="
    held, wanted = cast("Json", found), cast("Json", condition.value)
    match condition.operator:
        case "=":
            return _has(held, wanted)
        case "!=":
            return not _has(held, wanted)
        case ":":
            return _contains(held, wanted)
        case "exists":
            return held is not None and held not in ([], ())
        case "under":
            return _under(held, wanted)
        case _:
            return _ordered(held, wanted, condition.operator)


def look_up(chunk_uri: str, metadata: Metadata, name: str) -> object:
    """The value of a field, or :data:`MISSING`."""
    if name == PATH:
        return chunk_uri
    found = _entry(metadata, name)
    if found is not MISSING:
        return found
    level: object = metadata
    for key in name.split("."):
        level = _entry(level, key) if isinstance(level, Mapping) else MISSING
        if level is MISSING:
            return MISSING
    return level


def _entry(mapping: Mapping[str, Any], key: str) -> object:
    """What a mapping has under a key, however its letters are composed."""
    if key in mapping:
        return mapping[key]
    plain = composed(key)
    # ASCII has no letters to compose, but for a few other signs that become it.
    return next((mapping[one] for one in mapping if composed(one) == plain), MISSING)


def composed(text: str) -> str:
    """``text`` with its letters composed (NFC, https://unicode.org/reports/tr15/)."""
    return text if text.isascii() else normalize("NFC", text)


def _has(held: Json, wanted: Json) -> bool:
    """Whether a value equals ``wanted``, or a list has such an element."""
    if isinstance(held, Sequence) and not isinstance(held, str):
        return any(_equal(item, wanted) for item in held)
    return _equal(held, wanted)


def _equal(held: Json, wanted: Json) -> bool:
    if isinstance(wanted, str):
        if isinstance(held, str):
            return held == wanted or composed(held) == composed(wanted)
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
        return isinstance(wanted, str) and composed(wanted) in composed(held)
    return isinstance(held, Sequence) and _has(held, wanted)


def _ordered(held: Json, wanted: Json, sign: str) -> bool:
    if isinstance(held, Sequence) and not isinstance(held, str):
        return any(_ordered(item, wanted, sign) for item in held if not isinstance(item, list))
    compare = _ORDER[sign]
    left, right = as_number(held), as_number(wanted)
    if left is not None and right is not None:
        return compare(left, right)
    if not isinstance(held, str) or not isinstance(wanted, str):
        return False
    moment, period = as_moment(held), as_period(wanted)
    if moment is not None and period is not None:
        start, end = period
        # Of a day, "<=" and ">" mean its end: what happens at noon is not after it.
        return compare(moment, start) if sign in ("<", ">=") else (moment < end) is (sign == "<=")
    if moment is not None or period is not None or right is not None:
        return False  # a date with something else, or text with a number
    return compare(composed(held), composed(wanted))


def _under(held: Json, wanted: Json) -> bool:
    if isinstance(wanted, tuple):
        return any(_under(held, one) for one in wanted)
    if not isinstance(held, str) or not isinstance(wanted, str):
        return False
    folder, place = composed(as_folder(wanted)), composed(held)
    return not folder or place == folder or place.startswith(folder + "/")


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

"""From settings to a part's options: names and types are checked against its dataclass.

Values from a YAML file have types already; those from the environment and the command line are
strings, and become what the dataclass asks for: ``"3"`` an int, ``"true"`` a bool, ``"a, b"`` a
tuple.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from pathlib import Path

from ragloom.config.settings import user_path
from ragloom.config.spelling import did_you_mean
from ragloom.errors import ConfigError

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_NOTHING = frozenset({"", "none", "null"})


class _Mismatch(Exception):  # noqa: N818 - never leaves this module
    """A value does not have the legal type."""


def build(options: type, values: Mapping[str, object], *, part: str) -> object:
    """Make an instance of the dataclass ``options`` from ``values``.

    Args:
        options: A dataclass; its annotations may be strings.
        values: Settings by field name; what is left out keeps its default.
        part: What the settings belong to, such as ``embedder 'onnx'``; begins every message.

    Raises:
        ConfigError: A name is unknown, a value missing, of the wrong type, or refused by the
            dataclass itself (a ``ValueError`` in its ``__post_init__``).
    """
    fields = {field.name: field for field in dataclasses.fields(options) if field.init}
    hints = typing.get_type_hints(options)
    for name in values:
        if name not in fields:
            legal = f"legal are: {', '.join(fields)}" if fields else "it has none"
            nearest = did_you_mean(str(name), fields)
            raise ConfigError(f"{part}: unknown option {name!r}{nearest or f'; {legal}'}")
    for name, field in fields.items():
        if name not in values and _is_required(field):
            raise ConfigError(
                f"{part}: option {name!r} is missing; it must be {describe(hints[name])}"
            )
    arguments: dict[str, object] = {}
    for name, value in values.items():
        try:
            arguments[name] = _coerce(value, hints[name], f"{part}, option {name!r}")
        except _Mismatch:
            raise ConfigError(
                f"{part}: option {name!r} must be {describe(hints[name])}, not {value!r}"
            ) from None
    try:
        return options(**arguments)
    except ValueError as error:
        raise ConfigError(f"{part}: {' '.join(str(error).split())}") from error


def describe(hint: object) -> str:
    """The legal type as a message says it: ``int``, ``one of 'mean', 'cls'``, ``int or none``."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return f"one of {', '.join(map(repr, arguments))}"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(describe(argument) for argument in arguments)
    if origin is tuple and Ellipsis not in arguments:
        return f"a list of {', '.join(describe(argument) for argument in arguments)}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a mapping of {describe(arguments[0])} to {describe(arguments[1])}"
    if isinstance(origin, type) and issubclass(origin, Collection):
        return f"a list of {describe(arguments[0])}"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return f"one of {', '.join(repr(member.value) for member in hint)}"
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return f"a mapping with {', '.join(field.name for field in dataclasses.fields(hint))}"
    words = {bool: "true or false", Path: "a path", types.NoneType: "none"}
    if isinstance(hint, type):
        return words.get(hint, hint.__name__)
    return str(hint)


def _is_required(field: dataclasses.Field[object]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _coerce(value: object, hint: object, part: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any or hint is object:
        return value
    if origin is typing.Literal:
        return _one_of(value, {argument: argument for argument in arguments})
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(value, arguments, part)
    if isinstance(origin, type):
        return _container(value, origin, arguments, part)
    if not isinstance(hint, type):
        raise _Mismatch
    if issubclass(hint, Enum):
        return (
            value if isinstance(value, hint) else _one_of(value, {one.value: one for one in hint})
        )
    if dataclasses.is_dataclass(hint):
        return _nested(value, hint, part)
    if hint in _SCALARS:
        return _SCALARS[hint](value)
    if hint in (tuple, list, set, frozenset, dict):
        return _container(value, hint, (object, object if hint is dict else Ellipsis), part)
    if isinstance(value, hint):
        return value
    raise _Mismatch


def _one_of(value: object, legal: Mapping[object, object]) -> object:
    for known, meant in legal.items():
        # True == 1 and 1 == 1.0, which is not what a list of legal values means.
        if type(known) is type(value) and known == value:
            return meant
    if isinstance(value, str):
        for known, meant in legal.items():
            if str(known).casefold() == value.strip().casefold():
                return meant
    raise _Mismatch


def _first_that_fits(value: object, hints: Sequence[object], part: str) -> object:
    for hint in hints:
        if isinstance(hint, type) and type(value) is hint and hint is not str:
            return value
    # A string fits nearly everything that takes one, so these come last.
    for hint in sorted(hints, key=lambda hint: hint in (str, Path)):
        try:
            return _coerce(value, hint, part)
        except _Mismatch:
            continue
    raise _Mismatch


def _container(value: object, origin: type, arguments: Sequence[object], part: str) -> object:
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _Mismatch
        key_hint, value_hint = arguments
        return {
            _coerce(key, key_hint, part): _coerce(item, value_hint, part)
            for key, item in value.items()
        }
    if isinstance(value, str):
        value = [item.strip() for item in value.split(",") if item.strip()]
    if not issubclass(origin, Collection) or not isinstance(value, Sequence | AbstractSet):
        raise _Mismatch
    if origin is tuple and Ellipsis not in arguments:
        if len(value) != len(arguments):
            raise _Mismatch
        return tuple(_coerce(item, hint, part) for item, hint in zip(value, arguments, strict=True))
    items = tuple(_coerce(item, arguments[0], part) for item in value)
    if origin is list:
        return list(items)
    if issubclass(origin, AbstractSet):
        return frozenset(items)
    return items


def _nested(value: object, options: type, part: str) -> object:
    if isinstance(value, options):
        return value
    if not isinstance(value, Mapping):
        raise _Mismatch
    return build(options, value, part=part)


def _bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in _TRUE | _FALSE:
        return value.strip().casefold() in _TRUE
    raise _Mismatch


def _int(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return int(value if isinstance(value, str) else "")
    except ValueError:
        raise _Mismatch from None


def _float(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _Mismatch
    try:
        number = float(value)
    except (OverflowError, ValueError):
        raise _Mismatch from None
    if math.isnan(number):
        raise _Mismatch
    return number


def _str(value: object) -> str:
    if not isinstance(value, str):
        raise _Mismatch
    return value


def _path(value: object) -> Path:
    if not isinstance(value, str | Path) or not str(value):
        raise _Mismatch
    try:
        return user_path(str(value))
    except ValueError:
        raise _Mismatch from None


def _none(value: object) -> None:
    if value is not None and not (isinstance(value, str) and value.casefold() in _NOTHING):
        raise _Mismatch


_SCALARS: Mapping[type, Callable[[object], object]] = {
    bool: _bool,
    float: _float,
    int: _int,
    Path: _path,
    str: _str,
    types.NoneType: _none,
}

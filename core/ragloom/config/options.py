"""From settings to a component's options: names and types are checked against its dataclass.

Values from a YAML file have types already; those from the environment and the command line are
strings, and become the type of the field: ``"3"`` an int, ``"true"`` a bool, ``"a, b"`` a
tuple.
"""

from __future__ import annotations

import dataclasses
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeAlias

from ragloom.config.spelling import did_you_mean
from ragloom.errors import ConfigError

_SHOWN = 60  # characters of a wrong value
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})
_NOTHING = frozenset({"", "none", "null"})


Place: TypeAlias = Callable[..., str]
"""Called with the keys that lead to a value; says where that value was written."""


class Legal(NamedTuple):
    """In ``Annotated[type, Legal(…)]``: what a value must be, beside of the type.

    Attributes:
        words: As a message says it, such as ``a number from 0 to 1``.
        holds: Whether it is true of a value of the type.
    """

    words: str
    holds: Callable[[Any], object] = lambda _: True


class _Mismatch(Exception):  # noqa: N818 - never leaves this module
    """A value does not have the legal type."""


@dataclass(frozen=True, slots=True)
class _At:
    """What is being read, for messages: its name, and where its keys were written."""

    name: str
    place: Place | None = None

    def inside(self, key: str | int) -> _At:
        place = partial(self.place, key) if self.place else None
        if isinstance(key, int):
            return _At(f"{self.name}[{key}]", place)
        dotted = " " not in self.name  # a section; a component is named in words
        return _At(f"{self.name}.{key}" if dotted else f"{self.name}, option {key!r}", place)

    def error(self, message: str, *keys: object) -> ConfigError:
        return ConfigError(f"{self.place(*keys)}: {message}" if self.place else message)


def build(
    options: type, values: Mapping[str, object], *, part: str, place: Place | None = None
) -> object:
    """Make an instance of the dataclass ``options`` from ``values``.

    Args:
        options: A dataclass; its annotations may be strings.
        values: Settings by field name; an omitted one keeps its default.
        part: What the settings belong to, such as ``embedder 'onnx'``; begins every message.
        place: Says where a key was written, which then stands before every message.

    Raises:
        ConfigError: A name is unknown, a value missing, of the wrong type, or refused by the
            dataclass itself (a ``ValueError`` in its ``__post_init__`` that names the field).
    """
    return _build(options, values, _At(part, place))


def parse(hint: object, value: object, *, part: str, place: Place | None = None) -> object:
    """Make a value of the type ``hint``, such as a dataclass or a tuple of them; as :func:`build`.

    Raises:
        ConfigError: As :func:`build`.
    """
    at = _At(part, place)
    try:
        return _coerce(value, hint, at)
    except _Mismatch:
        message = f"{part}: expected {describe(hint)}, found {_short(value)}"
        raise at.error(message) from None


def user_path(text: str) -> Path:
    """A path, with the user's home folder for ``~`` and another user's for ``~name``.

    Raises:
        ValueError: There is no such user, or no home folder; the message is what was expected.
    """
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError("a path that begins with no user's name, or a known one's") from error


def _build(options: type, values: Mapping[str, object], at: _At) -> object:
    fields = {field.name: field for field in dataclasses.fields(options) if field.init}
    hints = typing.get_type_hints(options, include_extras=True)
    for name in values:
        if name not in fields:
            legal = f" (legal: {', '.join(fields)})" if fields else "; it has none"
            hint = did_you_mean(str(name), fields)
            raise at.error(f"{at.name}: unknown option {name!r}{hint}{legal}", name)
    for name, field in fields.items():
        if name not in values and _is_required(field):
            wanted = describe(hints[name])
            raise at.error(f"{at.name}: option {name!r} is missing; it must be {wanted}")
    arguments: dict[str, object] = {}
    for name, value in values.items():
        try:
            arguments[name] = _coerce(value, hints[name], at.inside(name))
        except _Mismatch:
            wanted = describe(hints[name])
            found = _short(value) if fields[name].repr else "what was given"  # it is a secret
            message = f"{at.name}: option {name!r} must be {wanted}, not {found}"
            raise at.error(message, name) from None
    try:
        return options(**arguments)
    except ValueError as error:
        said = " ".join(str(error).split())
        keys = re.findall(rf"\b({'|'.join(map(re.escape, values))})\b", said) if values else []
        raise at.error(f"{at.name}: {said}", *keys[:1]) from error


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def describe(hint: object) -> str:
    """The legal type as a message says it: ``int``, ``one of 'mean', 'cls'``, ``int or none``."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return str(arguments[1].words)
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


def _coerce(value: object, hint: object, at: _At) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint in (Any, object):
        return value
    if origin is Annotated:
        value = _coerce(value, arguments[0], at)
        if not arguments[1].holds(value):
            raise _Mismatch
        return value
    if origin is typing.Literal:
        return _one_of(value, {argument: argument for argument in arguments})
    if origin in (typing.Union, types.UnionType):
        return _first_that_fits(value, arguments, at)
    if isinstance(origin, type):
        return _container(value, origin, arguments, at)
    if isinstance(hint, type):
        return _of_type(value, hint, at)
    raise _Mismatch


def _of_type(value: object, hint: type, at: _At) -> object:
    if hint in _SCALARS:
        return _SCALARS[hint](value)
    if isinstance(value, hint):
        return value
    if issubclass(hint, Enum):
        return _one_of(value, {one.value: one for one in hint})
    if dataclasses.is_dataclass(hint):
        return _nested(value, hint, at)
    if hint in (tuple, list, set, frozenset, dict):
        return _container(value, hint, (object, object if hint is dict else Ellipsis), at)
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


def _first_that_fits(value: object, hints: Sequence[object], at: _At) -> object:
    for hint in hints:
        if isinstance(hint, type) and type(value) is hint and hint is not str:
            return value
    # A string fits nearly everything that takes one, so these come last.
    for hint in sorted(hints, key=lambda hint: hint in (str, Path)):
        try:
            return _coerce(value, hint, at)
        except _Mismatch:
            continue
    raise _Mismatch


def _container(value: object, origin: type, arguments: Sequence[object], at: _At) -> object:
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _Mismatch
        key_hint, value_hint = arguments
        return {
            _coerce(key, key_hint, at): _coerce(item, value_hint, at.inside(str(key)))
            for key, item in value.items()
        }
    if isinstance(value, str):
        value = [item.strip() for item in value.split(",") if item.strip()]
    if not issubclass(origin, Collection) or not isinstance(value, Sequence | AbstractSet):
        raise _Mismatch
    if origin is tuple and Ellipsis not in arguments:
        if len(value) != len(arguments):
            raise _Mismatch
        return tuple(_coerce(item, hint, at) for item, hint in zip(value, arguments, strict=True))
    items = (_coerce(item, arguments[0], at.inside(number)) for number, item in enumerate(value))
    if origin is list:
        return list(items)
    return frozenset(items) if issubclass(origin, AbstractSet) else tuple(items)


def _nested(value: object, options: type, at: _At) -> object:
    value = {} if value is None else value  # a key without a value
    if not isinstance(value, Mapping):
        raise _Mismatch
    return _build(options, value, at)


def _bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.strip().casefold() in _TRUE | _FALSE:
        return value.strip().casefold() in _TRUE
    raise _Mismatch


def _int(value: object) -> int:
    try:
        number = int(value) if isinstance(value, str) else value
    except ValueError:
        raise _Mismatch from None
    if isinstance(number, bool) or not isinstance(number, int) or abs(number) > sys.maxsize:
        raise _Mismatch
    return number


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

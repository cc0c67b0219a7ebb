"""Numbers in advice, with their units: 5 s is 5000 ms, and 30 s is not 30 ms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Final, NamedTuple

from ragloom_knowledge.vocabulary import UNITS

_LONGEST: Final = 20  # characters of a number that is converted

_PLAIN: Final[Mapping[str, Fraction]] = {"": Fraction(1)}

Amount = tuple[str, Fraction]
"""A dimension and how much of its first unit."""


class Quantity(NamedTuple):
    """A number as it is written, without separators, and its unit in small letters, or nothing."""

    value: str
    unit: str = ""


def differ(one: Collection[Quantity], other: Collection[Quantity]) -> bool:
    """Whether a number of one text is none of the other's."""
    return any(
        not any(_equal(quantity, theirs) for theirs in right)
        for left, right in ((one, other), (other, one))
        for quantity in left
    )


def _equal(one: Quantity, other: Quantity) -> bool:
    """A unit that only one of them names is no difference."""
    if one.value == other.value and (one.unit == other.unit or not (one.unit and other.unit)):
        return True
    return bool(_amounts(one) & _amounts(other))


def _amounts(quantity: Quantity) -> frozenset[Amount]:
    """What a number may stand for: ``5m`` are minutes or megabytes; none of a version, 1.2 or 1.20."""
    meant = UNITS.get(quantity.unit) or ({} if quantity.unit or "." in quantity.value else _PLAIN)
    try:
        value = Fraction(quantity.value if len(quantity.value) <= _LONGEST else "")
    except ValueError:  # 1.2.3
        return frozenset()
    return frozenset((dimension, value * size) for dimension, size in meant.items())

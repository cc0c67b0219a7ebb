"""A query as one value, checked when it is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from types import UnionType
from typing import cast

from ragloom.config.settings import SpaceSettings
from ragloom.config.spelling import did_you_mean
from ragloom.errors import ConfigError
from ragloom.stores.filters import all_of, check_condition, parse_condition
from ragloom.types import MODES, Condition, Mode


@dataclass(frozen=True, slots=True)
class Query:
    """What to search for, and how; None leaves the choice to the settings of the space.

    >>> Query("how do I log errors?", top_k=3, where=["path under docs"])

    Attributes:
        text: The question, or words.
        top_k: Maximum number of hits; 0 finds none.
        min_relevance: Hits below it, 0 to 1, are not shown.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        where: Conditions that every hit passes; strings are parsed as those of the command line.
        per_file: Maximum number of hits of one file, whose last one names the lines of the others; 0 for no
            maximum, which is what a context leaves it at.

    Raises:
        ConfigError: A value has the wrong type, is unknown or out of range.
    """

    text: str
    _: KW_ONLY
    top_k: int | None = None
    min_relevance: float | None = None
    mode: Mode | None = None
    where: Sequence[Condition | str] = ()
    per_file: int | None = None

    def __post_init__(self) -> None:
        """Check every value, and parse the conditions."""
        if not isinstance(self.text, str):
            raise ConfigError(f"query: expected text, found {self.text!r}")
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            raise ConfigError("query holds half of a character (a lone surrogate)") from error
        for name, count in (("top_k", self.top_k), ("per_file", self.per_file)):
            if count is not None and (not _is(count, int) or count < 0):
                raise ConfigError(f"{name}: expected a whole number from 0, found {count!r}")
        least = self.min_relevance
        if least is not None and (not _is(least, int | float) or not 0 <= least <= 1):
            raise ConfigError(f"min_relevance: expected a number from 0 to 1, found {least!r}")
        if self.mode is not None and self.mode not in MODES:
            near = did_you_mean(str(self.mode), MODES)
            available = f"(available: {', '.join(MODES)})"
            raise ConfigError(f"mode: unknown mode {self.mode!r}{near} {available}")
        given = [self.where] if isinstance(self.where, str | Condition) else self.where
        conditions = [
            parse_condition(one) if isinstance(one, str) else check_condition(one) for one in given
        ]
        object.__setattr__(self, "where", all_of(conditions))

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """``where``, parsed."""
        return cast("tuple[Condition, ...]", self.where)

    def choices(self, settings: SpaceSettings) -> tuple[int, float, Mode]:
        """``top_k``, ``min_relevance`` and ``mode``, from ``settings`` where they are None."""
        return (
            settings.top_k if self.top_k is None else self.top_k,
            settings.min_relevance if self.min_relevance is None else self.min_relevance,
            settings.mode if self.mode is None else self.mode,
        )

    def most_per_file(self, settings: SpaceSettings) -> int:
        """``per_file``, from ``settings`` where it is None."""
        return settings.per_file if self.per_file is None else self.per_file


def _is(value: object, kind: type | UnionType) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)

"""Conditions over many files at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ragloom.stores.filters import MISSING, check_condition, joined, look_up, passes
from ragloom.types import Condition, Metadata


class Columns:
    """What many files hold, field by field: a condition is evaluated once for each different value.

    Args:
        files: Path and metadata of each.
    """

    def __init__(self, files: Sequence[tuple[str, Metadata]]) -> None:
        self._files = files
        self._columns: dict[str, tuple[list[object], npt.NDArray[np.intp]]] = {}

    def passing(self, where: Sequence[Condition]) -> npt.NDArray[np.bool_]:
        """``(n,)`` bool: what :func:`~ragloom.stores.filters.matches` says of each file; raises so."""
        passed = np.ones(len(self._files), np.bool_)
        for condition in where:
            passed &= self._passing(check_condition(condition))
        return passed

    def _passing(self, condition: Condition) -> npt.NDArray[np.bool_]:
        match condition.operator:
            case "and":
                return self.passing(joined(condition))
            case "or":
                passed = np.zeros(len(self._files), np.bool_)
                for one in joined(condition):
                    passed |= self._passing(one)
                return passed
            case "not":
                return ~self._passing(replace(condition, operator="or"))
        values, place_of_file = self._column(condition.field)
        answers = [passes(value, condition) for value in values]
        return np.array(answers, np.bool_)[place_of_file]

    def _column(self, name: str) -> tuple[list[object], npt.NDArray[np.intp]]:
        """The different values of a field, and which of them each file has."""
        if name in self._columns:
            return self._columns[name]
        values: list[object] = []
        places: dict[str, int] = {}
        place_of_file = np.empty(len(self._files), np.intp)
        for number, (uri, metadata) in enumerate(self._files):
            value = look_up(uri, metadata, name)
            written = repr(value)  # 1, True, 1.0 and "1" are four values; a list has no hash
            place_of_file[number] = place = places.setdefault(written, len(values))
            if place == len(values):
                values.append(value)
        column = values, place_of_file
        if values != [MISSING]:  # or whoever asks for fields that nobody has would fill memory
            self._columns[name] = column
        return column

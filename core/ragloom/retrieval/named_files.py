"""Files that a query names: "what does docs/setup.md say?", ``setup.md:12``."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from ragloom.snapshot import Snapshot

_NAME: Final = re.compile(
    r"(?<![\w/.@-])(?:\./)?(?P<path>(?:[\w.+-]+/)*[\w+-][\w.+-]*\.\w+)(?::(?P<line>\d+))?(?![\w/@])"
)
_MOST: Final = 3  # files of one name; of more, none is meant


def of_named_files(
    text: str, snapshot: Snapshot, rows: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    """``(n,)`` bool: which rows are of a file that a query names, with a line number at that line."""
    found: npt.NDArray[np.bool_] = np.zeros(len(rows), np.bool_)
    for match in _NAME.finditer(text):
        named = snapshot.file_names.ending_in(match["path"])
        if not 0 < len(named) <= _MOST:
            continue
        own = np.isin(snapshot.file_of_row[rows], named)
        there = own & _at_line(int(match["line"] or 0), snapshot, rows, own)
        found |= there if there.any() else own
    return found


def _at_line(
    line: int, snapshot: Snapshot, rows: npt.NDArray[np.intp], own: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """``(n,)`` bool: which of a file's ``own`` rows have a line."""
    found: npt.NDArray[np.bool_] = np.zeros(len(rows), np.bool_)
    for at in np.flatnonzero(own) if line else ():
        lines = snapshot.chunk(int(rows[at])).lines
        found[at] = lines.start <= line <= lines.end
    return found

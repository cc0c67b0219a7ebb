"""Rows of a snapshot as arrays of ascending numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ragloom.snapshot import Snapshot


def scores_by_row(
    snapshot: Snapshot, serials: npt.NDArray[np.uint64], scores: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]:
    """Rows, ascending, and their scores, of serial numbers in any order."""
    order = np.argsort(serials)
    serials, every = serials[order], snapshot.serials
    if len(every) and every[-1] - every[0] == len(every) - 1:  # without a gap
        return (serials - every[0]).astype(np.intp), scores[order]
    # In order they are looked up several times as fast: each is near the one before.
    return np.searchsorted(every, serials).astype(np.intp, copy=False), scores[order]


def either(some: npt.NDArray[np.intp], others: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The rows that are in either, ascending, each once; the fastest where both are ascending."""
    rows = np.concatenate([some, others])
    rows.sort(kind="stable")  # of two runs: they are merged
    new = np.ones(len(rows), np.bool_)
    np.not_equal(rows[1:], rows[:-1], out=new[1:])
    return rows[new]

"""The view Map: the chunks of an index in two dimensions, by principal components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

from ragloom import Snapshot, Space

_BLOCK = 2048  # vectors that are in memory at once
_FITTED = 4096  # vectors from which the components are computed
_SUBSPACE, _ROUNDS = 16, 24  # vectors and steps in which the largest components are found
_SAMPLE = 768  # vectors that each is compared with, to tell how lonely it is
_NEAR = 3  # the cosine with the third nearest of the sample counts: one may be a copy
_LONELY = 0.01  # share of the chunks that are shown as outliers

DUPLICATE, OUTLIER, PENDING = 1, 2, 4
"""Bits of a mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Where the chunks of a generation are.

    Attributes:
        generation: Its number.
        positions: ``(n, 2)`` float32, -1 to 1; 0 for chunks without a vector.
        files: ``(n,)`` int32: the file of each chunk, by its place in ``Snapshot.uris``.
        explained: The share of the variance that the two components have.
    """

    generation: int
    positions: npt.NDArray[np.float32]
    files: npt.NDArray[np.int32]
    explained: float

    def bytes(self) -> bytes:
        """The positions, then the files, little-endian, without anything between."""
        return self.positions.astype("<f4").tobytes() + self.files.astype("<i4").tobytes()


def picture_of(space: Space) -> Picture:
    """The first two principal components of the embeddings (Pearson, 1901), fitted on a sample of them.

    The sign of each component is that of its largest loading, so that the same index has the same picture.
    """
    snapshot = space.snapshot()
    snapshot.release()  # of searches
    sample = _sample(snapshot, _FITTED)
    mean = sample.mean(axis=0) if len(sample) else np.zeros(snapshot.meta.dimension, np.float32)
    centred = sample - mean
    spread = centred.T @ centred
    values, axes = _largest(spread)
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    positions = np.zeros((len(snapshot), 2), np.float32)
    for rows, block in _blocks(snapshot):
        positions[rows] = np.nan_to_num(block @ axes - mean @ axes)
    largest = float(np.abs(positions).max(initial=1e-9))
    total = float(np.trace(spread))
    return Picture(
        generation=snapshot.meta.generation,
        positions=positions / np.float32(largest),
        files=snapshot.file_of_row.astype(np.int32),
        explained=float(values.sum()) / total if total > 0 else 0.0,
    )


def _largest(
    spread: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """The two largest eigenvalues of a matrix ``(d, d)``, and their vectors ``(d, 2)``.

    By subspace iteration (Halko, Martinsson and Tropp, 2011, algorithm 4.4): all of them would take as
    long as the rest of the picture.
    """
    width = min(_SUBSPACE, len(spread))
    basis = np.random.default_rng(0).standard_normal((len(spread), width)).astype(np.float32)
    for _ in range(_ROUNDS):
        basis, _ = np.linalg.qr(spread @ basis)
    values, inner = np.linalg.eigh(basis.T @ spread @ basis)
    return values[::-1][:2], (basis @ inner)[:, ::-1][:, :2].astype(np.float32)


def marks_of(space: Space) -> npt.NDArray[np.uint8]:
    """``(n,)``: which chunks have the text of another, which are far from all others, which have no vector.

    Far means the lowest hundredth by the cosine with the third nearest of a sample of the others.
    """
    snapshot = space.snapshot()
    marks = np.zeros(len(snapshot), np.uint8)
    texts = np.zeros(len(snapshot), "S16")
    for row in range(len(snapshot)):
        texts[row] = _digest(snapshot, row)
        if row % _BLOCK == 0:
            snapshot.release()
    _, which, counts = np.unique(texts, return_inverse=True, return_counts=True)
    marks[counts[which] > 1] |= DUPLICATE
    sample = _sample(snapshot, _SAMPLE)
    if len(sample) <= _NEAR:
        return marks
    near = np.full(len(snapshot), np.nan, np.float32)
    for rows, block in _blocks(snapshot):
        near[rows] = np.partition(block @ sample.T, -_NEAR, axis=1)[:, -_NEAR]
    missing = np.isnan(near)
    marks[missing] |= PENDING
    if not missing.all():
        marks[near <= np.nanquantile(near, _LONELY)] |= OUTLIER
    return marks


def _digest(snapshot: Snapshot, row: int) -> bytes:
    return blake2b(snapshot.chunk(row).text.strip().encode(), digest_size=16).digest()


def _sample(snapshot: Snapshot, most: int) -> npt.NDArray[np.float32]:
    """At most so many vectors, the same each time."""
    count = len(snapshot)
    rows = np.arange(count, dtype=np.intp)
    if count > most:
        rows = np.sort(np.random.default_rng(0).choice(count, most, replace=False)).astype(np.intp)
    vectors = snapshot.vectors(rows)
    kept: npt.NDArray[np.float32] = vectors[~np.isnan(vectors).any(axis=1)]
    return kept


def _blocks(snapshot: Snapshot) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[Any]]]:
    for start in range(0, len(snapshot), _BLOCK):
        rows = np.arange(start, min(start + _BLOCK, len(snapshot)), dtype=np.intp)
        yield rows, snapshot.vectors(rows)
        snapshot.release()  # what was read of the files is not kept in memory

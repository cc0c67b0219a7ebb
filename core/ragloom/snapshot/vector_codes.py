"""Vectors as whole numbers of 24 bits: the upper 8 are scanned, all of them give the exact cosine.

A row is ``q * 2**e``, with ``q`` the row's numbers rounded to whole ones and ``e`` the least power of
two at which they fit. ``q`` is kept as ``coarse * 65536 + fine``: a scan reads a quarter of what
float32 takes, and whoever needs exact numbers reads the other two bytes of a few rows only.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numkong
import numpy as np
import numpy.typing as npt

from ragloom.protocols import Embeddings

Coarse: TypeAlias = npt.NDArray[np.int8]
Fine: TypeAlias = npt.NDArray[np.int16]
Exponents: TypeAlias = npt.NDArray[np.int8]

_COARSE_MAX = 127
_STEP = 1 << 16  # one of coarse, in steps of fine
_LARGEST = _COARSE_MAX * _STEP + _STEP // 2 - 1  # beyond it fine would carry coarse to 128
_BITS = 23  # of the largest, without its sign
_TOO_LARGE = 2.0**127
_SAMPLED, _SAMPLE = 16, 1 << 13  # one score of so many tells the highest; or so many do, of more
_LEAST_EXPONENT = -126  # its reciprocal is a float32, too


class Codes(NamedTuple):
    """Vectors in 24 bits a number."""

    coarse: Coarse  # (n, d)
    fine: Fine  # (n, d)
    exponents: Exponents  # (n,)


def encode(vectors: Embeddings) -> Codes:
    """Round ``(n, d)`` float32 to codes, at most ``2**(e - 1)`` off a number in a row of exponent ``e``.

    What :func:`decode` returns is encoded to the same codes again.

    Raises:
        ValueError: A number is not finite, or beyond ``2**127``.
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    if not (largest < _TOO_LARGE).all():  # nor where it is NaN
        raise ValueError("a vector holds a number that is not finite, or beyond 2**127")
    exponents = np.maximum(np.frexp(largest)[1] - _BITS, _LEAST_EXPONENT)
    exponents[np.rint(largest * _power(-exponents)) > _LARGEST] += 1
    whole = np.rint(vectors * _power(-exponents)[:, None]).astype(np.int32)
    coarse = (whole + _STEP // 2) >> 16
    fine = whole - coarse * _STEP
    return Codes(coarse.astype(np.int8), fine.astype(np.int16), exponents.astype(np.int8))


def decode(coarse: Coarse, fine: Fine, exponents: Exponents) -> Embeddings:
    """``(n, d)`` float32: what codes stand for, exactly."""
    numbers = coarse.astype(np.float32)
    numbers *= _STEP
    numbers += fine  # below 2**24: exact
    numbers *= _power(exponents)[:, None]
    return numbers


def approximate(coarse: Coarse, exponents: Exponents, query: Embeddings) -> npt.NDArray[np.float32]:
    """``(n,)`` float32: the cosine of every row with a ``(d,)`` query, of unit length both, nearly.

    The query is rounded to 8 bits, too; what is missing is about 0.01 at the worst. One thread: memory
    bounds the scan, and a second thread waits where another process holds the core.
    """
    largest = float(np.abs(query).max(initial=0.0))
    if not len(coarse) or largest == 0.0:
        return np.zeros(len(coarse), np.float32)
    rounded = np.rint(query * (_COARSE_MAX / largest)).astype(np.int8)
    sums = numkong.cdist(rounded[None], coarse, metric="dot", out_dtype="float32", threads=1)
    cosines: npt.NDArray[np.float32] = np.ldexp(np.asarray(sums).ravel(), exponents)
    cosines *= np.float32(_STEP * largest / _COARSE_MAX)
    return cosines


def _power(exponents: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
    powers: npt.NDArray[np.float32] = np.ldexp(np.float32(1), exponents)
    return powers


def highest(
    scores: npt.NDArray[np.float32], limit: int, among: npt.NDArray[np.intp] | None = None
) -> npt.NDArray[np.intp]:
    """The ``limit`` rows with the highest scores, ascending; or those ``among`` some; none with -inf."""
    if among is not None:
        scores = scores[among]
    rows = _likely(scores, limit)
    found = scores[rows]
    if len(rows) > limit:
        least = np.partition(found, len(rows) - limit)[len(rows) - limit]
        kept = found > least
        kept[np.flatnonzero(found == least)[: limit - np.count_nonzero(kept)]] = True
        rows, found = rows[kept], found[kept]
    rows = rows[found > -np.inf]
    return rows if among is None else among[rows]


def _likely(scores: npt.NDArray[np.float32], limit: int) -> npt.NDArray[np.intp]:
    """Rows among which the highest ``limit`` are, as a sample tells how high these may be."""
    step = max(_SAMPLED, len(scores) // _SAMPLE)
    sample = scores[::step]
    wanted = 2 * limit // step
    if len(sample) > wanted > 0:
        rows = np.flatnonzero(scores >= np.partition(sample, -wanted)[-wanted])
        if len(rows) >= limit:
            return rows
    return np.arange(len(scores))

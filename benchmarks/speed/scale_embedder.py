"""The embedder of the scale benchmark, a plugin: cheap vectors that another process can compute again.

A passage is marked with a number, ``[ab cd ef]``, which alone decides its vector; another text has the
vector of a number that its words give. Vectors are sums of one row of each of three tables, so that they
lie in clusters and within those in smaller ones, as those of a model do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ragloom import Embedder, Provider, embedder_from, hookimpl

__all__ = ["embed", "mark", "number_of", "ragloom_embedders", "vectors_of"]

DIMENSION = 384
_TABLES = ((1021, 1.0), (1019, 0.7), (1013, 0.5))  # rows, all primes, and how much one counts
_MARK = re.compile(r"\[([a-z])([a-z]) ([a-z])([a-z]) ([a-z])([a-z])\]")
_LETTERS = 26


def mark(number: int) -> str:
    """What a passage with a number below 308,915,776 begins with."""
    letters = []
    for _ in range(6):
        number, letter = divmod(number, _LETTERS)
        letters.append(chr(ord("a") + letter))
    return "[{}{} {}{} {}{}]".format(*letters)


def number_of(text: str) -> int | None:
    """The number that a text is marked with."""
    found = _MARK.search(text)
    if found is None:
        return None
    return sum((ord(letter) - ord("a")) * _LETTERS**at for at, letter in enumerate(found.groups()))


@cache
def _tables() -> Sequence[npt.NDArray[np.float32]]:
    choose = np.random.default_rng(11)
    return [
        np.float32(weight) * choose.standard_normal((rows, DIMENSION), np.float32)
        for rows, weight in _TABLES
    ]


def vectors_of(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """``(n, DIMENSION)`` float32, of unit length."""
    first, second, third = _tables()
    vectors = first[numbers % len(first)] + third[numbers // 7 % len(third)]
    vectors += second[numbers // len(first) % len(second)]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def embed(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """``(n, DIMENSION)`` float32: what the plugin makes of texts."""
    numbers = [number_of(text) for text in texts]
    known = [
        crc32(text.encode()) if number is None else number
        for text, number in zip(texts, numbers, strict=True)
    ]
    return vectors_of(np.array(known, np.int64))


def _make(_: object) -> Embedder:
    return embedder_from(embed, dimension=DIMENSION, fingerprint="scale-1")


@hookimpl
def ragloom_embedders() -> Sequence[Provider[Embedder]]:
    """Offer the embedder ``scale``."""
    return [Provider(name="scale", summary="for the scale benchmark", create=_make, local=True)]

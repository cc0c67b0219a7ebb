"""Named arrays in one file, which is mapped into memory at once.

The file begins with a line of JSON that names each array's type, shape and place, and ends where the last
array does; every array begins at a multiple of 64 bytes, so that vector instructions read it aligned.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ragloom.text.parsing import parse_json

_ALIGNED = 64  # bytes, of a cache line
_LONGEST_HEADER = 1 << 16  # bytes


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Write arrays to a new file.

    Raises:
        OSError: It cannot be written; the disk may be full.
    """
    places: dict[str, tuple[str, tuple[int, ...], int]] = {}
    size = 0
    for name, array in arrays.items():
        places[name] = array.dtype.str, array.shape, size
        size = _aligned(size + array.nbytes)
    header = json.dumps(places, separators=(",", ":")).encode() + b"\n"
    with path.open("wb") as stream:
        stream.write(header.rjust(_aligned(len(header))))
        start = stream.tell()
        for name, array in arrays.items():
            stream.write(bytes(start + places[name][2] - stream.tell()))
            stream.write(np.ascontiguousarray(array).data if array.size else b"")


class Mapped(NamedTuple):
    """Arrays in a file, read-only, and the memory that the file is mapped to."""

    arrays: Mapping[str, npt.NDArray[Any]]
    memory: mmap.mmap


def read_arrays(path: Path) -> Mapped:
    """Map the arrays of a file into memory; they outlive the file's name.

    Raises:
        OSError: It cannot be read.
        ValueError, TypeError, LookupError: It is no such file, or not whole.
    """
    with path.open("rb") as stream:
        header = stream.readline(_LONGEST_HEADER)
        whole = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    arrays: dict[str, npt.NDArray[Any]] = {}
    end = start = len(header)
    places = parse_json(header)
    if not isinstance(places, dict):
        raise TypeError(f"{path.name} names no arrays")
    for name, (kind, shape, place) in cast("dict[str, Any]", places).items():
        dtype, count = np.dtype(str(kind)), prod(map(int, shape))
        flat = (
            np.frombuffer(whole, dtype, count, start + int(place)) if count else np.empty(0, dtype)
        )
        arrays[name] = flat.reshape(shape)
        end = max(end, start + int(place) + flat.nbytes)
    if end != len(whole):
        raise ValueError(f"{path.name} has {len(whole)} bytes and not {end}")
    return Mapped(arrays, whole)


def release(memory: mmap.mmap) -> None:
    """Have the system take back what was read of a file, until it is read again."""
    if hasattr(mmap, "MADV_DONTNEED"):  # elsewhere the system decides
        memory.madvise(mmap.MADV_DONTNEED)


def _aligned(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED

"""Which segments are written as one: by size, so that a chunk is copied a few times in all.

As in the size-tiered compaction of log-structured stores (O'Neil et al., "The Log-Structured Merge-Tree",
1996): segments are merged with others of their size once there are several, so that n changes cost n log n
copies, and one change costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ragloom.snapshot.segment import Segment, SegmentWriter, VectorWriter

_OF_A_TIER = 8  # segments of about one size, before they are merged
_TIER = 8  # a segment of the next size is so many times as large
_LARGEST = 1 << 16  # chunks of a merged segment, which take 200 MB while it is written
_WORN = 0.5  # removed chunks of a segment, before it is written without them


class Size(NamedTuple):
    """Of a segment: the chunks in its files, those that are left, and whether all have vectors."""

    written: int
    left: int
    complete: bool


def merges(sizes: Sequence[Size]) -> Sequence[tuple[int, int]]:
    """The runs of neighbouring segments to be merged, as half-open ranges, in their order."""
    runs: list[tuple[int, int]] = []
    start = 0
    while start < len(sizes):
        end = _end_of_run(sizes, start)
        if end > start + 1 or (sizes[start].complete and _is_worn(sizes[start])):
            runs.append((start, end))
        start = end
    return runs


def _end_of_run(sizes: Sequence[Size], start: int) -> int:
    """Behind the segments that one is merged with, of its size or smaller, or else behind it alone."""
    tier, total, alike = _tier(sizes[start].left), 0, 0
    for end, size in enumerate(sizes[start:], start):
        total += size.left
        if not size.complete or total > _LARGEST or _tier(size.left) > tier:
            break
        alike += _tier(size.left) == tier
        if alike == _OF_A_TIER:
            return end + 1
    return start + 1


def merged(stem: Path, segments: Sequence[Segment], dimension: int) -> Segment:
    """One segment with the chunks that are left of several, in their order.

    Args:
        stem: The path of its files without their endings.
        segments: All of whose chunks have vectors.
        dimension: Numbers in a vector.
    """
    writer = SegmentWriter(stem)
    left = [np.delete(np.arange(len(one)), one.removed) for one in segments]
    for segment, rows in zip(segments, left, strict=True):
        serials = segment.serials
        for row in rows.tolist():
            writer.add(
                segment.uris[segment.files[row]],
                segment.packed(row),
                bytes(segment.ids[row]),
                bytes(segment.keys[row]),
                int(serials[row]),
            )
    writer.close()
    vectors = VectorWriter(len(writer), dimension)
    start = 0
    for segment, rows in zip(segments, left, strict=True):
        vectors.put(np.arange(start, start + len(rows)), segment.codes(rows))
        segment.release()
        start += len(rows)
    vectors.write(stem)
    return Segment(stem)


def _is_worn(size: Size) -> bool:
    return size.written - size.left > _WORN * size.written


def _tier(rows: int) -> int:
    tier = 0
    while rows > _TIER:
        rows //= _TIER
        tier += 1
    return tier

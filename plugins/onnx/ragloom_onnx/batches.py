"""Which texts go through the model together."""

from __future__ import annotations

from collections.abc import Sequence


def plan(lengths: Sequence[int], *, batch_tokens: int, rows: int | None = None) -> list[list[int]]:
    """Positions in ``lengths``, grouped into runs, the longest texts first.

    Texts of a run have about the same length, so there is next to nothing to pad; the longest come
    first, so that the runs at the end, where cores fall idle, are short and the first run reserves
    the memory that all need.

    Args:
        lengths: Tokens of each text.
        batch_tokens: The most tokens in a run, padding included; a longer text is a run of its own.
        rows: The most texts in a run, whatever their length.
    """
    batches: list[list[int]] = []
    longest = 0
    for position in sorted(range(len(lengths)), key=lambda position: -lengths[position]):
        size = len(batches[-1]) + 1 if batches else 0
        if size and size * longest <= batch_tokens and (rows is None or size <= rows):
            batches[-1].append(position)
        else:
            batches.append([position])
            longest = lengths[position]
    return batches

"""Saying how far a long piece of work is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from ragloom import Progress

Item = TypeVar("Item")


def reported(items: Sequence[Item], stage: str, progress: Progress | None) -> Iterator[Item]:
    """The items in turn; ``progress`` is told of each once it is done with."""
    for number, item in enumerate(items, 1):
        yield item
        if progress:
            progress(stage, number, len(items))

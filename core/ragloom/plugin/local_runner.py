"""The runner ``local``: one batch after the other, where the index run is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

LOCAL = "local"
Batch = TypeVar("Batch")
Done = TypeVar("Done")


class LocalRunner:
    """Works in the calling process and thread."""

    elsewhere: bool = False

    def run(
        self, start: Callable[[], Callable[[Batch], Done]], batches: Iterable[Batch]
    ) -> Iterator[tuple[int, Done]]:
        """As in :class:`ragloom.protocols.Runner`."""
        work = start()
        for place, batch in enumerate(batches):
            yield place, work(batch)

    def close(self) -> None:
        """Nothing is held."""

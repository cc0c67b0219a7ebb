"""One search at a time."""

from __future__ import annotations

from threading import Lock
from time import monotonic

from ragloom import RagloomError

TIMEOUT = 30.0
"""Seconds after which a call is given up."""


_LEAST = 0.05  # seconds: the search that has just begun may not have said when


class Turn:
    """Lets one search run at a time, because a model is used from one thread at a time.

    Whoever comes waits for its turn as long as the one that runs has time, so that a search that is stuck
    keeps no other waiting.
    """

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout
        self._running = Lock()
        self._since = 0.0

    def __enter__(self) -> None:
        """Wait; a RagloomError where the search that runs takes longer than it may."""
        while not self._running.acquire(timeout=max(self._left(), _LEAST)):
            if self._left() <= 0:
                raise RagloomError("an earlier search has not ended yet: try again later")
        self._since = monotonic()

    def _left(self) -> float:
        """Seconds that the search that runs has."""
        return self._since + self.timeout - monotonic()

    def __exit__(self, *_raised: object) -> None:
        """Let the next one search."""
        self._running.release()

"""Calls of a database that answers in time, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from time import monotonic
from typing import Generic, TypeVar

from ragloom import StoreError

Result = TypeVar("Result")


class Budget:
    """Seconds that may be spent on waiting, in all.

    A call that takes longer goes on in a thread of its own, which ends with the process: drivers have
    time limits for one answer, none for all of them.

    Args:
        seconds: How many.
        place: What is waited for, for the error.
    """

    def __init__(self, seconds: float, place: str) -> None:
        self._seconds = seconds
        self._left = seconds
        self._place = place

    def run(self, call: Callable[[], Result]) -> Result:
        """What the call returns or raises; a StoreError where it takes too long."""
        begun = monotonic()
        running = _Call(call)
        running.thread.start()
        running.thread.join(max(self._left, 0.0))
        self._left -= monotonic() - begun
        if running.thread.is_alive():
            raise StoreError(
                f"the database of lessons, {self._place}: no answer within {self._seconds:g} s"
            )
        if running.error is not None:
            raise running.error
        return running.results[0]


class _Call(Generic[Result]):
    """A call in a thread that no exit of the process waits for."""

    def __init__(self, call: Callable[[], Result]) -> None:
        self.results: list[Result] = []
        self.error: BaseException | None = None
        self.thread: Thread = Thread(target=self._run, args=(call,), daemon=True)

    def _run(self, call: Callable[[], Result]) -> None:
        try:
            self.results.append(call())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self.error = error

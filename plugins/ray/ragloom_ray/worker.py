"""What runs in a worker: a batch, with what an earlier one of the same run has loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ragloom import RagloomError

_STARTED: dict[str, Callable[[Any], object]] = {}
"""What works, by the name of its run: the last one, which has a model in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """An error that the work raised.

    Attributes:
        kind: Its type.
        message: What it says.
    """

    kind: type[RagloomError]
    message: str

    def error(self) -> RagloomError:
        """The error, whatever its type is made of."""
        made = self.kind.__new__(self.kind, self.message)
        made.args = (self.message,)
        return made


def work(run: str, start: Callable[[], Callable[[Any], object]], batch: object) -> object:
    """The result of a batch, or :class:`Refused`."""
    try:
        if run not in _STARTED:
            _STARTED.clear()
            _STARTED[run] = start()
        return _STARTED[run](batch)
    except RagloomError as error:
        return Refused(kind=type(error), message=str(error))

"""A sign of life on stderr while a model is being loaded."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

PATIENCE = 0.5  # seconds before anything is shown


@contextmanager
def spinner(message: str, *, patience: float = PATIENCE) -> Iterator[None]:
    """Turn a spinner beside ``message`` once the block has taken longer than ``patience`` seconds.

    On a terminal only: nothing is written to a file or a pipe.
    """
    if not sys.stderr.isatty():
        yield
        return
    over = threading.Event()
    lock = threading.Lock()
    shown: list[Status] = []

    def show() -> None:
        from rich.console import Console
        from rich.status import Status

        status = Status(message, console=Console(stderr=True))
        with lock:
            if not over.is_set():
                shown.append(status)
                status.start()

    timer = threading.Timer(patience, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        over.set()
        with lock:
            for status in shown:
                status.stop()

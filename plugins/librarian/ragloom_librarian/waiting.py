"""A sign of life on stderr while a model is being loaded."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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

    def show() -> None:
        if over.wait(patience):
            return
        from rich.console import Console

        with Console(stderr=True).status(message):
            over.wait()

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()

"""Keep what a plugin prints while it is imported out of the results of a command.

A command owns its process's stdout: results, JSON and protocols go there and nothing else does. A program
that uses ragloom as a library has a stdout of its own, which is left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TextIO


class _Stdout:
    """Whether this process's stdout is a command's, and who is importing just now."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.owned = False
        self.importing = 0
        self.real: TextIO | None = None


_STDOUT = _Stdout()


@contextmanager
def own_stdout() -> Iterator[None]:
    """Say that this process's stdout is a command's."""
    _STDOUT.owned = True
    try:
        yield
    finally:
        _STDOUT.owned = False


@contextmanager
def stdout_kept() -> Iterator[None]:
    """Have ``print`` write to stderr while plugin code is imported, if stdout is a command's.

    Any number of threads may import at once; the last to end gives stdout back.
    """
    if not _STDOUT.owned:
        yield
        return
    with _STDOUT.lock:
        if not _STDOUT.importing:
            _STDOUT.real, sys.stdout = sys.stdout, sys.stderr
        _STDOUT.importing += 1
    try:
        yield
    finally:
        with _STDOUT.lock:
            _STDOUT.importing -= 1
            if not _STDOUT.importing and _STDOUT.real is not None:
                sys.stdout, _STDOUT.real = _STDOUT.real, None

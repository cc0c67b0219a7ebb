"""Wait for another process to release a Milvus Lite directory, and say who holds it.

The engine takes a lock (``flock``) on the file ``LOCK`` in the directory and leaves the file empty.
We write our process id into it, and Linux tells whose lock it is even when another program took it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from ragloom import StoreLockedError

LOCK: Final = "LOCK"
PATIENCE: Final = 5.0
"""Seconds to wait for the holder: longer than an ordinary ``ragloom index`` holds a store."""

_PAUSE: Final = 0.05

logger = logging.getLogger("ragloom.milvus")
logger.addHandler(logging.NullHandler())

T = TypeVar("T")


def wait_for(
    opening: Callable[[], T],
    locked: type[Exception],
    directory: Path,
    *,
    patience: float = PATIENCE,
) -> T:
    """What ``opening`` returns, tried for ``patience`` seconds while it raises ``locked``."""
    deadline = time.monotonic() + patience
    told = False
    while True:
        try:
            return opening()
        except locked as error:
            who = holder(directory)
            if time.monotonic() >= deadline:
                raise StoreLockedError(
                    f"the store {directory} is in use by {who}: run this again when it is done"
                ) from error
            if not told:
                told = True
                logger.warning("waiting for %s, which is in use by %s", directory, who)
            time.sleep(_PAUSE)


def sign(directory: Path) -> None:
    """Write this process's id into the lock that it holds."""
    with contextlib.suppress(OSError):
        (directory / LOCK).write_text(f"{os.getpid()}\n", encoding="ascii")


def unsign(directory: Path) -> None:
    """Take it out again, before the lock is given up."""
    with contextlib.suppress(OSError):
        os.truncate(directory / LOCK, 0)


def holder(directory: Path) -> str:
    """Who holds the lock, for a message: ``process 4711 (python)`` where that can be found."""
    lock = directory / LOCK
    process = _holder_by_kernel(lock) or _holder_by_signature(lock)
    if process is None:
        return "another process"
    if process == os.getpid():
        return f"this very process ({process})"
    name = ""
    with contextlib.suppress(OSError):
        name = Path(f"/proc/{process}/comm").read_text(encoding="utf-8", errors="replace").strip()
    return f"process {process} ({name})" if name else f"process {process}"


def _holder_by_kernel(lock: Path) -> int | None:
    # A line: "1: FLOCK  ADVISORY  WRITE 4711 fd:01:131075 0 EOF"; see proc_locks(5).
    try:
        inode = f":{lock.stat().st_ino}"
        lines = Path("/proc/locks").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    for line in lines:
        words = line.split()
        if len(words) > 5 and words[1] == "FLOCK" and words[5].endswith(inode):  # noqa: PLR2004
            return int(words[4]) if words[4].isdigit() and words[4] != "0" else None
    return None


def _holder_by_signature(lock: Path) -> int | None:
    try:
        return int(lock.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None

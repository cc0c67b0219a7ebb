"""One writer a space: a lock that dies with its process and names its holder."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from ragloom.errors import StoreLockedError
from ragloom.stores.atomic import replace_file
from ragloom.stores.faults import fault_error
from ragloom.text.parsing import parse_json

_LOG = logging.getLogger("ragloom")


@contextmanager
def space_lock(directory: Path, *, timeout: float, quiet: bool = False) -> Iterator[None]:
    """Hold the space's lock, waiting up to ``timeout`` seconds for another process to finish.

    With ``quiet``, the log says nothing of it.

    Raises:
        StoreLockedError: It did not finish in time; the message names it.
        StoreError: The lock cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(directory / "lock", thread_local=False)
    holder = directory / "lock.holder"
    try:
        lock.acquire(timeout=0)
    except Timeout:  # which is an OSError
        if not quiet:
            _LOG.warning("%s: waiting for %s to finish", directory.name, _holder(holder))
        try:
            lock.acquire(timeout=timeout, poll_interval=0.05)
        except Timeout as error:
            raise StoreLockedError(
                f"space {directory.name!r} is still being written by {_holder(holder)} after "
                f"{timeout:g} s: wait for it, or stop it, then run the command again"
            ) from error
    except OSError as error:
        raise fault_error(directory / "lock", error, "locked") from error
    known = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()}
    try:
        with suppress(OSError):  # it is for messages
            replace_file(holder, json.dumps(known))
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def _holder(path: Path) -> str:
    try:
        known = cast("dict[str, Any]", parse_json(path.read_bytes()))
        since = time.strftime("%H:%M:%S", time.localtime(known["since"]))
        return f"process {known['pid']} on {known['host']} (since {since})"
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return "another process"

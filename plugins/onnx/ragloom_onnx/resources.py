"""Cores and memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def cores() -> int:
    """Cores that this process may use; no more than ``OMP_NUM_THREADS``, as schedulers set it."""
    there = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        there = len(os.sched_getaffinity(0))
    most = os.environ.get("OMP_NUM_THREADS", "")
    return min(there, int(most)) if most.isdecimal() and int(most) else there


def run_each(run: Callable[[T], None], items: Sequence[T], *, threads: int) -> None:
    """Call ``run`` with every item, in so many threads; the first error ends it."""
    if min(threads, len(items)) <= 1:
        for item in items:
            run(item)
        return
    executor = ThreadPoolExecutor(min(threads, len(items)), "ragloom-onnx")
    try:
        for _ in executor.map(run, items):
            pass
    finally:
        # After an error or Ctrl-C nothing more begins.
        executor.shutdown(cancel_futures=True)


def trim_memory() -> None:
    """Give freed memory to the system; the C library keeps it: 45 MB after 2,000 passages."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)  # glibc alone has it

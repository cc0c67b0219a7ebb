"""Arms ``shim.c`` in a child: the n-th file operation kills it, or fails."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from enum import IntEnum, IntFlag
from pathlib import Path

_SOURCE = Path(__file__).with_name("shim.c")
_VARIABLE = "RAGLOOM_TORTURE_SHIM"


class Kind(IntFlag):
    """File operations, as ``shim.c`` counts them."""

    OPEN = 1  # for reading
    CREATE = 2  # opened for writing
    WRITE = 4  # and truncated
    RENAME = 8  # and linked
    REMOVE = 16
    SYNC = 32
    FOLDER = 64
    READ = 128
    CHANGES = CREATE | WRITE | RENAME | REMOVE | SYNC | FOLDER


class Action(IntEnum):
    """What happens at the n-th one."""

    COUNT = 0
    BEFORE = 1  # killed before it
    AFTER = 2  # killed after it
    TORN = 3  # killed after half of a write
    FAIL = 4
    FAIL_ON = 5  # this one and all that follow


def missing() -> str:
    """Why the shim cannot be had here; empty where it can."""
    if sys.platform != "linux":
        return "file operations are counted on Linux only"
    return "" if shutil.which("cc") else "no C compiler (cc)"


def preload(folder: Path) -> None:
    """Start this program again with the shim preloaded, which is built in ``folder``."""
    built = folder / "shim.so"
    command = ["cc", "-O1", "-shared", "-fPIC", "-o", str(built), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True)
    # The children of fork have it; programs that they start do not need it.
    environment = os.environ | {"LD_PRELOAD": str(built), _VARIABLE: str(built)}
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606


def preloaded() -> Path | None:
    """The folder of the shim that this process has preloaded, if it has."""
    built = os.environ.get(_VARIABLE)
    return None if built is None else Path(built).parent


def arm(
    folder: Path, action: Action, at: int = 0, *, kinds: Kind, error: int = 0, log: int = -1
) -> None:
    """Count operations of these kinds below ``folder`` from now on, in this process.

    Args:
        folder: Without links in its path.
        action: What happens at number ``at``, which counts from one.
        at: Which.
        kinds: Of the operations that count.
        error: The number that a failing one reports.
        log: A descriptor to which every write and every sync is noted, by inode.
    """
    _library().shim_arm(int(kinds), ctypes.c_long(at), int(action), error, os.fsencode(folder), log)


def seen() -> int:
    """Operations so far; counting ends."""
    library = _library()
    library.shim_disarm()
    library.shim_seen.restype = ctypes.c_long
    return int(library.shim_seen())


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(os.environ[_VARIABLE])

"""Faults of the machine, which are no damage: no descriptor, inode, space or memory, no permission.

Only a missing file, a short one or a wrong checksum is damage. What a fault keeps from being read may be
whole, so nothing is quarantined for it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ragloom.errors import StoreError

_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR})
_IN_RUST = re.compile(r"\bOs \{ code: (\d+)|\(os error (\d+)\)")
_HINTS = {
    errno.EMFILE: "allow more open files with 'ulimit -n'",
    errno.ENOSPC: "free space or inodes",
    errno.EDQUOT: "free space or inodes",
}


def fault_of(error: BaseException) -> OSError | None:
    """The fault of the machine that made a read fail; None where it tells of damage or of something else.

    Libraries written in Rust name it in the message alone.
    """
    if isinstance(error, MemoryError):
        return OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))
    if isinstance(error, OSError):
        return None if error.errno in {None, *_MISSING} else error
    if (found := _IN_RUST.search(str(error))) is None:
        return None
    number = int(found[1] or found[2])
    return None if number in _MISSING else OSError(number, os.strerror(number))


def fault_error(path: Path, fault: OSError, what: str = "read") -> StoreError:
    """The error for a fault: one line with the path that it names, or else ``path``."""
    why = fault.strerror or " ".join(str(fault).split())
    hint = _HINTS.get(fault.errno or 0)
    place = fault.filename if isinstance(fault.filename, str) else path
    return StoreError(f"{place}: cannot be {what}: {why}{f': {hint}' if hint else ''}")


@contextmanager
def named_faults(path: Path, what: str = "written") -> Iterator[None]:
    """Raise a StoreError that names the file for whatever keeps one below ``path`` from being written."""
    try:
        yield
    except OSError as error:
        raise fault_error(path, error, what) from error
    except MemoryError as error:
        raise fault_error(path, OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)), what) from error


def entries_of(folder: Path) -> Sequence[Path]:
    """What is in a folder, sorted; nothing where there is no folder.

    ``Path.glob`` and ``Path.is_dir`` take a folder that cannot be read for an empty one.

    Raises:
        StoreError: It cannot be read.
    """
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        if fault := fault_of(error):
            raise fault_error(folder, fault) from error
        return ()


def is_folder(path: Path) -> bool:
    """Whether there is a folder.

    Raises:
        StoreError: The machine does not say.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        if fault := fault_of(error):
            raise fault_error(path, fault) from error
        return False

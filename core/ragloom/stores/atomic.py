"""Write files without following links, replace one in one step, move a damaged one out of the way."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import get_ident
from typing import BinaryIO


def no_link(path: str, flags: int) -> int:
    """An opener for :func:`open` that fails where ``path`` is a symbolic link.

    Raises:
        OSError: As :func:`os.open`.
    """
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def create(path: Path) -> BinaryIO:
    """Create a file for writing in place of what is there, which is no folder; a link leads nowhere.

    Raises:
        OSError: It cannot be created.
    """
    path.unlink(missing_ok=True)
    return path.open("xb")


def replace_file(path: Path, content: str | bytes) -> None:
    """Write ``content``, text in UTF-8, so that whoever reads sees the old content or the new one whole.

    Any number of processes and threads may do so at once; the last one counts. The folder exists.

    Raises:
        OSError: It cannot be written; the old content stays.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}.tmp")
    try:
        with create(temporary) as stream:
            stream.write(content.encode("utf-8") if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())  # or a loss of power may leave the new name and no content
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def quarantine(path: Path, why: str = "damaged") -> Path:
    """Rename what is damaged to a name beside it that says so; the new path is returned."""
    named = f"{path.name}.{why}-{time.strftime('%Y%m%d-%H%M%S')}"
    aside = path.with_name(named)
    number = 1
    while aside.exists():  # another one within the same second
        number += 1
        aside = path.with_name(f"{named}-{number}")
    path.rename(aside)
    return aside

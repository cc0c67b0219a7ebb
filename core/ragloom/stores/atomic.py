"""Giving a file another content in one step."""

from __future__ import annotations

import os
from pathlib import Path
from threading import get_ident

__all__ = ["replace_file"]


def replace_file(path: Path, text: str) -> None:
    """Write ``text`` in UTF-8, so that whoever reads sees the old content or the new one whole.

    Any number of processes and threads may do so at once; the last one counts.

    Args:
        path: The file, in a folder that exists.
        text: Its content from now on.

    Raises:
        OSError: It cannot be written; the old content stays.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}.tmp")
    try:
        temporary.write_text(text, "utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

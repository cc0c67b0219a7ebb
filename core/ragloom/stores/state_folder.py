"""The state folder of a workspace: used where it is ragloom's own, and leads nowhere else.

What a repository or an archive brings may hold links, through which an index run would overwrite what they
point to. Such a folder is not used.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ragloom.errors import StoreError
from ragloom.sources.tracking import tracked
from ragloom.stores.faults import fault_error, fault_of

_SHARED = re.compile(r"[/\\]([a-z]+-)?gen-[0-9]{6}|[/\\]parts\b")  # share files that never change
_REPLACED = "lessons"  # many files, which are replaced and never written in place

_listed: dict[str, tuple[tuple[int, int], Sequence[str]]] = {}
"""Subfolders of folders that hold no link, with the time and the inode of the folder."""


def check_state(state: Path) -> None:
    """Refuse a state folder that is a link, holds links, or is tracked by git.

    A folder that is as it was when this process last saw it is not read again.

    Raises:
        StoreError: It is not used: which file, why, and what to do; or it cannot be read.
    """
    try:
        status = os.lstat(state)
    except OSError as error:
        if fault := fault_of(error):
            raise fault_error(state, fault) from error
        return
    if stat.S_ISLNK(status.st_mode):
        raise StoreError(f"{state} is a link, and is not used: put a folder in its place")
    if not stat.S_ISDIR(status.st_mode):
        raise StoreError(f"{state} is no folder: move it away")
    folders = [str(state)]
    while folders:
        folder = folders.pop()
        folders += _subfolders(folder, linked=bool(_SHARED.search(folder, len(str(state)))))
    if tracked(state) or os.path.lexists(state / ".git"):
        raise StoreError(
            f"{state} is tracked by git, and what a repository brings is not used as an index: "
            f"run 'git rm -r --cached {state.name}' if it is yours, or move it away"
        )


def _subfolders(folder: str, *, linked: bool) -> Sequence[str]:
    """The folders in a folder that holds no link."""
    try:
        status = os.lstat(folder)
        seen = status.st_mtime_ns, status.st_ino
        known, found = _listed.get(folder, (None, ()))
        if known != seen:
            found = list(_checked(folder, linked=linked))
            _listed[folder] = seen, found
    except (FileNotFoundError, PermissionError):  # replaced by another run; or nothing of ours
        return ()
    except OSError as error:
        raise fault_error(Path(folder), error) from error
    return found


def _checked(folder: str, *, linked: bool) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink() or getattr(entry, "is_junction", bool)():
                raise StoreError(
                    f"{entry.path} is a link, through which other files would be changed: remove the link"
                )
            if entry.is_dir(follow_symlinks=False):
                yield entry.path
            elif not linked and not folder.endswith(_REPLACED):
                _refuse_second_name(entry)


def _refuse_second_name(entry: os.DirEntry[str]) -> None:
    """A hard link: it is written in place, and what has the other name would change with it."""
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        raise StoreError(
            f"{entry.path} is a hard link, through which another file would be changed: put a copy of "
            "it in its place"
        )

"""Find the workspace that a folder belongs to, as git finds a repository: from below."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from ragloom.config.component import ENVIRONMENT
from ragloom.config.settings import CONFIG_NAMES, STATE_FOLDER
from ragloom.errors import ConfigError

__all__ = ["WORKSPACE_VARIABLE", "workspace_above", "workspace_folder"]

_LOG = logging.getLogger("ragloom")

WORKSPACE_VARIABLE = f"{ENVIRONMENT}WORKSPACE"
"""The variable that names the workspace, where no option does."""


def workspace_folder(environment: Mapping[str, str] | None = None) -> str:
    """The workspace of the current folder: what the variable says, the nearest above, or the folder itself.

    Raises:
        ConfigError: The variable names no folder.
    """
    variables = os.environ if environment is None else environment
    if named := variables.get(WORKSPACE_VARIABLE):
        if not Path(named).is_dir():
            raise ConfigError(f"{WORKSPACE_VARIABLE}={named}: there is no such folder")
        return named
    try:
        here = Path.cwd()
    except OSError:  # it is gone, which opening it says
        return "."
    found = workspace_above(here)
    return "." if found in (None, here) else str(found)


def workspace_above(folder: Path) -> Path | None:
    """The nearest of ``folder`` and the folders above it that holds settings or an index.

    The search ends at the user's home, which only counts where it is ``folder`` itself, and at the border
    of a file system. A workspace of another user is not used: its settings could name anything.
    """
    home, device = _home(), _device(folder)
    for candidate in (folder, *folder.parents):
        if candidate != folder and (candidate == home or _device(candidate) != device):
            return None
        marks = [
            mark for name in (*CONFIG_NAMES, STATE_FOLDER) if (mark := _status(candidate / name))
        ]
        if marks and candidate != folder and not all(_is_own(mark) for mark in marks):
            _LOG.warning(
                "%s: a workspace of another user, not used; -C %s uses it", candidate, candidate
            )
            return None
        if marks:
            return candidate
    return None


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def _device(folder: Path) -> int:
    try:
        return folder.stat().st_dev
    except OSError:
        return -1


def _status(path: Path) -> os.stat_result | None:
    """The status of settings or of a state folder; None where there are none, or only a link."""
    try:
        found = path.lstat()
    except OSError:
        return None
    wanted = stat.S_ISDIR if path.name == STATE_FOLDER else stat.S_ISREG
    return found if wanted(found.st_mode) else None


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "getuid") or status.st_uid in (os.getuid(), 0)

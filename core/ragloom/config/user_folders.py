"""The user's own folders, where what no project brings is read and written."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

_UNIX = {"config": ("XDG_CONFIG_HOME", ".config"), "state": ("XDG_STATE_HOME", ".local/state")}
_WINDOWS = {"config": ("APPDATA", "Roaming"), "state": ("LOCALAPPDATA", "Local")}


def user_folder(
    kind: Literal["config", "state"], environment: Mapping[str, str] | None = None
) -> Path:
    """The folder of ragloom's own files of a user, whether or not it exists.

    ``$XDG_CONFIG_HOME/ragloom`` or ``$XDG_STATE_HOME/ragloom`` where that variable holds an absolute path
    (others are ignored: https://specifications.freedesktop.org/basedir-spec), else below ``~/.config`` or
    ``~/.local/state``, on macOS ``~/Library/Application Support``, and on Windows ``%APPDATA%`` or
    ``%LOCALAPPDATA%``.

    Args:
        kind: For settings, or for what ragloom keeps.
        environment: Variables; the process's own by default.
    """
    variables = os.environ if environment is None else environment
    variable, below = _UNIX[kind]
    # Unlike Path's, it does not fail for a user without a home folder, such as in a container.
    home = Path(os.path.expanduser(variables.get("HOME") or "~"))  # noqa: PTH111
    folder = home / below
    if sys.platform == "darwin":
        folder = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        name, last = _WINDOWS[kind]
        folder = Path(variables.get(name) or home / "AppData" / last)
    named = Path(variables.get(variable, ""))
    return (named if named.is_absolute() else folder) / "ragloom"

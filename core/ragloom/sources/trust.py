"""Trust: which permissions of a workspace its user has granted.

A grant belongs to one settings file of one folder, and is kept in the user's own state folder, so that
nothing that a clone brings can forge it. It holds the permissions, with what their paths resolve to, and a
digest of every setting of the file: whatever changes there, the user is asked again.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

from ragloom.config.spelling import counted
from ragloom.config.user_folders import user_folder
from ragloom.config.yaml_file import read_yaml
from ragloom.errors import ConfigError, UntrustedError
from ragloom.secrets.redaction import HIDDEN, hide
from ragloom.sources.discovery import repository_of
from ragloom.types import Json, Permission

VARIABLE = "RAGLOOM_TRUST"
"""The environment variable that trusts every workspace of a process."""

_YES = frozenset({"1", "true", "yes", "on"})
_PLACE = re.compile(r"(.+):\d+(?::|$)", re.DOTALL)
_DEFAULT = "default"
_LOG = logging.getLogger("ragloom")
_NAMED = 4  # changed settings that a message names
_SHOWN = 100  # characters of a value in a message
_SECRET = re.compile(r"token|secret|passw|api_?key|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a user has granted to one settings file.

    Attributes:
        folder: The workspace.
        file: Relative to it; empty for links that no file names.
        time: When, in UTC.
        settings: Digests of the file's settings, by dotted key.
        permissions: Digests of the permissions.
        shown: Each permission in words, without passwords.
    """

    folder: str
    file: str
    time: str
    settings: Mapping[str, str]
    permissions: Sequence[str]
    shown: Sequence[str]


class Trust:
    """The grants of one workspace.

    Args:
        root: Its folder, resolved.
        everything: Whoever opens it vouches for all that its files ask for.
    """

    def __init__(self, root: Path, *, everything: bool = False) -> None:
        self.root = root
        self.everything: bool = (
            everything or os.environ.get(VARIABLE, "").strip().casefold() in _YES
        )
        self._settings: dict[str, Mapping[str, str]] = {}

    def asks(self, place: str) -> bool:
        """Whether what stands at ``place`` is the project's word, and not its user's own."""
        if place == _DEFAULT:  # what it leads to is the project's choice, where it is a link
            return True
        file = _file_of(place)
        return file is not None and self.brings(file)

    def brings(self, file: Path) -> bool:
        """Whether a file belongs to the project: to its folder, or to the git repository around it."""
        within = [Path(os.path.abspath(file)), Path(os.path.realpath(file))]
        if any(path.is_relative_to(user_folder("config")) for path in within):
            return False
        project = repository_of(self.root)
        return any(path.is_relative_to(project) for path in within)

    def missing(self, permissions: Iterable[Permission]) -> list[Permission]:
        """Those of the permissions that the project asks for and its user has not granted."""
        if self.everything:
            return []
        asked = [one for one in permissions if self.asks(one.place)]
        allowed: dict[str, Sequence[str]] = {}
        for file in {self._name(one) for one in asked}:
            now, grant = self._read(file), self._grant(file)
            allowed[file] = grant.permissions if grant and grant.settings == now else ()
        return [one for one in asked if _digest(one) not in allowed[self._name(one)]]

    def require(self, permissions: Iterable[Permission]) -> None:
        """Refuse what was not granted.

        Raises:
            UntrustedError: The first of the permissions that are missing, and how to grant them.
        """
        missing = self.missing(permissions)
        if not missing:
            return
        first = missing[0]
        place = "" if first.place == _DEFAULT else f"{first.place}: "
        more = f" (and {counted(len(missing) - 1, 'other setting')})" if missing[1:] else ""
        changed = self._changed(self._name(first))
        raise UntrustedError(
            f"{place}{first.key}: {_short(first)} is {first.reason}, which only a "
            f"trusted workspace may name{more}{changed}: read its settings, then run '{self._command()}'"
        )

    def grant(self, permissions: Iterable[Permission]) -> None:
        """Keep that the user allows what the project asks for.

        Raises:
            ConfigError: It cannot be kept.
        """
        by_file: dict[str, list[Permission]] = {}
        for one in permissions:
            if self.asks(one.place):
                file = self._name(one)
                by_file.setdefault(file, []).append(one)
                if file not in self._settings:
                    self._read(file)
        folder = self._folder()
        if folder is None:
            if not by_file:
                return
            raise ConfigError(
                f"{user_folder('state')} lies in the workspace, where trust could be forged: set "
                f"XDG_STATE_HOME to another folder, or {VARIABLE}=1"
            )
        for file, asked in by_file.items():
            value: dict[str, Json] = {
                "folder": str(self.root),
                "file": file,
                "time": datetime.now(UTC).isoformat(timespec="seconds"),
                "settings": dict(self._settings[file]),  # as they were when they were shown
                "permissions": sorted({_digest(one) for one in asked}),
                "shown": [f"{one.key}: {hidden(one.key, one.value)}" for one in asked],
            }
            try:
                _write(folder / f"{_hash(file)}.json", value)
            except OSError as error:
                raise ConfigError(
                    f"{folder}: trust cannot be kept: {error.strerror or error}"
                ) from error

    def vouch(self, permissions: Sequence[Permission]) -> None:
        """Grant what this user's own command wrote to a file of the state; where it cannot, warn."""
        if self.everything or not self.missing(permissions):
            return
        try:
            self.grant(permissions)
        except ConfigError as error:
            _LOG.warning("the next run will not use %s: %s", permissions[0].place, error)

    def revoke(self) -> bool:
        """Delete all grants of the workspace, and say whether there were any."""
        folder = user_folder("state") / "trust" / _hash(str(self.root))
        there = folder.is_dir()
        rmtree(folder, ignore_errors=True)
        return there

    def _command(self) -> str:
        with suppress(OSError):
            if Path.cwd() == self.root:
                return "ragloom trust"
        return f"ragloom trust -C {shlex.quote(str(self.root))}"

    def _name(self, permission: Permission) -> str:
        file = _file_of(permission.place)
        return "" if file is None else os.path.relpath(file, self.root).replace(os.sep, "/")

    def _folder(self) -> Path | None:
        """Where grants are kept; None where a clone could have brought them."""
        state = user_folder("state")
        real = Path(os.path.realpath(state))
        project = repository_of(self.root)
        at_home = project == Path(os.path.realpath(Path("~").expanduser()))
        if real.is_relative_to(project) and (not at_home or (project / ".git").exists()):
            return None
        return state / "trust" / _hash(str(self.root))

    def _grant(self, file: str) -> Grant | None:
        folder = self._folder()
        grant = None if folder is None else _load(folder / f"{_hash(file)}.json")
        return grant if grant and (grant.folder, grant.file) == (str(self.root), file) else None

    def _read(self, file: str) -> Mapping[str, str]:
        """Digests of all settings of a file, by dotted key."""
        self._settings[file] = dict(_leaves(self._content(file))) if file else {}
        return self._settings[file]

    def _content(self, file: str) -> Json:
        path = self.root / file
        with suppress(OSError, ValueError, ConfigError):  # it may be gone
            if path.suffix == ".json":
                return cast("Json", json.loads(path.read_bytes()))
            return dict(read_yaml(path).content)
        return None

    def _changed(self, file: str) -> str:
        """Which settings have changed since they were trusted, for a message."""
        grant = self._grant(file)
        if grant is None:
            return ""
        now = self._read(file)
        keys = sorted(
            key for key in {*now, *grant.settings} if now.get(key) != grant.settings.get(key)
        )
        if not keys:
            return "; it leads elsewhere than when it was trusted"
        more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
        return f"; changed since it was trusted: {', '.join(keys[:_NAMED])}{more}"


def grants() -> Iterator[Grant]:
    """Every grant of this user, by folder and file."""
    files = (user_folder("state") / "trust").glob("*/*.json")
    found = [grant for file in files if (grant := _load(file)) is not None]
    yield from sorted(found, key=lambda grant: (grant.folder, grant.file))


def hidden(key: str, value: str) -> str:
    """A value as people may see it: without the passwords in it, or where it is one."""
    if _SECRET.search(key.rpartition(".")[2]):
        return HIDDEN
    return hide(value)


def _short(permission: Permission) -> str:
    shown = repr(hidden(permission.key, permission.value))
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _file_of(place: str) -> Path | None:
    """The file of ``file:line``; None for a variable or an option of a command."""
    found = _PLACE.match(place)
    return Path(found[1]) if found else None


def _digest(permission: Permission) -> str:
    return _hash(f"{permission.key}\0{permission.value}\0{permission.target}")


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _leaves(value: Json, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else name)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _leaves(inner, f"{key}.{number}")
    else:
        yield key, _hash(json.dumps(value))


def _load(path: Path) -> Grant | None:
    try:
        return Grant(**cast("dict[str, Any]", json.loads(path.read_bytes())))
    except (OSError, ValueError, TypeError):
        return None


def _write(path: Path, value: Json) -> None:
    """Replace a file that its user alone can read, in one step."""
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file)
        Path(temporary).replace(path)
    finally:
        Path(temporary).unlink(missing_ok=True)

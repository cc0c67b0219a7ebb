"""What a server shows: a few spaces, and nothing of the workspace beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from time import monotonic, sleep
from typing import cast

from ragloom import ConfigError, NotIndexedError, Space, SpaceGroup, Workspace
from ragloom.config import unknown

_NOTHING = "nothing is indexed here yet: run 'ragloom index'"
_FIRST = "is being indexed for the first time: try again in a few seconds"
_PATIENCE = (
    20.0  # seconds that a call waits for the first index; a client gives up after 30 or more
)
_LOOK = 0.1  # seconds between two looks


class Shelf:
    """The spaces that are shown, by name. Safe to use from several threads.

    Args:
        names: Gives their names at each call: spaces appear while a server runs.
        open_space: Opens one of them.

    Attributes:
        indexing: Whether this process indexes what is shown, so that what has no index yet will have one.
        failed: Why a space could not be indexed, by its name.
    """

    def __init__(
        self, names: Callable[[], Iterable[str]], open_space: Callable[[str], Space]
    ) -> None:
        self._names = names
        self._open_space = open_space
        self._opened: dict[str, Space] = {}
        self._opening = Lock()
        self.indexing = False
        self.failed: dict[str, str] = {}

    def names(self) -> list[str]:
        """The names, sorted."""
        return sorted(self._names())

    def unindexed(self, name: str) -> str:
        """What to say of a space that has no index."""
        if name in self.failed:
            return f"not indexed: {self.failed[name]}"
        return _FIRST if self.indexing else "not indexed yet"

    def await_first_index(self) -> None:
        """Wait until one space has an index, where this process is making the first.

        Raises:
            NotIndexedError: It takes long, or failed.
        """
        until = monotonic() + _PATIENCE
        while self.indexing:
            names = self.names()
            if not names or any(self.space(name).generation for name in names):
                return
            if monotonic() > until or all(name in self.failed for name in names):
                raise NotIndexedError(
                    "; ".join(f"{name}: {self.unindexed(name)}" for name in names)
                )
            sleep(_LOOK)

    def spaces(self, name: str = "") -> list[Space]:
        """The space of that name, or without one all of them; raises as :meth:`space`."""
        names = [name] if name else self.names()
        if not names:
            raise NotIndexedError(_NOTHING)
        return [self.space(one) for one in names]

    def space(self, name: str) -> Space:
        """A space by its name, the same object each time.

        Raises:
            ConfigError: There is none of that name.
            NotIndexedError: There is none at all.
        """
        names = self.names()
        if not names:
            raise NotIndexedError(f"{name}: {_NOTHING}")
        if name not in names:
            raise ConfigError(unknown("space", name, names))
        with self._opening:
            if name not in self._opened:
                self._opened[name] = self._open_space(name)
                SpaceGroup(self._opened.values())  # each model is in memory once
            return self._opened[name]


def workspace_shelf(workspace: Workspace, *, indexing: bool = False) -> Shelf:
    """Every space of a workspace; lessons only where a setting says so.

    Where there is none, and this process is ``indexing``, the whole folder is one; not the user's home.
    """
    whole = indexing and workspace.root not in (Path.home(), Path(workspace.root.anchor))
    default = ["default"] if whole else []
    lessons = _kept_by("knowledge", workspace) or {}

    def opened(name: str) -> Space:
        return lessons[name] if name in lessons else workspace.space(name)

    return Shelf(lambda: {*(workspace.spaces() or default), *lessons}, opened)


def chosen_shelf(workspace: Workspace, names: Sequence[str]) -> Shelf:
    """These spaces of a workspace, or without names every one; raises as :func:`space_shelf`."""
    if not names:
        return workspace_shelf(workspace)
    opened = {name: space_shelf(workspace, name).space(name) for name in dict.fromkeys(names)}
    return Shelf(lambda: opened, lambda name: opened[name])


def space_shelf(workspace: Workspace, name: str) -> Shelf:
    """One space of a workspace; a ConfigError where neither settings nor an index has that name."""
    if name in workspace.spaces() or name == "default":
        return Shelf(lambda: [name], workspace.space)
    space = workspace_shelf(workspace).space(name)
    return Shelf(lambda: [name], lambda _name: space)


def agent_shelf(workspace: Workspace, agent_id: str) -> Shelf:
    """The documents of one agent.

    Raises:
        ConfigError: Unknown agent, wrong settings, or the plugin ``agents`` is not installed.
    """
    spaces = _kept_by("agents", workspace)
    if spaces is None:
        raise ConfigError("an agent is served by the plugin 'agents', which is not loaded here")
    if agent_id not in spaces:
        raise ConfigError(unknown("agent with documents", agent_id, sorted(spaces)))
    space = spaces[agent_id]
    return Shelf(lambda: [agent_id], lambda _id: space)


def _kept_by(plugin: str, workspace: Workspace) -> Mapping[str, Space] | None:
    """The spaces that a plugin keeps under names of its own; None where it is not loaded."""
    return cast("Mapping[str, Space] | None", workspace.host.spaces_of(plugin, workspace))

"""What a server shows: a few spaces, and nothing of the workspace beside them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from ragloom import ConfigError, Space, Workspace

__all__ = ["Shelf", "agent_shelf", "space_shelf", "workspace_shelf"]

SPACES = "ragloom.spaces"
"""Entry-point group: functions ``(workspace, config) -> Mapping[str, Space]``, the spaces that a plugin
keeps under names of its own; ``agents`` gives one for every agent."""

_LESSONS = "knowledge"


class Shelf:
    """The spaces that are shown, by name.

    Args:
        names: Gives their names, afresh at each call: spaces appear while a server runs.
        open_space: Opens one of them.
    """

    def __init__(
        self, names: Callable[[], Iterable[str]], open_space: Callable[[str], Space]
    ) -> None:
        self._names = names
        self._open_space = open_space
        self._opened: dict[str, Space] = {}

    def names(self) -> list[str]:
        """The names, sorted."""
        return sorted(self._names())

    def space(self, name: str = "") -> Space:
        """A space by its name; the same object each time. Empty for the only one.

        Raises:
            ConfigError: There is none of that name, or there are several to choose from.
        """
        names = self.names()
        if not name:
            if len(names) == 1:
                name = names[0]
            elif not names:
                raise ConfigError("nothing is indexed here yet: run 'ragloom index'")
            else:
                raise ConfigError(f"there are several spaces, name one: {', '.join(names)}")
        if name not in names:
            raise ConfigError(f"no space is called {name!r}{_nearest(name, names)}")
        if name not in self._opened:
            self._opened[name] = self._share_model(self._open_space(name))
        return self._opened[name]

    def _share_model(self, space: Space) -> Space:
        """Give a space the model of another one that asks for the same, so that it is in memory once."""
        for other in self._opened.values():
            if other.settings.embedder == space.settings.embedder:
                space.embedder = other.embedder
                break
        return space


def workspace_shelf(workspace: Workspace) -> Shelf:
    """Every space of a workspace; lessons only where the settings name their space."""

    def names() -> Iterable[str]:
        return (name for name in workspace.spaces() if _is_public(workspace, name))

    return Shelf(names, workspace.space)


def space_shelf(workspace: Workspace, name: str) -> Shelf:
    """One space of a workspace.

    Raises:
        ConfigError: Neither the settings nor an index has that name, or it holds lessons.
    """
    if not _is_public(workspace, name):
        raise ConfigError(
            f"the space {name!r} holds lessons, and the settings do not name it: put it under "
            "'spaces' in ragloom.yaml to serve it"
        )
    names = workspace.spaces()
    if name not in names and name != "default":
        raise ConfigError(f"no space is called {name!r}{_nearest(name, names)}")
    return Shelf(lambda: [name], workspace.space)


def agent_shelf(workspace: Workspace, agent_id: str, config: Path | None = None) -> Shelf:
    """The documents of one agent.

    Args:
        workspace: Whose agents are meant.
        agent_id: The agent.
        config: The settings file that stands for ``ragloom.yaml``.

    Raises:
        ConfigError: No agent with documents is called so, or the plugin ``agents`` is not installed.
    """
    loaded = {plugin.name for plugin in workspace.host.plugins() if plugin.status == "loaded"}
    found = [point for point in entry_points(group=SPACES) if point.name == "agents"]
    if not found or "agents" not in loaded:
        raise ConfigError("an agent is served by the plugin 'agents', which is not loaded here")
    spaces_of = cast("Callable[[Workspace, Path | None], Mapping[str, Space]]", found[0].load())
    spaces = spaces_of(workspace, config)
    if agent_id not in spaces:
        near = _nearest(agent_id, spaces)
        raise ConfigError(f"no agent with documents is called {agent_id!r}{near}")
    return Shelf(lambda: [agent_id], spaces.__getitem__)


def _is_public(workspace: Workspace, name: str) -> bool:
    return not name.startswith(_LESSONS) or name in workspace.settings.spaces


def _nearest(name: str, names: Iterable[str]) -> str:
    known = sorted(names)
    near = difflib.get_close_matches(name, known, 1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(known)}" if known else "; there are none"

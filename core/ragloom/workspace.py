"""A workspace: a folder of files, and the named indexes made of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from ragloom.config.settings import (
    Component,
    Settings,
    SpaceSettings,
    check_space_name,
    load_settings,
)
from ragloom.errors import ConfigError
from ragloom.plugin.host import PluginHost
from ragloom.snapshot import generations
from ragloom.space import RECORD_NAME, RECORDED, Space
from ragloom.status import SpaceStatus

__all__ = ["STATE_FOLDER", "Space", "SpaceStatus", "Workspace"]

T = TypeVar("T")

STATE_FOLDER = ".ragloom"


class Workspace:
    """A folder of files, its settings, and its indexes.

    >>> workspace = Workspace.open("examples")
    >>> space = workspace.space("docs")
    """

    def __init__(self, root: Path, *, settings: Settings, host: PluginHost) -> None:
        self.root = root
        self.settings = settings
        self.host = host

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
    ) -> Workspace:
        """Open the workspace at ``path``; nothing is created until something is indexed.

        Args:
            path: The folder that paths in settings and results are relative to.
            config: The settings file; ``ragloom.yaml`` in the folder, if there is one, otherwise.
            host: The plugins; those that are installed, by default.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
        """
        try:
            root = Path(path).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # the current folder may be gone
            raise ConfigError(f"{path}: there is no such folder: {error}") from error
        if not root.is_dir():
            message = f"{path}: there is no such folder"
            raise ConfigError(message)
        host = host or PluginHost.discover()
        settings = load_settings(
            root,
            config=None if config is None else Path(config),
            sections=host.sections(),
            absent=host.absent,
        )
        return cls(root, settings=settings, host=host)

    @property
    def state(self) -> Path:
        """The folder that holds all indexes."""
        return self.root / STATE_FOLDER

    @property
    def project(self) -> Workspace:
        """The workspace that plugins are told of: this one, unless it lies in another's state."""
        return self

    def section(self, name: str, section: type[T]) -> T:
        """The settings that a plugin declared under ``name``, of that type."""
        return self.settings.section(name, section)

    def spaces(self) -> Sequence[str]:
        """The names of the spaces that the settings declare or that were indexed, sorted."""
        folders = self.state.glob("spaces/*")
        indexed = {one.name for one in folders if (one / "CURRENT").exists() or generations(one)}
        return sorted({*self.settings.spaces, *indexed})

    def space(self, name: str = "default", *, settings: SpaceSettings | None = None) -> Space:
        """A space by name, whether or not anything is indexed in it yet.

        Args:
            name: The space.
            settings: How it is made; what ``ragloom.yaml`` says, by default. A space that it does
                not declare keeps the sources that it was indexed with, and one for which it names no
                store, embedder or chunker keeps those.

        Raises:
            ConfigError: The name cannot be that of a folder.
        """
        check_space_name(name)
        return Space(self, name, settings or self._settings_of(name))

    def _settings_of(self, name: str, sources: Sequence[str] = ()) -> SpaceSettings:
        """What the settings say, and where they say nothing, what the space was indexed with.

        Args:
            name: Of the space.
            sources: Those that it is indexed with from now on.
        """
        settings = self.settings.space(name)
        record = self.state / "spaces" / name / RECORD_NAME
        try:
            kept = json.loads(record.read_bytes()) if record.is_file() else {}
            known = tuple(map(str, kept.get("sources", settings.sources)))
            parts = {part: str(kept[part]) for part in RECORDED if part in kept}
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            if not sources:
                message = (
                    f"{record}: cannot be read ({error}): index the PATHs of this space once more"
                )
                raise ConfigError(message) from error
            known, parts = settings.sources, {}
        for part, named in parts.items():
            old: Component = getattr(settings, part)
            if "" not in old.places:  # neither the file nor a variable names one
                settings = replace(settings, **{part: old.instead(named, str(record))})  # type: ignore[arg-type]
        if sources:
            return replace(settings, sources=tuple(sources))
        return settings if name in self.settings.spaces else replace(settings, sources=known)

    def space_for(
        self, paths: Sequence[str | os.PathLike[str]], *, name: str | None = None
    ) -> Space:
        """The space made of exactly these files and folders, relative to the current directory.

        Args:
            paths: Files and folders.
            name: How it is called; by default as the space of the settings that has these sources, or
                after its sources.
        """
        absolute = sorted({os.path.realpath(path) for path in paths})
        sources = tuple(os.path.relpath(path, self.root).replace(os.sep, "/") for path in absolute)
        if name is None:
            for known, declared in self.settings.spaces.items():
                if set(declared.sources) == set(sources):
                    return self.space(known)
            if set(self.settings.defaults.sources) == set(sources):
                return self.space()
            name = _name_of(sources)
        check_space_name(name)
        return self.space(name, settings=self._settings_of(name, sources))


def _name_of(sources: Sequence[str]) -> str:
    """A readable and unique folder name for a set of sources."""
    joined = "\0".join(sources)
    plain = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(sources)).strip("-").lower()[:40] or "root"
    if len(sources) == 1 and plain == sources[0]:
        return plain
    return f"{plain}-{blake2b(joined.encode(), digest_size=4).hexdigest()}"

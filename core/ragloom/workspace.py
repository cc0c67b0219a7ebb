"""A workspace: a folder of files, and the named indexes made of them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from ragloom.components import Select
from ragloom.config.settings import Settings, SpaceSettings, check_space_name, load_settings
from ragloom.errors import ConfigError
from ragloom.evaluation.collections import Collection, write_documents
from ragloom.indexing.space_record import RECORD_NAME, SpaceRecord
from ragloom.plugin.host import PluginHost
from ragloom.snapshot import generations
from ragloom.space import Space

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
            raise ConfigError(f"{path}: there is no such folder")
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

    def section(self, name: str, section: type[T]) -> T:
        """The settings that a plugin declared under ``name``, of that type."""
        return self.settings.section(name, section)

    def make_state(self) -> Path:
        """Create the folder of all indexes, ignored by git."""
        ignore = self.state / ".gitignore"
        if not ignore.exists():
            self.state.mkdir(parents=True, exist_ok=True)
            ignore.write_text(
                "# Written by ragloom; 'ragloom index' rebuilds all of it.\n*\n", "utf-8"
            )
        return self.state

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
        record = self._record(name)
        return Space(
            self, name, settings or record.settings(), directory=record.path.parent, record=record
        )

    def space_for(
        self, paths: Sequence[str | os.PathLike[str]], *, name: str | None = None
    ) -> Space:
        """The space made of exactly these files and folders, relative to the current directory.

        Args:
            paths: Files and folders.
            name: Its name; by default that of the settings' space that has these sources, or one made
                of the sources.
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
        return self.space(name, settings=self._record(name).settings(sources))

    def private_space(
        self,
        name: str,
        settings: SpaceSettings,
        *,
        directory: str,
        root: Path | None = None,
        hint: str = "",
        select: Select | None = None,
    ) -> Space:
        """A space of a plugin's own, which neither :meth:`spaces` nor ``ragloom index`` knows.

        Args:
            name: Of the space, in results and messages.
            settings: How it is made and searched; nothing else is added to them.
            directory: The folder of the index, relative to :attr:`state`.
            root: The folder that its sources and uris are relative to; the workspace's by default.
            hint: What to do where nothing is indexed yet, such as ``run 'ragloom agents index'``.
            select: Given the uris of all files that are found, those to index.
        """
        check_space_name(name)
        return Space(
            self,
            name,
            settings,
            directory=self.state / directory,
            root=root,
            hint=hint,
            select=select,
        )

    def collection_space(self, collection: Collection) -> Space:
        """The space of a judged collection, whose documents are written below :attr:`state`."""
        folder = self.make_state() / "eval" / collection.name
        write_documents(collection, folder)
        settings = replace(self.settings.defaults, sources=(".",), include=(), exclude=())
        directory = f"eval/{collection.name}.index"
        return self.private_space(collection.name, settings, directory=directory, root=folder)

    def _record(self, name: str) -> SpaceRecord:
        check_space_name(name)
        return SpaceRecord(
            path=self.state / "spaces" / name / RECORD_NAME,
            declared=self.settings.space(name),
            named=name in self.settings.spaces,
        )


def _name_of(sources: Sequence[str]) -> str:
    """A readable and unique folder name for a set of sources."""
    joined = "\0".join(sources)
    plain = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(sources)).strip("-").lower()[:40] or "root"
    if len(sources) == 1 and plain == sources[0]:
        return plain
    return f"{plain}-{blake2b(joined.encode(), digest_size=4).hexdigest()}"

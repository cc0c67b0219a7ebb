"""A workspace: a folder of files, and the named indexes made of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ragloom.audit import log_of, read_log
from ragloom.components import Select
from ragloom.config.component import Component
from ragloom.config.settings import (
    STATE_FOLDER,
    Settings,
    SpaceSettings,
    check_space_name,
    load_settings,
)
from ragloom.errors import ConfigError, NotIndexedError, RagloomError, SourceError
from ragloom.indexing.space_record import RECORD_NAME, SpaceRecord
from ragloom.plugin.host import PluginHost
from ragloom.snapshot import generations
from ragloom.sources.permissions import Permissions
from ragloom.sources.roots import in_sources, lies_below
from ragloom.sources.trust import Trust
from ragloom.space import Space
from ragloom.stores.atomic import replace_file
from ragloom.stores.faults import entries_of, named_faults
from ragloom.stores.state_folder import check_state
from ragloom.types import Json, Permission

if TYPE_CHECKING:
    from ragloom.evaluation.collections import Collection
    from ragloom.evaluation.kept import KeptEvaluation

T = TypeVar("T")

_IGNORED = "# Written by ragloom; 'ragloom index' rebuilds all of it.\n*\n"


class Workspace:
    """A folder of files, its settings, and its indexes.

    >>> workspace = Workspace.open("examples")
    >>> space = workspace.space("docs")
    """

    def __init__(
        self, root: Path, *, settings: Settings, host: PluginHost, trust: Trust | None = None
    ) -> None:
        self.root = root
        self.settings = settings
        self.host = host
        self._permissions = Permissions(
            trust=trust or Trust(root, everything=True),  # whoever passes settings has chosen them
            host=host,
            output=self.state,
        )

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
        trusted: bool = False,
    ) -> Workspace:
        """Open the workspace at ``path``; nothing is created until something is indexed.

        Args:
            path: The folder that paths in settings and results are relative to.
            config: The settings file; ``ragloom.yaml`` or ``ragloom.yml`` in the folder otherwise.
            host: The plugins; those that are installed, by default.
            trusted: Allow all that settings files of the project ask for, as ``ragloom trust`` does.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
            UntrustedError: A setting of the project names what lies outside of it, and its user has not
                allowed that.
        """
        workspace = cls.unchecked(path, config=config, host=host, trusted=trusted)
        workspace.check_trust()
        return workspace

    @classmethod
    def unchecked(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
        trusted: bool = False,
    ) -> Workspace:
        """As :meth:`open`, to show :meth:`permissions` before they are granted; it may not index."""
        try:
            root = Path(path).resolve()
        except (OSError, RuntimeError, ValueError) as error:  # the current folder may be gone
            raise ConfigError(f"{path}: there is no such folder: {error}") from error
        if not root.is_dir():
            raise ConfigError(f"{path}: there is no such folder")
        host = host or PluginHost.discover()
        settings = load_settings(
            root,
            config=None
            if config is None
            else Path(os.path.abspath(config)),  # it tells whose it is
            sections=host.sections(),
            absent=host.absent,
        )
        return cls(root, settings=settings, host=host, trust=Trust(root, everything=trusted))

    @property
    def trust(self) -> Trust:
        """What the user has granted to the settings files of this folder."""
        return self._permissions.trust

    def check_trust(self) -> None:
        """Refuse ``ragloom.yaml`` if it asks for what its user has not granted.

        Raises:
            UntrustedError: It does.
        """
        if not self.trust.everything:
            asked = self._permissions.of_settings(self.settings)
            # A link at a default path concerns only the plugin that reads it, which then asks itself.
            self.require(one for one in asked if one.place != "default")

    def require(self, permissions: Iterable[Permission]) -> None:
        """Refuse what a settings file of the project asks for and its user has not granted.

        Raises:
            UntrustedError: The first such permission, with its place, and how to grant it.
        """
        self.trust.require(permissions)

    def vouch(self, permissions: Sequence[Permission]) -> None:
        """Grant what a file of :attr:`state` asks for: a command of the user has just written it."""
        self.trust.vouch(permissions)

    def permissions(self) -> Sequence[Permission]:
        """All that settings files of the project ask for beyond it, granted or not."""
        found = [*self._permissions.of_settings(self.settings), *self.host.permissions(self)]
        for name in self.spaces():
            found += self._record(name).asked()
        return [one for one in dict.fromkeys(found) if self.trust.asks(one.place)]

    def files_outside(
        self, key: str, paths: Sequence[str], *, place: str = "", base: Path | None = None
    ) -> Sequence[Permission]:
        """The permissions that files, folders and globs of a plugin's settings need.

        Args:
            key: Of the setting.
            paths: As they were written.
            place: Where; that of the section's key by default.
            base: What they are relative to; :attr:`root` by default.
        """
        place = place or self.settings.origin(key)
        return list(self._permissions.of_files(key, paths, place, base=base))

    def output_outside(self, key: str, path: str, *, place: str = "") -> Sequence[Permission]:
        """As :meth:`files_outside`, of a file or folder to write, or of a service instead."""
        place = place or self.settings.origin(key)
        return list(self._permissions.of_output(key, path, place))

    def component_permissions(
        self, kind: str, component: Component, *, key: str
    ) -> Sequence[Permission]:
        """The permissions that a component of a plugin's settings needs.

        Args:
            kind: Such as ``store``.
            component: With its places.
            key: Of the setting.
        """
        return list(self._permissions.of_component(kind, component, key))

    @property
    def state(self) -> Path:
        """The folder that holds all indexes.

        Raises:
            StoreError: It is a link, holds links or is tracked by git: it is not used.
        """
        state = self.root / STATE_FOLDER
        check_state(state)
        return state

    def section(self, name: str, section: type[T]) -> T:
        """The settings that a plugin declared under ``name``, of that type."""
        return self.settings.section(name, section)

    def make_state(self) -> Path:
        """Create the folder of all indexes, ignored by git; raises as :attr:`state` does."""
        state = self.state
        ignore = state / ".gitignore"
        with named_faults(state):
            if not ignore.exists():
                state.mkdir(parents=True, exist_ok=True)
                replace_file(ignore, _IGNORED)
        return state

    def audit_log(self) -> Iterator[Mapping[str, Json]]:
        """The entries of the audit log, oldest first; docs/command-line.md describes them."""
        return read_log(log_of(self).path)

    def evaluations(self) -> Sequence[KeptEvaluation]:
        """What ``ragloom eval`` found, the last time for each collection and mode."""
        from ragloom.evaluation.kept import kept_evaluations

        return list(kept_evaluations(self.state))

    def spaces(self) -> Sequence[str]:
        """The names of the spaces that the settings declare or that were indexed, sorted."""
        folders = entries_of(self.state / "spaces")
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

    def spaces_with(self, paths: Sequence[str | os.PathLike[str]]) -> list[Space]:
        """The spaces that hold these files and folders, each limited to those that it holds.

        A space holds what lies in its sources, if it has a file there or had one when it was indexed. Its
        index runs and searches then keep to these files; the others stay in the index as they are.

        Args:
            paths: Files and folders, relative to the current directory.

        Returns:
            An empty list where no space holds one of the paths.
        """
        uris = [
            os.path.relpath(os.path.realpath(path), self.root).replace(os.sep, "/")
            for path in paths
        ]
        found, homeless = list[Space](), set(uris)
        for name in sorted(self.spaces(), key=lambda name: name not in self.settings.spaces):
            with suppress(RagloomError):  # what is wrong with a space concerns those who use it
                space = self.space(name)
                if held := [uri for uri in dict.fromkeys(uris) if _holds(space, uri)]:
                    whole = set(space.settings.sources) <= set(held)
                    if not whole:
                        space = space.with_settings(space.settings, within=held)
                    found.append(space)
                    homeless -= set(held)
        return [] if homeless else found

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
        from ragloom.evaluation.collections import write_documents

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
            permissions=self._permissions,
        )


def _holds(space: Space, uri: str) -> bool:
    """Whether a file or folder lies in the sources, and a file of it is there or is indexed."""
    if not in_sources(uri, space.settings.sources, space.root):
        return False
    with suppress(SourceError):  # another source is gone
        if any(found.status is not None for found in space.walk([uri])):
            return True
    with suppress(NotIndexedError):
        return any(uri == one or lies_below(one, [uri]) for one in space.snapshot().files)
    return False


def _name_of(sources: Sequence[str]) -> str:
    """A readable and unique folder name for a set of sources."""
    joined = "\0".join(sources)
    plain = re.sub(r"[^A-Za-z0-9]+", "-", "-".join(sources)).strip("-").lower()[:40] or "root"
    if len(sources) == 1 and plain == sources[0]:
        return plain
    return f"{plain}-{blake2b(joined.encode(), digest_size=4).hexdigest()}"

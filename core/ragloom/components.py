"""The components of a space, made from its settings when they are first used, and its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Protocol, TypeAlias, TypeVar

from ragloom.config.component import ENVIRONMENT, NONE, Component, located
from ragloom.config.options import user_path
from ragloom.config.settings import SpaceSettings
from ragloom.errors import ConfigError, SourceError
from ragloom.plugin.host import PluginHost
from ragloom.plugin.local_runner import LOCAL, LocalRunner
from ragloom.plugin.registry import missing_modules
from ragloom.protocols import (
    Chunker,
    Embedder,
    Formatter,
    Loader,
    Reranker,
    Runner,
    Store,
    WorkspaceView,
)
from ragloom.reports import UnreadEnding
from ragloom.secrets.names import is_secret
from ragloom.sources.bounded import BoundedLoader, Limits, too_large
from ragloom.sources.discovery import Found, matches_any, walk
from ragloom.sources.loading import chunker_for, load_document, loader_for, split_document
from ragloom.sources.names import spelled
from ragloom.sources.roots import Root, resolve_roots
from ragloom.sources.unread import UnreadFiles
from ragloom.stores.filters import PATH
from ragloom.text.decoding import read_regular
from ragloom.types import Chunk, Condition, Document, Json, Source

T = TypeVar("T")

Select: TypeAlias = "Callable[[Sequence[str]], Collection[str]]"
"""Given the uris of all files that are found, those to index."""


class Home(WorkspaceView, Protocol):
    """The workspace that a space belongs to."""

    @property
    def host(self) -> PluginHost:
        """The plugins."""

    def spaces(self) -> Sequence[str]:
        """The names of all spaces."""

    def make_state(self) -> Path:
        """Create the folder of all indexes, ignored by git."""

    def check_trust(self) -> None:
        """Refuse settings that ask for what their user has not granted."""


class Components:
    """Which plugins' components a space uses, and which files it holds.

    Args:
        host: Makes the components.
        settings: Names them.
        root: The folder that uris, sources and relative paths of stores are relative to.
        select: Chooses among the files that are found; all of them by default.
        within: See :attr:`within`.
    """

    def __init__(
        self,
        host: PluginHost,
        settings: SpaceSettings,
        root: Path,
        select: Select | None = None,
        within: Sequence[str] = (),
    ) -> None:
        self.host = host
        self.settings = settings
        self.root = root
        self.within: tuple[str, ...] = tuple(within)
        """The uris of the only files and folders that are indexed and searched; none for all."""
        self._select = select
        self._model: Components | None = None
        self._turn = RLock()

    def use_embedder_of(self, other: Components) -> None:
        """Share the model of ``other``, so that it is in memory once."""
        owner = other._owner()
        if owner is self:  # another group has them share it already
            return
        self._model = owner
        self.__dict__.pop("embedder", None)

    def _owner(self) -> Components:
        """Whose model this uses."""
        return self if self._model is None else self._model._owner()  # noqa: SLF001 - its own kind

    @property
    def turn(self) -> AbstractContextManager[object]:
        """Held while components are used: a component is used from one thread at a time."""
        return self._owner()._turn  # noqa: SLF001 - its own kind

    @cached_property
    def embedder(self) -> Embedder:
        """Turns texts into vectors."""
        if self._model is not None:
            return self._model.embedder
        return _made(self.host.embedder, self._with_model("embedder"))

    @cached_property
    def chunker(self) -> Chunker:
        """The component that splits documents, unless :attr:`chunkers` has another for them."""
        return _made(self.host.chunker, self.settings.chunker)

    @cached_property
    def chunkers(self) -> Mapping[str, Chunker]:
        """How documents are split, by file ending; under ``""`` those of any other.

        That is what ``chunkers`` says of the ending, or what the ending's loader names, or ``chunker``.
        """
        make, named = self.host.chunker, dict[str, Chunker]()
        by_ending = {"": self.chunker}
        for ending, loader in self.loaders.items():
            name = getattr(loader, "chunker", "")
            if name and name not in named:
                places = {"": f"the loader of {ending or 'any text'}"}
                named[name] = _made(make, Component(name=name, places=places))
            by_ending[ending] = named.get(name, self.chunker)
        for ending, component in self.settings.chunkers.items():
            by_ending[ending] = _made(make, component)
        return by_ending

    @cached_property
    def store(self) -> Store:
        """The component that keeps chunks; closed, except while an index run writes."""
        return self.new_store()

    @cached_property
    def reranker(self) -> Reranker | None:
        """The component that reorders the best candidates; None for their fused order."""
        part = self._with_model("reranker")
        return None if part.name == NONE else _made(self.host.reranker, part)

    @cached_property
    def formatter(self) -> Formatter:
        """The component that writes a context as text."""
        return _made(self.host.formatter, self.settings.formatter)

    @cached_property
    def runner(self) -> Runner:
        """The component that works on the files of an index run; ``local`` needs no plugin."""
        if self.settings.runner.name == LOCAL:
            return LocalRunner()
        return _made(self.host.runner, self.settings.runner)

    @cached_property
    def loaders(self) -> Mapping[str, Loader]:
        """Loaders by file ending; the settings decide where two plugins read the same ending."""
        made = self.host.loaders()
        by_ending: dict[str, Loader] = {}
        for name in made:
            for ending in made[name].suffixes:
                by_ending.setdefault(ending, made[name])
        for ending, part in self.settings.loaders.items():
            by_ending[ending] = _made(self.host.loader, part)
        limits = Limits(
            size=self.settings.max_file_bytes,
            characters=self.settings.max_file_characters,
            seconds=self.settings.max_file_seconds,
            encoding=self.settings.encoding,
        )
        return {ending: BoundedLoader(loader, limits) for ending, loader in by_ending.items()}

    @property
    def narrowing(self) -> Sequence[Condition]:
        """What every hit passes, beside the conditions of the query: it lies within :attr:`within`."""
        return [Condition(field=PATH, operator="under", value=self.within)] if self.within else []

    def roots(self, sources: Sequence[str] | None = None) -> list[Root]:
        """The places to walk of all sources, or of some.

        Raises:
            SourceError: One does not exist; begins with where it was written.
        """
        named = self.settings.sources if sources is None else sources
        return resolve_roots(named, self.root, self.settings.places)

    def walk(
        self, within: Sequence[str] = (), unread: UnreadFiles | None = None
    ) -> Iterator[Found]:
        """The files of this space, as they are now; only those within some files and folders, if any.

        ``unread`` counts those that no loader reads.
        """
        found = walk(
            self.roots(),
            base=self.root,
            endings=self.loaders.keys(),
            include=self.settings.include,
            exclude=self.settings.exclude,
            allowlist=self.settings.allowlist,
            within=[Path(os.path.normpath(self.root / uri)) for uri in within],
            unread=unread,
        )
        found = (_sized(item, self.settings.max_file_bytes) for item in found)
        if self._select is None:
            yield from found
            return
        items = list(found)
        files = [item.uri for item in items if item.status is not None]
        dropped = set(files) - set(self._select(files))
        yield from (item for item in items if item.uri not in dropped)

    def unread(self, passed: UnreadFiles | None = None) -> tuple[UnreadEnding, ...]:
        """The endings of this space that no loader reads.

        Args:
            passed: By a walk of files of which some are read; None to walk a space that holds nothing.
        """
        media = passed is None
        if passed is None:
            passed = UnreadFiles()
            for _ in self.walk(self.within, passed):
                pass
        extras = {
            ending: provider.extra
            for provider in self.host.providers("loaders").values()
            if provider.extra and missing_modules(provider)
            for ending in provider.endings
        }
        named = self.host.loaders().items()
        text = next((name for name, loader in named if ".txt" in loader.suffixes), "")
        return passed.endings(extras, text, media=media)

    def documents(self) -> Iterator[tuple[str, Document | SourceError]]:
        """Every file of the sources as it is now, or why it cannot be read; sorted by path.

        A source that does not exist comes first, as an error.
        """
        sources: list[str] = []
        for name in self.settings.sources:
            try:
                resolve_roots([name], self.root)
            except SourceError as error:
                yield name, error
            else:
                sources.append(name)
        settings = replace(self.settings, sources=tuple(sources))
        there = Components(self.host, settings, self.root, self._select)
        for found in sorted(there.walk(), key=lambda found: found.uri):
            uri = found.uri
            if found.status is None:
                yield uri, SourceError(found.problem or found.skipped)
                continue
            try:
                yield uri, self._load(found.source)
            except SourceError as error:
                yield uri, error

    def read(self, uri: str) -> Document:
        """One file of the sources as it is now.

        Args:
            uri: The path relative to the root, as hits name it; ``./`` before it, an absolute path, and
                another way to compose its letters name the same file.

        Raises:
            SourceError: It leads outside the sources, is a secret, or cannot be read.
        """
        try:
            named = spelled(self.root / uri)
            real = Path(os.path.realpath(named, strict=True))
        except (OSError, ValueError) as error:
            raise SourceError(
                f"{uri!r} cannot be read: {getattr(error, 'strerror', '') or error}"
            ) from error
        allowed = [place.path for place in self.roots()]
        if not any(real == place or place in real.parents for place in allowed):
            raise SourceError(f"{uri!r} leads outside the sources")
        if self._is_secret(real):
            raise SourceError(f"{uri!r} looks like a secret and is not shown")
        name = os.path.relpath(named, self.root).replace(os.sep, "/")
        return self._load(Source(uri=name, path=real))

    def chunks(
        self, paths: Sequence[str | os.PathLike[str]]
    ) -> Iterator[tuple[Document, list[Chunk]]]:
        """Load files, named relative to the current folder, and split them; nothing is indexed.

        Raises:
            SourceError: A file cannot be read, is a secret, or no loader reads its kind.
        """
        for path in map(Path, paths):
            real = os.path.realpath(path)
            if self._is_secret(path.absolute()) or self._is_secret(Path(real)):
                raise SourceError(f"{path}: looks like a secret, which is never read")
            uri = os.path.relpath(real, self.root).replace(os.sep, "/")
            document = self._load(Source(uri=uri, path=path))
            chunker = chunker_for(path, self.chunkers)
            yield document, split_document(document, chunker, self.embedder)

    def _is_secret(self, path: Path) -> bool:
        uri = os.path.relpath(path, self.root).replace(os.sep, "/")
        return is_secret(str(path)) and not matches_any(uri, self.settings.allowlist)

    def _load(self, source: Source) -> Document:
        loader = loader_for(source.path, self.loaders)
        try:
            size, most = source.path.stat().st_size, self.settings.max_file_bytes
            if size > most:
                raise SourceError(f"{source.path}: {too_large(size, most)}")
            content = read_regular(source.path)
        except OSError as error:
            raise SourceError(
                f"{source.path}: cannot be read: {error.strerror or error}"
            ) from error
        try:
            return load_document(source, content, loader)
        except SourceError as error:
            raise type(error)(f"{source.path}: {error}") from error

    def _with_model(self, kind: str) -> Component:
        """The embedder or reranker; a folder with its model that a file names counts from the workspace."""
        part: Component = getattr(self.settings, kind)
        provider, _ = self.host.provider_of(kind, part.name)
        options = dict(part.options)
        for known in fields(provider.options) if provider else ():
            given = options.get(known.name)
            place = part.places.get(known.name, "")
            if known.metadata.get("names") != "model" or not isinstance(given, str):
                continue
            folder = os.path.join(self.root, os.path.expanduser(given))
            if given in ("", known.default) or place.startswith(ENVIRONMENT):
                continue
            if os.path.isdir(folder):
                options[known.name] = folder
        return replace(part, options=options)

    def new_store(self) -> Store:
        """Another object for the same store; its local path counts from the workspace."""
        part = self.settings.store
        options = dict(part.options)
        for key in ("path", "uri"):
            value = options.get(key)
            if isinstance(value, str) and value and ":" not in value:
                try:
                    options[key] = str(self.root / user_path(value))
                except ValueError as error:
                    raise ConfigError(
                        f"store {part.name!r}: option {key!r} must be {error}, not {value!r}"
                    ) from error
        return _made(self.host.store, replace(part, options=options))


def _sized(found: Found, most: int) -> Found:
    """A file that is found, or that it is skipped because it is too large."""
    if found.status is None or found.status.st_size <= most:
        return found
    why = too_large(found.status.st_size, most)
    return Found(uri=found.uri, path=found.path, skipped=why)


def _made(make: Callable[[str, Mapping[str, Json]], T], component: Component) -> T:
    with located(component.places):
        return make(component.name, component.options)

"""The components of a space, made from its settings when they are first asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from ragloom.config.component import NONE, Part, placed
from ragloom.config.settings import SpaceSettings, user_path
from ragloom.errors import ConfigError
from ragloom.plugin.host import PluginHost
from ragloom.protocols import Chunker, Embedder, Formatter, Loader, Reranker, Store
from ragloom.sources.discovery import Found, resolve_roots, walk
from ragloom.types import Json

__all__ = ["Wiring"]


class Wiring:
    """Which plugin's components a space uses.

    Args:
        host: Makes them.
        settings: Names them.
        root: The workspace's folder, which relative paths of stores are relative to.
    """

    def __init__(self, host: PluginHost, settings: SpaceSettings, root: Path) -> None:
        self._host = host
        self._root = root
        self.settings = settings

    @cached_property
    def embedder(self) -> Embedder:
        """The component that turns texts into vectors."""
        part = self.settings.embedder
        with placed(part.places):
            return self._host.embedder(part.name, part.options)

    @cached_property
    def chunker(self) -> Chunker:
        """The component that splits documents, unless :attr:`chunkers` has another for them."""
        return self._chunker(self.settings.chunker)

    @cached_property
    def chunkers(self) -> Mapping[str, Chunker]:
        """How documents are split, by file ending; under ``""`` those of any other.

        That is what ``chunkers`` says of the ending, or what the ending's loader names, or ``chunker``.
        """
        named: dict[str, Chunker] = {}
        by_ending = {"": self.chunker}
        for ending, loader in self.loaders.items():
            name = getattr(loader, "chunker", "")
            if name and name not in named:
                places = {"": f"the loader of {ending or 'any text'}"}
                named[name] = self._chunker(Part(name=name, places=places))
            by_ending[ending] = named.get(name, self.chunker)
        for ending, part in self.settings.chunkers.items():
            by_ending[ending] = self._chunker(part)
        return by_ending

    def _chunker(self, part: Part) -> Chunker:
        with placed(part.places):
            return self._host.chunker(part.name, part.options)

    @cached_property
    def store(self) -> Store:
        """The component that keeps chunks; closed, except while an index run writes."""
        return self.new_store()

    @cached_property
    def reranker(self) -> Reranker | None:
        """The component that reorders the best candidates; None for their fused order."""
        part = self.settings.reranker
        if part.name == NONE:
            return None
        with placed(part.places):
            return self._host.reranker(part.name, part.options)

    @cached_property
    def formatter(self) -> Formatter:
        """The component that writes a context as text."""
        part = self.settings.formatter
        with placed(part.places):
            return self._host.formatter(part.name, part.options)

    @cached_property
    def loaders(self) -> Mapping[str, Loader]:
        """Loaders by file ending; the settings decide where two plugins read the same ending."""
        made = self._host.loaders()
        by_ending: dict[str, Loader] = {}
        for name in made:
            for ending in made[name].suffixes:
                by_ending.setdefault(ending, made[name])
        for ending, part in self.settings.loaders.items():
            with placed(part.places):
                by_ending[ending] = self._host.loader(part.name, part.options)
        return by_ending

    def walk(self) -> Iterator[Found]:
        """The files of this space, as they are now."""
        return walk(
            resolve_roots(self.settings.sources, self._root),
            base=self._root,
            endings=self.loaders.keys(),
            include=self.settings.include,
            exclude=self.settings.exclude,
        )

    def new_store(self) -> Store:
        """Another object for the same store; its local path counts from the workspace."""
        part = self.settings.store
        with placed(part.places):
            return self._host.store(part.name, self._anchored(part))

    def _anchored(self, part: Part) -> Mapping[str, Json]:
        options = dict(part.options)
        for key in ("path", "uri"):
            value = options.get(key)
            if isinstance(value, str) and value and ":" not in value:
                try:
                    options[key] = str(self._root / user_path(value))
                except ValueError as error:
                    place = f"store {part.name!r}: option {key!r}"
                    raise ConfigError(f"{place} must be {error}, not {value!r}") from error
        return options

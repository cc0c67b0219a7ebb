"""The index that a library keeps: a space of its own, of templates and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PurePosixPath

from ragloom import Loader, Workspace
from ragloom.config import Component, SpaceSettings
from ragloom.sources.discovery import Found
from ragloom.types import Json
from ragloom.workspace import Space
from ragloom_templates.parsing import PATTERN_FILE, SKILL_FILE, path_without_ending

__all__ = ["TemplateSpace", "identify"]

_ENDING = ".md"
_NO_TEMPLATES = (
    "README.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE.md",
    "NOTICE.md",
    "SECURITY.md",
)
"""What lies about in any repository and is no template."""


class TemplateSpace(Space):
    """A space whose parts are this plugin's loader and chunker, with a folder beside other spaces.

    Args:
        workspace: Where the state is kept; its settings name the embedder and the store.
        name: Of the library.
        sources: Folders and files, relative to the workspace.
        head: The options of the chunker ``template``.
    """

    def __init__(
        self,
        workspace: Workspace,
        name: str,
        *,
        sources: Sequence[str],
        head: Mapping[str, Json],
    ) -> None:
        defaults = workspace.settings.defaults
        settings = SpaceSettings(
            sources=tuple(sources),
            exclude=_NO_TEMPLATES,
            loaders={_ENDING: Component(name="template")},
            chunker=Component(name="template", options=head),
            embedder=defaults.embedder,
            store=defaults.store,
            min_relevance=0.0,
        )
        super().__init__(workspace, name, settings)
        self.left_out: set[str] = set()
        """Uris of templates that do not belong to the library any more."""

    def set_sources(self, sources: Sequence[str]) -> None:
        """Walk these folders and files from now on."""
        self.settings = replace(self.settings, sources=tuple(sources))

    @property
    def directory(self) -> Path:
        """Apart from ``spaces/``: ``ragloom index`` must not cut templates with another chunker."""
        return self.workspace.state / "templates" / self.name

    @cached_property
    def loaders(self) -> Mapping[str, Loader]:
        """The loader ``template``, for ``.md`` alone."""
        return {_ENDING: self.workspace.host.loader("template")}

    def walk(self) -> Iterator[Found]:
        """The templates, without what belongs to one.

        All that lies below a folder with a ``SKILL.md`` is material of that skill, and what lies
        beside a ``system.md`` belongs to that pattern.
        """
        found = [item for item in super().walk() if item.source.uri not in self.left_out]
        folders: dict[str, set[str]] = {SKILL_FILE: set(), PATTERN_FILE: set()}
        for item in found:
            folder, name = _split(item.source.uri)
            if name in folders and item.status is not None:
                folders[name].add(folder)
        skills = _outermost(folders[SKILL_FILE])
        for item in found:
            folder, name = _split(item.source.uri)
            if name != SKILL_FILE or folder not in skills:
                if _has_ancestor(folder, skills):
                    continue
                if name != PATTERN_FILE and folder in folders[PATTERN_FILE]:
                    continue
            yield item


def _split(uri: str) -> tuple[str, str]:
    folder, _, name = uri.rpartition("/")
    return folder, name


def _above(folder: str) -> str:
    return folder.rpartition("/")[0]


def _outermost(folders: set[str]) -> set[str]:
    """Those that lie below no other."""
    return {folder for folder in folders if not _has_ancestor(_above(folder), folders)}


def _has_ancestor(folder: str, folders: set[str]) -> bool:
    """Whether ``folder`` is one of ``folders`` or lies below one."""
    if not folders:
        return False
    while folder not in folders:
        above = _above(folder)
        if above == folder:
            return False
        folder = above
    return True


def identify(uris: Sequence[str], roots: Sequence[str]) -> Mapping[str, str]:
    """The id of every template: ids to uris, in the order of the ids.

    An id is the path below the root that holds the file. Where two roots hold the same path, the first
    root's file has it, and the others are named after their roots, too.

    Args:
        uris: Of the templates, relative to the workspace.
        roots: The library's folders and files, likewise, in the order that they were given in.
    """
    ids: dict[str, str] = {}
    order = [PurePosixPath(root) for root in roots]
    placed: list[tuple[int, PurePosixPath, str]] = []
    for uri in uris:
        path = PurePosixPath(uri)
        number = next((n for n, root in enumerate(order) if path.is_relative_to(root)), len(order))
        placed.append((number, path, uri))
    for number, path, uri in sorted(placed):
        root = order[number] if number < len(order) else PurePosixPath()
        below = path_without_ending(path)
        if below == root or not below.is_relative_to(root):
            root = below.parent
        name = below.relative_to(root).as_posix()
        for taken in (name, f"{root.name}/{name}", below.as_posix(), uri):
            if taken not in ids:
                ids[taken] = uri
                break
    return dict(sorted(ids.items()))

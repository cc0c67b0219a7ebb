"""The index that a library keeps: a space of its own, of templates and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

from ragloom import Json, Space, Workspace
from ragloom.config import Component, SpaceSettings
from ragloom_templates.parsing import PATTERN_FILE, SKILL_FILE, path_without_ending

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


def template_space(
    workspace: Workspace, name: str, head: Mapping[str, Json], removed: Collection[str]
) -> Space:
    """The index of a library: this plugin's loader and chunker, with a folder beside other spaces.

    Args:
        workspace: Where the state is kept; its settings name the embedder and the store.
        name: Of the library.
        head: The options of the chunker ``template``.
        removed: Uris of templates that do not belong to the library any more; read at every walk.
    """
    defaults = workspace.settings.defaults
    settings = SpaceSettings(
        sources=(),
        include=(f"*{_ENDING}",),
        exclude=_NO_TEMPLATES,
        loaders={_ENDING: Component(name="template")},
        chunker=Component(name="template", options=head),
        embedder=defaults.embedder,
        store=defaults.store,
        min_relevance=0.0,
    )
    return workspace.private_space(
        name,
        settings,
        directory=f"templates/{name}",
        select=lambda uris: templates_among([uri for uri in uris if uri not in removed]),
    )


def templates_among(uris: Sequence[str]) -> list[str]:
    """The templates among files, without what belongs to one.

    All that lies below a folder with a ``SKILL.md`` is material of that skill, and what lies beside a
    ``system.md`` belongs to that pattern.
    """
    folders: dict[str, set[str]] = {SKILL_FILE: set(), PATTERN_FILE: set()}
    for folder, name in map(_split, uris):
        if name in folders:
            folders[name].add(folder)
    skills = _outermost(folders[SKILL_FILE])

    def is_template(uri: str) -> bool:
        folder, name = _split(uri)
        if name == SKILL_FILE and folder in skills:
            return True
        if _has_ancestor(folder, skills):
            return False
        return name == PATTERN_FILE or folder not in folders[PATTERN_FILE]

    return list(filter(is_template, uris))


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

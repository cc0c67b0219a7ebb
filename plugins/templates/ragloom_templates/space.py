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
"""Files of any repository that are no templates."""


def template_space(
    workspace: Workspace, name: str, head: Mapping[str, Json], removed: Collection[str]
) -> Space:
    """The index of a library: this plugin's loader and chunker, with a folder beside other spaces."""
    defaults = workspace.settings.defaults
    settings = SpaceSettings(
        sources=(),
        include=(f"*{_ENDING}",),
        exclude=_NO_TEMPLATES,
        loaders=loaders(()),
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


def loaders(descriptions: Sequence[str]) -> Mapping[str, Component]:
    """The loader, with files that describe patterns."""
    return {_ENDING: Component(name="template", options={"descriptions": [*descriptions]})}


def templates_among(uris: Sequence[str]) -> list[str]:
    """The templates among files, without what belongs to one.

    All that lies below a folder with a ``SKILL.md`` is material of that skill, and what lies beside a
    ``system.md`` belongs to that pattern.
    """
    paths = {uri: PurePosixPath(uri) for uri in uris}
    skills, patterns = (
        {path.parent for path in paths.values() if path.name == name}
        for name in (SKILL_FILE, PATTERN_FILE)
    )
    skills = {folder for folder in skills if skills.isdisjoint(folder.parents)}

    def is_template(path: PurePosixPath) -> bool:
        if path.name == SKILL_FILE and path.parent in skills:
            return True
        below_skill = not skills.isdisjoint(path.parents)
        return not below_skill and (path.name == PATTERN_FILE or path.parent not in patterns)

    return [uri for uri, path in paths.items() if is_template(path)]


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


def below(uri: str, places: Sequence[str]) -> bool:
    """Whether a file is, or lies in, one of some files and folders."""
    return any(place in (".", uri) or PurePosixPath(uri).is_relative_to(place) for place in places)

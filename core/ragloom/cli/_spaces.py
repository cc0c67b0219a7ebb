"""Choose the spaces of a command."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ragloom.cli._session import Session
from ragloom.config.spelling import did_you_mean

if TYPE_CHECKING:
    from ragloom.space import Space
    from ragloom.workspace import Workspace

__all__ = ["choose_spaces", "with_components"]

_DEFAULT = "default"
_SHOWN = 3  # names of spaces in a note


def choose_spaces(
    workspace: Workspace,
    name: str | None = None,
    paths: Sequence[str] = (),
    components: Mapping[str, str | None] | None = None,
) -> list[Space]:
    """The spaces that are meant: by name, by paths, or all.

    Paths that spaces hold are those of these spaces; others make a space of their own. Spaces of the
    settings come before those that were only indexed; without any, the whole workspace is the space
    ``default``.

    Raises:
        UsageError: The name is unknown, or names a space of the settings and there are paths.
    """
    declared = sorted(workspace.settings.spaces)
    if name is not None:
        spaces = [_named(workspace, name, paths)]
    elif paths:
        spaces = workspace.spaces_with(paths) or [_of_its_own(workspace, paths)]
    else:
        names = declared or list(workspace.spaces())
        if _DEFAULT in names and not declared:  # the whole workspace holds all others
            names = [_DEFAULT]
        spaces = [workspace.space(found) for found in names or [_DEFAULT]]
    return [with_components(space, components or {}) for space in spaces]


def _of_its_own(workspace: Workspace, paths: Sequence[str]) -> Space:
    """The space made of these paths; says so where it is new, and others are there."""
    space = workspace.space_for(paths)
    others = [name for name in workspace.spaces() if name != space.name]
    if others and not space.generation and all(map(os.path.exists, paths)):
        session = click.get_current_context().ensure_object(Session)
        beside = ", ".join(map(repr, others[:_SHOWN])) + ", …" * (len(others) > _SHOWN)
        session.note(f"new space {space.name!r} of these paths, which are not in {beside}")
    return space


def _named(workspace: Workspace, name: str, paths: Sequence[str]) -> Space:
    context = click.get_current_context()
    if paths:
        if name in workspace.settings.spaces:
            message = f"the settings name the sources of {name!r}: give --space or PATHs, not both"
            raise click.UsageError(message, context)
        return workspace.space_for(paths, name=name)
    known = workspace.spaces()
    if name not in known and name != _DEFAULT:
        hint = did_you_mean(name, known) or (
            f" (available: {', '.join(known)})" if known else "; nothing is indexed yet"
        )
        raise click.UsageError(f"unknown space {name!r}{hint}", context)
    return workspace.space(name)


def with_components(space: Space, names: Mapping[str, str | None]) -> Space:
    """``space`` with other components than its settings name, and the options that belong to those."""
    chosen = {
        kind: getattr(space.settings, kind).instead(name, f"--{kind}")
        for kind, name in names.items()
        if name
    }
    return space.with_settings(replace(space.settings, **chosen)) if chosen else space

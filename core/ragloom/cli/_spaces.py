"""Which index a command is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ragloom.config.spelling import did_you_mean

if TYPE_CHECKING:
    from ragloom.space import Space
    from ragloom.workspace import Workspace

__all__ = ["choose_space", "choose_spaces", "with_parts"]

_DEFAULT = "default"


def choose_space(workspace: Workspace, name: str | None, paths: Sequence[str]) -> Space:
    """The one space that is meant.

    Raises:
        UsageError: Several could be meant, or none of that name is known.
    """
    spaces = choose_spaces(workspace, name, paths)
    if len(spaces) > 1:
        names = ", ".join(space.name for space in spaces)
        message = f"there are several spaces; choose one by --space NAME or by its PATHs: {names}"
        raise click.UsageError(message, click.get_current_context())
    return spaces[0]


def choose_spaces(workspace: Workspace, name: str | None, paths: Sequence[str]) -> list[Space]:
    """The spaces that are meant: by name, by paths, or else all that there are.

    Those that the settings declare come before those that were only indexed. Where there is none,
    the whole workspace is the space ``default``.

    Raises:
        UsageError: None of that name is known.
    """
    declared = sorted(workspace.settings.spaces)
    if name is not None:
        return [_named(workspace, name, paths)]
    if paths:
        return [workspace.space_for(paths)]
    names = declared or list(workspace.spaces())
    if _DEFAULT in names and not declared:  # the whole workspace holds all others
        names = [_DEFAULT]
    return [workspace.space(found) for found in names or [_DEFAULT]]


def _named(workspace: Workspace, name: str, paths: Sequence[str]) -> Space:
    context = click.get_current_context()
    if paths:
        if name in workspace.settings.spaces:
            message = (
                f"{name!r} has its own sources in the settings: give --space or PATHs, not both"
            )
            raise click.UsageError(message, context)
        return workspace.space_for(paths, name=name)
    known = workspace.spaces()
    if name not in known and name != _DEFAULT:
        there = did_you_mean(name, known) or (
            f"; there are: {', '.join(known)}" if known else "; nothing is indexed yet"
        )
        message = f"no space is called {name!r}{there}"
        raise click.UsageError(message, context)
    return workspace.space(name)


def with_parts(
    space: Space,
    *,
    store: str | None = None,
    embedder: str | None = None,
    chunker: str | None = None,
    reranker: str | None = None,
) -> Space:
    """``space`` with other parts than its settings name, and the options that are meant for those."""
    named = {"store": store, "embedder": embedder, "chunker": chunker, "reranker": reranker}
    parts = {
        part: getattr(space.settings, part).instead(name, f"--{part}")
        for part, name in named.items()
        if name
    }
    if not parts:
        return space
    return space.with_settings(replace(space.settings, **parts))

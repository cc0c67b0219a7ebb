"""Options that the commands of templates share, and how their values are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from ragloom.cli import Session, completes

if TYPE_CHECKING:
    from ragloom_templates.library import TemplateLibrary

F = TypeVar("F", bound=Callable[..., object])

dirs_option = click.option(
    "--dir",
    "dirs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder of templates instead of those in the settings; repeatable.",
)


def _of_all(field: str) -> Callable[[Session], Iterable[str]]:
    """The values that templates have of a field."""
    return lambda session: sorted(
        {str(getattr(one, field)) for one in open_library(session).read_files()}
    )


id_argument = click.argument("template_id", metavar="ID", shell_complete=completes(_of_all("id")))


def filter_options(command: F) -> F:
    """``--domain``, ``--complexity`` and ``--methodology``."""
    for name in ("methodology", "complexity", "domain"):
        command = click.option(
            f"--{name}",
            shell_complete=completes(_of_all(name)),
            help=f"Only templates of this {name}.",
        )(command)
    return command


def open_library(session: Session, dirs: Sequence[str] = ()) -> TemplateLibrary:
    """The library in ``dirs``, or that of the settings."""
    from ragloom_templates.library import TemplateLibrary

    folders = [Path(os.path.realpath(folder)) for folder in dirs]
    return TemplateLibrary(folders or None, workspace=session.workspace())


def value_of(pair: str) -> tuple[str, str]:
    """The name and the value of an option ``--set NAME=VALUE``."""
    name, sign, value = pair.partition("=")
    if not sign or not name:
        raise click.UsageError(f"--set takes NAME=VALUE, not {pair!r}")
    return name, value

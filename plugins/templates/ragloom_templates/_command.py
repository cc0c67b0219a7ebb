"""What the commands below ``ragloom templates`` share: options, the library, and what is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import Session, on_one_line

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_templates.library import TemplateLibrary
    from ragloom_templates.types import Template, TemplateMatch

__all__ = [
    "dirs_option",
    "filter_options",
    "in_a_row",
    "match_fields",
    "open_library",
    "placeholder_values",
    "template_fields",
]


dirs_option = click.option(
    "--dir",
    "dirs",
    multiple=True,
    type=click.Path(exists=True, file_okay=False),
    help="A folder of templates instead of those in the settings; repeatable.",
)


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    for name in ("methodology", "complexity", "domain"):
        option = click.option(f"--{name}", help=f"Only templates of this {name}.")
        command = option(command)
    return command


def open_library(session: Session, dirs: Sequence[str]) -> TemplateLibrary:
    from ragloom_templates.library import TemplateLibrary

    folders = [Path(os.path.realpath(folder)) for folder in dirs]
    return TemplateLibrary(folders or None, workspace=session.workspace())


def match_fields(found: TemplateMatch) -> Json:
    return {
        "id": found.id,
        "name": found.name,
        "score": round(found.score, 6),
        "description": found.description,
        "fallback": found.fallback,
    }


def template_fields(template: Template, *, content: bool) -> Json:
    fields: dict[str, Json] = {
        "id": template.id,
        "name": template.name,
        "domain": template.domain,
        "complexity": template.complexity,
        "methodology": template.methodology,
        "keywords": list(template.keywords),
        "description": template.description,
        "path": str(template.file_path),
    }
    return {**fields, "content": template.content} if content else fields


def in_a_row(text: str) -> str:
    """``text`` without line breaks, and without characters that steer a terminal."""
    return on_one_line(" ".join(text.split()))


def placeholder_values(given: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for pair in given:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise click.UsageError(f"--set takes NAME=VALUE, not {pair!r}")
        values[name] = value
    return values

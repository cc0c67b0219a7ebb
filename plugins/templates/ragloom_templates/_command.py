"""What the commands below ``ragloom templates`` share: options, the library, and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import click

if TYPE_CHECKING:
    from ragloom import Json, Workspace
    from ragloom_templates.library import TemplateLibrary
    from ragloom_templates.types import Template, TemplateMatch

__all__ = [
    "Group",
    "Session",
    "dirs_option",
    "echo_content",
    "filter_options",
    "json_option",
    "match_fields",
    "nearest",
    "on_one_line",
    "open_library",
    "placeholder_values",
    "print_json",
    "print_table",
    "template_fields",
]


class Session(Protocol):
    """What ``ragloom`` hands to its commands."""

    def start(self, context: click.Context) -> None: ...

    def workspace(self) -> Workspace: ...

    def note(self, message: str) -> None: ...

    def warn(self, message: str) -> None: ...


class Command(click.Command):
    """A command that also takes, after its name, the options that every command of ragloom takes."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Its own parameters, then those that the program shares with its commands."""
        root = ctx.find_root().command
        own = super().get_params(ctx)
        if root is self:
            return own
        return own + [one for one in root.params if not one.expose_value and not one.is_eager]

    def invoke(self, ctx: click.Context) -> object:
        """Set up logging and colours as the options say, then run."""
        cast("Session", ctx.obj).start(ctx)
        return super().invoke(ctx)


class Group(click.Group):
    command_class = Command


json_option = click.option("--json", "as_json", is_flag=True, help="Print stable JSON.")
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

    folders = [Path(folder).resolve() for folder in dirs]
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


def on_one_line(text: str) -> str:
    """``text`` without line breaks, and without characters that steer a terminal."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))


def echo_content(text: str) -> None:
    """Print a template: byte for byte to a program, without control characters to a person."""
    if sys.stdout.isatty():
        text = "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
    click.echo(text)


def print_json(value: Json) -> None:
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(value, ensure_ascii=not unicode, allow_nan=False))


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not sys.stdout.isatty():
        for row in rows:
            click.echo("\t".join(row))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(highlight=False).print(table)


def placeholder_values(given: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for pair in given:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise click.UsageError(f"--set takes NAME=VALUE, not {pair!r}")
        values[name] = value
    return values


def nearest(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, names, 1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return "; 'ragloom templates list' shows all"

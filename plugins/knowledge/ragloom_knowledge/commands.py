"""What all commands of lessons share: the session, options before and after a name, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import click

if TYPE_CHECKING:
    from ragloom import Json, Workspace

__all__ = ["Command", "Group", "Session", "json_option", "labels", "print_json"]

Function = TypeVar("Function", bound=Callable[..., None])


class Session(Protocol):
    """What ``ragloom`` hands to its commands."""

    def start(self, context: click.Context) -> None:
        """Set up logging and colours."""

    def workspace(self) -> Workspace:
        """The workspace that the options name."""

    def note(self, message: str) -> None:
        """Say something on stderr."""

    def warn(self, message: str) -> None:
        """Warn on stderr."""


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
    """A group of such commands."""

    command_class = Command


json_option = click.option("--json", "as_json", is_flag=True, help="Print stable JSON.")


def labels(command: Function) -> Function:
    """The options that narrow a query, or label a lesson."""
    for name in ("technology", "task-type", "agent-type"):
        command = click.option(f"--{name}", metavar="NAME", help=f"The lesson's {name}.")(command)
    return command


def print_json(value: Json) -> None:
    """Write one line of JSON to stdout, in ASCII where that is all it takes."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(value, ensure_ascii=not unicode, allow_nan=False))

"""``ragloom repair``."""

from __future__ import annotations

import click

from ragloom.cli import Command, Session, json_option, print_json, progress
from ragloom.cli._options import space_option
from ragloom.config.spelling import counted

__all__ = ["command"]


@click.command(
    "repair",
    cls=Command,
    short_help="Make the store again from the snapshot, or the snapshot from the store.",
    epilog="""\b
Examples:
  ragloom repair
  ragloom repair --space docs""",
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@space_option
@json_option
@click.pass_obj
def command(
    session: Session, *, paths: tuple[str, ...], space_name: str | None, as_json: bool
) -> None:
    """Make the store again from the snapshot, or the snapshot from the store.

    Nothing is embedded again, and what is damaged is kept aside, never deleted. Without PATHs or
    --space, every space is repaired.
    """
    from ragloom.cli._spaces import choose_spaces

    for space in choose_spaces(session.workspace(), space_name, paths):
        with progress(session, space.name) as meter, space:
            chunks = space.repair(progress=meter)
        if as_json:
            print_json({"space": space.name, "chunks": chunks})
        elif not session.quiet:
            click.echo(f"{space.name}: {counted(chunks, 'chunk')} in place")

"""``ragloom drop``."""

from __future__ import annotations

import click

from ragloom.cli import Command, Session, json_option, print_json
from ragloom.cli._options import complete_spaces

__all__ = ["command"]


@click.command(
    "drop",
    cls=Command,
    short_help="Forget indexes; the files stay.",
    epilog="""\b
Examples:
  ragloom drop docs
  ragloom drop docs adr --json""",
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_spaces)
@json_option
@click.pass_obj
def command(session: Session, *, names: tuple[str, ...], as_json: bool) -> None:
    """Forget indexes: their chunks in the store, snapshots and calibrations. The files stay.

    A NAME is one of 'ragloom status'. A store that several machines share is emptied for all of
    them. To have an index again, index its files again.
    """
    from ragloom.cli._spaces import choose_spaces

    workspace = session.workspace()
    chosen = [space for name in names for space in choose_spaces(workspace, name, ())]
    for space in chosen:
        space.drop()
        if as_json:
            print_json({"space": space.name, "dropped": True})
        elif not session.quiet:
            click.echo(f"{space.name}: dropped")

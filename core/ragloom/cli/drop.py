"""``ragloom drop``."""

from __future__ import annotations

import click

from ragloom.cli import Command, Session, json_option
from ragloom.cli._options import complete_spaces
from ragloom.cli._output import print_result
from ragloom.types import Json


@click.command(
    "drop",
    cls=Command,
    epilog="""\b
Examples:
  ragloom drop docs
  ragloom drop docs adr --json""",
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True, shell_complete=complete_spaces)
@json_option
@click.pass_obj
def command(session: Session, *, names: tuple[str, ...], as_json: bool) -> None:
    """Delete indexes: their chunks in the store, snapshots and calibrations. The files stay.

    NAME is a space of 'ragloom status'. A store that several machines share is emptied for all of
    them, but on a Milvus server of this machine's rows alone. 'ragloom index' builds an index again.
    """
    from ragloom.cli._spaces import choose_spaces

    workspace = session.workspace()
    chosen = [space for name in names for space in choose_spaces(workspace, name)]
    for space in chosen:
        space.drop()
        value: Json = {"space": space.name, "dropped": True}
        print_result(session, value, f"{space.name}: dropped", as_json=as_json)

"""``ragloom repair``."""

from __future__ import annotations

import click

from ragloom.cli import Command, Session, json_option, progress
from ragloom.cli._options import Spaces, space_options
from ragloom.cli._output import print_result
from ragloom.config.spelling import counted


@click.command(
    "repair",
    cls=Command,
    epilog="""\b
Examples:
  ragloom repair
  ragloom repair --space docs""",
)
@space_options(paths=True)
@json_option
@click.pass_obj
def command(session: Session, *, spaces: Spaces, as_json: bool) -> None:
    """Rebuild the store from the snapshot, or the snapshot from the store, without embedding.

    Damaged files are quarantined, never deleted. Without PATHs or --space, every space is repaired.
    """
    for space in spaces():
        with progress(session, space.name) as meter, space:
            chunks = space.repair(progress=meter)
        line = f"{space.name}: {counted(chunks, 'chunk')} in place"
        print_result(session, {"space": space.name, "chunks": chunks}, line, as_json=as_json)

"""``ragloom commit``."""

from __future__ import annotations

import click

from ragloom.cli import Command, Session, json_option, progress
from ragloom.cli._options import Spaces, space_options


@click.command(
    "commit",
    cls=Command,
    epilog="""\b
Examples:
  ragloom index --shard 1/2 && ragloom index --shard 2/2 && ragloom commit
  ragloom commit --space docs --json""",
)
@space_options("store", "embedder", "chunker")
@json_option
@click.pass_obj
def command(session: Session, *, spaces: Spaces, as_json: bool) -> None:
    """Publish what 'ragloom index --shard' made, once all shards are there.

    The index is the one that a single run would have made. Shards may come from other machines: copy
    their folders to .ragloom/spaces/NAME/shards. Files that have changed since are read here.
    """
    from ragloom.cli._refresh import show_report

    for space in spaces():
        with progress(session, space.name) as meter, space:
            report = space.commit(progress=meter)
        show_report(session, report, as_json=as_json)

"""``ragloom index``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option
from ragloom.cli._edge import FAILED, OK
from ragloom.cli._options import Spaces, space_options

if TYPE_CHECKING:
    from ragloom.space import Space


@click.command(
    "index",
    cls=Command,
    epilog="""\b
Examples:
  ragloom index                     every space of the settings, or this folder
  ragloom index docs/ adr/          an index of these two folders
  ragloom index docs/logging.md     this file, in the index that holds it
  ragloom index docs/ --space kb    the same under a name of its own
  ragloom index --full --json       read every file again; a report for programs
  ragloom index --runner ray        on the workers of a Ray cluster, here or at --address
  ragloom index --shard 2/4         the second of four shares; see 'ragloom commit'""",
)
@space_options("store", "embedder", "chunker", "runner", paths=True)
@click.option(
    "--address",
    metavar="ADDRESS",
    help="Where the cluster of --runner answers; by default 'runner.address' in the settings.",
)
@click.option("--full", is_flag=True, help="Load and split every file, changed or not.")
@click.option(
    "--shard",
    metavar="I/N",
    help="Only load, split and embed the I-th of N shares of the files; 'ragloom commit' publishes all.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 when a file cannot be indexed.")
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    spaces: Spaces,
    address: str | None,
    full: bool,
    shard: str | None,
    strict: bool,
    as_json: bool,
) -> int:
    """Index files that are new or changed, and remove deleted ones from the index.

    Unchanged files are skipped, and known text is not embedded again. Files that .gitignore or
    .ragloomignore names, hidden files and secrets are skipped. A file that cannot be read is named;
    its old chunks stay in the index.

    PATHs inside a space update only these files of it; others make a space of their own.
    Without PATHs, every space of the settings is indexed; without spaces in the settings, every
    index of 'ragloom status'; without one, the whole workspace.
    """
    from ragloom.cli._refresh import refresh, show_report

    if full and shard:
        raise click.UsageError("--full and --shard do not go together")
    code = OK
    for space in [_at(one, address) if address else one for one in spaces()]:
        with space:
            report = refresh(session, space, full=full, shard=shard)
        show_report(session, report, as_json=as_json)
        indexed = report.added or report.updated or report.unchanged
        if report.failed and (strict or not indexed):
            code = FAILED
    return code


def _at(space: Space, address: str) -> Space:
    """``space`` with the address of the cluster that indexes it."""
    from ragloom.plugin.local_runner import LOCAL

    runner = space.settings.runner
    if runner.name == LOCAL:
        raise click.UsageError("--address needs a cluster's --runner, such as 'ray'")
    runner = runner.with_option("address", address, "--address")
    return space.with_settings(replace(space.settings, runner=runner))

"""``ragloom index``."""

from __future__ import annotations

import click

from ragloom.cli import Command, Session, json_option, print_json
from ragloom.cli._edge import FAILED, OK
from ragloom.cli._options import part_options, space_option

__all__ = ["command"]


@click.command(
    "index",
    cls=Command,
    short_help="Bring the index up to date with the files.",
    epilog="""\b
Examples:
  ragloom index                     every space of the settings, or this folder
  ragloom index docs/ adr/          an index of these two folders
  ragloom index docs/ --space kb    the same under a name of its own
  ragloom index --full --json       read every file again; a report for programs""",
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@space_option
@click.option("--full", is_flag=True, help="Read and cut every file again, changed or not.")
@click.option("--strict", is_flag=True, help="Exit with 1 when any file could not be indexed.")
@part_options
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    paths: tuple[str, ...],
    space_name: str | None,
    full: bool,
    strict: bool,
    store: str | None,
    embedder: str | None,
    chunker: str | None,
    as_json: bool,
) -> int:
    """Bring the index up to date with the files.

    Files that did not change are skipped, and text that is already known is not embedded again.
    What .gitignore and .ragloomignore name, hidden files and secrets are left out. A file that
    cannot be read is named and skipped; what was indexed of it before goes on answering.

    Without PATHs, every space of the settings is indexed; where there is none, what was indexed
    before or else the whole workspace.
    """
    from ragloom.cli._refresh import failures, refresh, report_json, summary
    from ragloom.cli._spaces import choose_spaces, with_parts

    code = OK
    for chosen in choose_spaces(session.workspace(), space_name, paths):
        with with_parts(chosen, store=store, embedder=embedder, chunker=chunker) as space:
            report = refresh(session, space, full=full)
        failures(session, report)
        if as_json:
            print_json(report_json(report))
        elif not session.quiet:
            click.echo(summary(report))
        indexed = report.added or report.updated or report.unchanged
        if report.failed and (strict or not indexed):
            code = FAILED
    return code

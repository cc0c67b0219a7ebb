"""``ragloom verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, on_one_line, print_json, progress
from ragloom.cli._options import space_option

if TYPE_CHECKING:
    from ragloom.reports import VerifyReport
    from ragloom.types import Json

__all__ = ["command"]


@click.command(
    "verify",
    cls=Command,
    short_help="Prove every chunk against its file.",
    epilog="""\b
Examples:
  ragloom verify
  ragloom verify --space docs --json""",
)
@space_option
@json_option
@click.pass_context
def command(context: click.Context, *, space_name: str | None, as_json: bool) -> None:
    """Read every indexed file again and prove each chunk: its text, lines and bytes.

    Exit code 1 when a chunk is no longer what its file says; 'ragloom index' brings it up to date.
    """
    from ragloom.cli._spaces import choose_spaces

    session: Session = context.obj
    stale = False
    for space in choose_spaces(session.workspace(), space_name, ()):
        with progress(session, space.name) as meter:
            report = space.verify(progress=meter)
        stale = stale or bool(report.stale)
        if as_json:
            print_json(_as_json(space.name, report))
            continue
        for chunk in report.stale:
            click.echo(on_one_line(f"{chunk.path}:{chunk.lines.start}: {chunk.why}"))
        session.note(f"{space.name}: {report.exact} of {report.chunks} chunks are exact")
    if stale:
        context.exit(1)


def _as_json(space: str, report: VerifyReport) -> Json:
    return {
        "space": space,
        "chunks": report.chunks,
        "exact": report.exact,
        "stale": [
            {
                "path": chunk.path,
                "start_line": chunk.lines.start,
                "end_line": chunk.lines.end,
                "why": chunk.why,
            }
            for chunk in report.stale
        ],
    }

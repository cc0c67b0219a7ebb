"""``ragloom verify``."""

from __future__ import annotations

import click

from ragloom.cli._group import Command
from ragloom.cli._options import common_options, json_option, space_option
from ragloom.cli._session import Session

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
@common_options
@click.pass_context
def command(context: click.Context, *, space_name: str | None, as_json: bool) -> None:
    """Read every indexed file again and prove each chunk: its text, lines and bytes.

    Exit code 1 when a chunk is no longer what its file says; 'ragloom index' brings it up to date.
    """
    from ragloom.cli._output import print_json
    from ragloom.cli._progress import progress
    from ragloom.cli._spaces import choose_spaces

    session: Session = context.obj
    (space,) = choose_spaces(session.workspace(), space_name, ())
    with progress(session, space.name) as meter:
        report = space.verify(progress=meter)
    if as_json:
        print_json(
            {
                "chunks": report.chunks,
                "exact": report.exact,
                "stale": [
                    {
                        "path": stale.path,
                        "start_line": stale.lines.start,
                        "end_line": stale.lines.end,
                        "why": stale.why,
                    }
                    for stale in report.stale
                ],
            }
        )
    else:
        for stale in report.stale:
            click.echo(f"{stale.path}:{stale.lines.start}: {stale.why}")
        session.note(f"{space.name}: {report.exact} of {report.chunks} chunks are exact")
    if report.stale:
        context.exit(1)

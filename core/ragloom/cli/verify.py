"""``ragloom verify``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, on_one_line, progress
from ragloom.cli._edge import FAILED, OK
from ragloom.cli._options import Spaces, space_options
from ragloom.cli._output import print_result

if TYPE_CHECKING:
    from ragloom.reports import VerifyReport
    from ragloom.types import Json


@click.command(
    "verify",
    cls=Command,
    epilog="""\b
Examples:
  ragloom verify
  ragloom verify --space docs --json""",
)
@space_options()
@json_option
@click.pass_obj
def command(session: Session, *, spaces: Spaces, as_json: bool) -> int:
    """Read every indexed file and compare each chunk with it: text, lines and bytes.

    Exits with 1 when a chunk differs from its file; 'ragloom index' brings it up to date.
    """
    code = OK
    for space in spaces():
        with progress(session, space.name) as meter:
            report = space.verify(progress=meter)
        code = FAILED if report.stale else code
        if not as_json:
            for chunk in report.stale:
                click.echo(on_one_line(f"{chunk.path}:{chunk.lines.start}: {chunk.why}"))
        line = f"{space.name}: {report.exact} of {report.chunks} chunks equal their files"
        print_result(session, _as_json(space.name, report), line, as_json=as_json)
    return code


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

"""``ragloom doctor``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, on_one_line, print_json, print_table
from ragloom.cli._edge import FAILED, OK
from ragloom.cli._options import space_option
from ragloom.cli._session import is_terminal

if TYPE_CHECKING:
    from ragloom.cli._diagnoses import Diagnosis

_COLORS = {"ok": "green", "warning": "yellow", "failed": "red"}


@click.command(
    "doctor",
    cls=Command,
    epilog="""\b
Examples:
  ragloom doctor
  ragloom doctor --space docs
  ragloom doctor --json | jq '.[] | select(.state != "ok")'""",
)
@space_option("Only this space.")
@json_option
@click.pass_obj
def command(session: Session, *, space_name: str | None, as_json: bool) -> int:
    """Check environment, plugins, settings, permissions, model, store and spaces, and say what to do.

    It embeds one text, opens the stores of what is indexed, and compares every file of an index with its
    checksum; it changes nothing. The exit code is 1 where something failed, which a warning does not.
    """
    from ragloom.cli._diagnoses import diagnoses

    found = list(diagnoses(session, space_name))
    code = FAILED if any(one.state == "failed" for one in found) else OK
    if as_json:
        print_json(
            [
                {
                    "area": one.area,
                    "name": one.name,
                    "state": one.state,
                    "said": one.said,
                    "fix": one.fix,
                }
                for one in found
            ]
        )
    elif is_terminal():
        _print(found)
    else:
        print_table(
            ("state", "area", "name", "said", "fix"),
            [(one.state, one.area, one.name, one.said, one.fix) for one in found],
        )
    return code


def _print(found: list[Diagnosis]) -> None:
    """A line for each, with its fix below it, under the name of its area."""
    area = ""
    width = max(len(one.name) for one in found)
    for one in found:
        if one.area != area:
            click.echo(click.style(one.area, bold=True))
            area = one.area
        state = click.style(f"{one.state:<7}", fg=_COLORS[one.state])
        click.echo(f"  {state}  {on_one_line(one.name):<{width}}  {on_one_line(one.said)}")
        if one.fix:
            click.echo(f"  {'':7}  {'':{width}}  fix: {on_one_line(one.fix)}")

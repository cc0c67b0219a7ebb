"""``ragloom watch``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json
from ragloom.cli._options import part_options, space_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragloom.space import Space

__all__ = ["command"]


@click.command(
    "watch",
    cls=Command,
    short_help="Keep the index up to date while files change.",
    epilog="""\b
Examples:
  ragloom watch                     every space of the settings, or this folder
  ragloom watch docs/ adr/          an index of these two folders
  ragloom watch --json >> runs.jsonl""",
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@space_option
@part_options
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    paths: tuple[str, ...],
    space_name: str | None,
    store: str | None,
    embedder: str | None,
    chunker: str | None,
    as_json: bool,
) -> None:
    """Keep the index up to date while files change, until Ctrl-C.

    It looks once a second, or more seldom where a look takes long, and says what an index run
    changed, as 'ragloom index' does. Settings that change count from the next look on. What goes
    wrong is said once and tried again. Searches and servers answer from what it publishes.
    """
    from ragloom.cli._refresh import failures, refresh, report_json, summary
    from ragloom.cli._spaces import choose_spaces, with_parts
    from ragloom.reports import IndexReport
    from ragloom.watch import watch_spaces

    def spaces() -> Sequence[Space]:
        chosen = choose_spaces(session.workspace(), space_name, paths)
        parts = {"store": store, "embedder": embedder, "chunker": chunker}
        return [with_parts(space, **parts) for space in chosen]

    names = ", ".join(space.name for space in spaces())  # wrong usage ends it before it begins
    session.note(f"watching {names}; Ctrl-C ends it", dim=True)
    for name, found in watch_spaces(spaces, lambda space: refresh(session, space)):
        if not isinstance(found, IndexReport):
            session.warn(f"{name}: {found}" if name else str(found))
            continue
        failures(session, found)
        if as_json:
            print_json(report_json(found))
        elif not session.quiet:
            click.echo(summary(found))

"""``ragloom watch``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option
from ragloom.cli._options import Spaces, space_options
from ragloom.errors import SourceError

if TYPE_CHECKING:
    from ragloom.space import Space

_STEP = 10.0  # seconds of embedding between two looks at the files


@click.command(
    "watch",
    cls=Command,
    epilog="""\b
Examples:
  ragloom watch                     every space of the settings, or this folder
  ragloom watch docs/ adr/          an index of these two folders
  ragloom watch docs/logging.md     this file, in the index that holds it
  ragloom watch --json >> runs.jsonl""",
)
@space_options("store", "embedder", "chunker", paths=True)
@json_option
@click.pass_obj
def command(session: Session, *, spaces: Spaces, as_json: bool) -> None:
    """Watch the files and index changes, until Ctrl-C.

    It checks once a second, or less often where a check takes much processor time, at least every ten
    seconds, and reports changes as 'ragloom index' does. Changed settings apply from the next check
    on. An error or a warning is shown once and the run repeated; where no source exists, it fails at
    once. Searches and servers use each new index at once.
    """
    from ragloom.cli._refresh import refresh, show_report
    from ragloom.reports import IndexReport
    from ragloom.watch import watch_spaces

    watched = spaces()  # raises where the usage is wrong
    _refuse_nothing(watched)
    names = ", ".join(space.name for space in watched)
    shown: dict[str, IndexReport] = {}
    session.note(f"watching {names}; stop with Ctrl-C", dim=True)
    for name, found in watch_spaces(spaces, lambda space: refresh(session, space, seconds=_STEP)):
        if not isinstance(found, IndexReport):
            session.warn(f"{name}: {found}" if name else str(found))
        else:
            show_report(session, found, shown.get(name), as_json=as_json)
            shown[name] = found


def _refuse_nothing(spaces: Sequence[Space]) -> None:
    """Refuse sources of which none is there; one that comes later is indexed then.

    Raises:
        SourceError: Names the first that is missing.
    """
    missing: SourceError | None = None
    for space in spaces:
        for source in space.settings.sources:
            try:
                space.roots([source])
            except SourceError as error:
                missing = missing or error
            else:
                return
    if missing is not None:
        raise missing

"""``ragloom calibrate``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ragloom.cli import Command, Session, json_option
from ragloom.cli._group import load
from ragloom.cli._options import Spaces, space_options
from ragloom.cli._output import print_result

if TYPE_CHECKING:
    from ragloom.space import Space
    from ragloom.types import Json


@click.command(
    "calibrate",
    cls=Command,
    epilog="""\b
Examples:
  ragloom calibrate
  ragloom calibrate --space docs --off-topic questions.txt
  ragloom calibrate --space knowledge      the lessons, with software tasks
  ragloom calibrate --reset""",
)
@space_options()
@click.option(
    "--off-topic",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File of queries that the documents cannot answer, one a line; by default 200 everyday questions, "
    "or those that a plugin has for its own space.",
)
@click.option("--reset", is_flag=True, help="Restore the embedder's own calibration.")
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    spaces: Spaces,
    off_topic: Path | None,
    reset: bool,
    as_json: bool,
) -> None:
    """Calibrate relevance on your documents: about 99 of 100 off-topic queries stay below 0.3.

    It searches for off-topic queries and shifts the curve until their best hits stay below the
    default gate. It indexes and embeds no document.
    """
    from ragloom.evaluation.collections import everyday_questions, questions_in
    from ragloom.retrieval.relevance import DEFAULT_CALIBRATION

    asked = questions_in(off_topic) if off_topic and not reset else []
    chosen = _of_a_plugin(session) or [(space, None) for space in spaces()]
    for space, unanswered in chosen:
        if reset:
            space.reset_calibration()
            holds = space.calibration() or space.embedder.calibration or DEFAULT_CALIBRATION
        else:
            queries = asked or unanswered or everyday_questions()
            holds = space.calibrate([query for query in queries if query.strip()])
        said = (
            "the embedder's own calibration applies again"
            if reset
            else f"bias {holds.bias:.2f}; {holds.source}"
        )
        value: Json = {"space": space.name, **asdict(holds)}
        print_result(session, value, f"{space.name}: {said}", as_json=as_json)


def _of_a_plugin(session: Session) -> list[tuple[Space, Sequence[str] | None]]:
    """The space of a plugin that ``--space`` names, with the queries that it cannot answer, or nothing."""
    name = click.get_current_context().params.get("space_name")
    workspace = session.workspace()
    if not name or name in workspace.spaces():
        return []
    return [
        cast("Callable[..., tuple[Space, Sequence[str]]]", load(spec.calibrated, "calibration"))(
            workspace
        )
        for spec in session.host().evaluations().values()
        if spec.space == name
    ]

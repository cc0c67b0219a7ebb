"""``ragloom calibrate``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json
from ragloom.cli._options import space_option

if TYPE_CHECKING:
    from ragloom.types import Calibration

__all__ = ["command"]


@click.command(
    "calibrate",
    cls=Command,
    short_help="Fit relevance to your documents.",
    epilog="""\b
Examples:
  ragloom calibrate
  ragloom calibrate --space docs --off-topic questions.txt
  ragloom calibrate --reset""",
)
@space_option
@click.option(
    "--off-topic",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Queries that the documents cannot answer, a line each; 200 everyday questions by default.",
)
@click.option("--reset", is_flag=True, help="Go back to the embedder's own calibration.")
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    space_name: str | None,
    off_topic: Path | None,
    reset: bool,
    as_json: bool,
) -> None:
    """Fit relevance to your documents, so that 0.3 keeps out about 99 of 100 off-topic queries.

    Off-topic queries are asked, and the scale is moved until the best of what they find stays below
    the default gate as often as that. Nothing is indexed or embedded again.
    """
    from ragloom.cli._spaces import choose_spaces
    from ragloom.evaluation.collections import everyday_questions
    from ragloom.retrieval.relevance import DEFAULT_CALIBRATION

    workspace = session.workspace()
    for space in choose_spaces(workspace, space_name, ()):
        if reset:
            space.reset_calibration()
            holds = space.embedder.calibration or DEFAULT_CALIBRATION
        else:
            queries = (
                off_topic.read_text("utf-8").splitlines() if off_topic else everyday_questions()
            )
            holds = space.calibrate([query for query in queries if query.strip()])
        if as_json:
            print_json({"space": space.name, **_as_json(holds)})
        elif reset:
            session.note(f"{space.name}: the embedder's own calibration holds again")
        else:
            session.note(f"{space.name}: bias {holds.bias:.2f}; {holds.source}")


def _as_json(calibration: Calibration) -> dict[str, float | str]:
    return {
        "bias": calibration.bias,
        "cosine_weight": calibration.cosine_weight,
        "coverage_weight": calibration.coverage_weight,
        "matched_weight": calibration.matched_weight,
        "source": calibration.source,
    }

"""``ragloom knowledge``."""

from __future__ import annotations

import click

from ragloom.cli import Group
from ragloom_knowledge.cli.asking import context, failure, outcome, query
from ragloom_knowledge.cli.capturing import capture, checkpoint
from ragloom_knowledge.cli.keeping import (
    export,
    import_lessons,
    list_lessons,
    pin,
    prune,
    remove,
    show,
)

__all__ = ["knowledge"]


@click.group(
    "knowledge",
    cls=Group,
    short_help="Capture lessons and ask what has worked.",
    epilog="""\b
Examples:
  ragloom knowledge capture --kind failure_solution --project shop --agent-type backend \\
    --failure-description "Migration times out" --solution-steps "Lock less" --success-verified
  ragloom knowledge checkpoint --project shop --kind phase_completion
  ragloom knowledge context "Write the migration" --agent-type backend
  ragloom knowledge outcome ID --success""",
)
def knowledge() -> None:
    """Keep what failed and was fixed, what was rejected, what was approved; ask what has worked."""


for _commands in (
    (capture, checkpoint),
    (query, failure, context, outcome),
    (list_lessons, show, pin, remove, prune, export, import_lessons),
):
    for _command in _commands:
        knowledge.add_command(_command)

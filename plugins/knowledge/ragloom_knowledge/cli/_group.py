"""The group ``ragloom knowledge``, and what its commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict, TypeVar

import click

from ragloom.cli import Group, Session, print_json

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.knowledge import KnowledgeBase

Function = TypeVar("Function", bound=Callable[..., None])

id_argument = click.argument("lesson_id", metavar="ID")


class Labels(TypedDict):
    """What narrows a query, or labels a lesson."""

    agent_type: str | None
    task_type: str | None
    technology: str | None


@click.group(
    "knowledge",
    cls=Group,
    short_help="Capture lessons and query what has worked.",
    epilog="""\b
Examples:
  ragloom knowledge capture --kind failure_solution --project shop --agent-type backend \\
    --failure-description "Migration times out" --solution-steps "Lock less" \\
    --error-message "canceling statement due to statement timeout" --success-verified
  ragloom knowledge checkpoint --project shop --kind phase_completion
  ragloom knowledge context "Write the migration" --agent-type backend
  ragloom knowledge outcome ID --success""",
)
def knowledge() -> None:
    """Keep what failed and was fixed, what was rejected, what was approved; query what has worked."""


def labels(command: Function) -> Function:
    """The options of :class:`Labels`."""
    for name in ("technology", "task-type", "agent-type"):
        command = click.option(f"--{name}", metavar="NAME", help=f"The lesson's {name}.")(command)
    return command


@contextmanager
def opened_base(session: Session) -> Iterator[KnowledgeBase]:
    """The lessons of the workspace that the command was given."""
    from ragloom_knowledge.knowledge import KnowledgeBase

    with KnowledgeBase.of(session.workspace()) as opened:
        yield opened


def emit(value: Json, line: str, *, as_json: bool) -> None:
    """Print a result as JSON or as a line."""
    print_json(value) if as_json else click.echo(line)

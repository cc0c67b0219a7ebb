"""The group ``ragloom knowledge``, and what its commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict, TypeVar

import click

from ragloom.cli import Group, Session, completes, print_json

if TYPE_CHECKING:
    from ragloom import Json
    from ragloom_knowledge.knowledge import KnowledgeBase

Function = TypeVar("Function", bound=Callable[..., None])


def of_all(field: str) -> Callable[[Session], Iterable[str]]:
    """The values that lessons have of a field, for a shell."""

    def values(session: Session) -> Iterable[str]:
        from ragloom_knowledge.bounded import Budget

        with opened_base(session) as opened:
            budget = Budget(opened.settings.timeout, opened.table.place)  # a shell waits
            found = {getattr(lesson, field) for lesson in budget.run(opened.lessons)}
        return sorted(found - {None})

    return values


id_argument = click.argument("lesson_id", metavar="ID", shell_complete=completes(of_all("id")))


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
        command = click.option(
            f"--{name}",
            metavar="NAME",
            shell_complete=completes(of_all(name.replace("-", "_"))),
            help=f"The lesson's {name}.",
        )(command)
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

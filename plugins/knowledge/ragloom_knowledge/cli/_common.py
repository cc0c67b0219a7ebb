"""What the commands of ``ragloom knowledge`` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

import click

from ragloom.cli import Session

if TYPE_CHECKING:
    from ragloom_knowledge.knowledge import KnowledgeBase

__all__ = ["labels", "opened_base"]

Function = TypeVar("Function", bound=Callable[..., None])


def labels(command: Function) -> Function:
    """The options that narrow a query, or label a lesson."""
    for name in ("technology", "task-type", "agent-type"):
        command = click.option(f"--{name}", metavar="NAME", help=f"The lesson's {name}.")(command)
    return command


@contextmanager
def opened_base(session: Session) -> Iterator[KnowledgeBase]:
    """The lessons of the workspace that the command was given."""
    from ragloom_knowledge.knowledge import KnowledgeBase

    with KnowledgeBase.of(session.workspace()) as opened:
        yield opened

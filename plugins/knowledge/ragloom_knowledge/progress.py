"""How far a checkpoint is: a bar for every stage, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID

    from ragloom.indexing import Progress

__all__ = ["progress_bar"]

_STAGES = {"files": "reading lessons", "chunks": "embedding lessons", "store": "writing lessons"}


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """What to give as ``progress`` while the block runs: bars on stderr, None where it is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def show(stage: str, done: int, total: int) -> None:
            if total and stage not in tasks:
                tasks[stage] = bar.add_task(_STAGES.get(stage, stage), total=total)
            if total:
                bar.update(tasks[stage], completed=done, total=total)

        yield show

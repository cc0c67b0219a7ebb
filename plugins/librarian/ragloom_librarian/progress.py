"""How far a rebuild is: a bar with files, chunks and their rate, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID

    from ragloom.indexing import Progress

__all__ = ["progress_bar"]

_STAGES = {"files": "reading files", "chunks": "embedding chunks", "store": "writing chunks"}


@contextmanager
def progress_bar(*, quiet: bool = False, colored: bool = True) -> Iterator[Progress]:
    """What to give to :meth:`KnowledgeBase.rebuild` as ``progress``, while the block runs.

    A bar a stage on stderr: how many of how many, and how many a second. Nothing where stderr is not a
    terminal, or where quiet is wanted.
    """
    if quiet or not sys.stderr.isatty():
        yield _nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.text import Text

    class Rate(TextColumn):
        """Files or chunks a second."""

        def render(self, task: object) -> Text:
            speed = getattr(task, "finished_speed", None) or getattr(task, "speed", None)
            return Text(f"{speed:.0f}/s" if speed else "", style="progress.data.speed")

    tasks: dict[str, TaskID] = {}
    console = Console(stderr=True, no_color=not colored)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, Rate(""), console=console, transient=True) as bar:

        def show(stage: str, done: int, total: int) -> None:
            if not total:
                return
            if stage not in tasks:
                tasks[stage] = bar.add_task(_STAGES.get(stage, stage), total=total)
            bar.update(tasks[stage], completed=done, total=total)

        yield show


def _nothing(_stage: str, _done: int, _total: int) -> None:
    """Show nothing."""

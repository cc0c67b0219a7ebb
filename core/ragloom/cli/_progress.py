"""Progress on stderr: a bar on a terminal, a line every ten seconds elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragloom.cli._output import size, span_of_time
from ragloom.cli._session import Session

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["progress"]

_PATIENCE = 1.0  # seconds before the bar is shown: most runs end sooner
_LINE_EVERY = 10.0  # seconds between lines where there is no terminal
_BYTES = "bytes"
_FEW = 10  # a second, of which a decimal tells more
_STAGES = {
    "files": "reading files",
    _BYTES: "reading files",
    "chunks": "embedding chunks",
    "store": "writing chunks",
}


@contextmanager
def progress(session: Session, title: str) -> Iterator[_Meter]:
    """A context manager that returns the argument ``progress`` of :meth:`~ragloom.Space.index`.

    On a terminal, stderr shows a bar for each stage after a second; elsewhere a line every ten seconds.
    """
    if session.quiet:
        meter = _Meter()
    elif sys.stderr.isatty():
        meter = _Bar(title, colored=session.color is not False)
    else:
        meter = _Lines(session, title)
    try:
        yield meter
    finally:
        meter.stop()


class _Meter:
    """Shows nothing."""

    latest: tuple[str, int, int] | None = None
    """What was told last."""

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Update a stage."""
        self.latest = (stage, done, total)

    def stop(self) -> None:
        """Hide the progress."""


class _Lines(_Meter):
    """A line every ten seconds, for logs."""

    def __init__(self, session: Session, title: str) -> None:
        self._session = session
        self._title = title
        self._since = self._said = time.monotonic()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self.latest is None or stage != self.latest[0]:
            self._since = now
        super().__call__(stage, done, total)
        if now - self._said < _LINE_EVERY or not done:
            return
        self._said = now
        rate = done / max(now - self._since, 1e-9)
        left = span_of_time((total - done) / rate)
        label = f"{self._title}: {_STAGES.get(stage, stage)}"
        of = f"{_amount(stage, done)} of {_amount(stage, total)}"
        self._session.note(f"{label}: {of}, {_rate(stage, rate)}, {left} left")


def _amount(stage: str, number: float) -> str:
    return size(int(number)) if stage == _BYTES else f"{number:.0f}"


def _rate(stage: str, rate: float) -> str:
    return f"{rate:.1f}/s" if stage != _BYTES and rate < _FEW else f"{_amount(stage, rate)}/s"


class _Bar(_Meter):
    """A bar for each stage, after a second."""

    def __init__(self, title: str, *, colored: bool) -> None:
        self._title = title
        self._colored = colored
        self._bar: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._over = False
        self._lock = threading.Lock()
        # A timer, as a stage may take seconds between two updates.
        self._timer = threading.Timer(_PATIENCE, self._show)
        self._timer.daemon = True
        self._timer.start()

    def __call__(self, stage: str, done: int, total: int) -> None:
        with self._lock:
            super().__call__(stage, done, total)
            if self._bar is not None:
                self._update(self._bar)

    def stop(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        bar = self._shown()
        with self._lock:
            if not self._over:
                self._bar = bar
                self._update(bar)

    def _update(self, bar: Progress) -> None:
        if self.latest is None:  # the run waits for another one
            return
        bar.start()  # once
        stage, done, total = self.latest
        if stage not in self._tasks:
            label = f"{self._title}: {_STAGES.get(stage, stage)}"
            self._tasks[stage] = bar.add_task(label, total=total, stage=stage)
        bar.update(self._tasks[stage], completed=done, total=total)

    def _shown(self) -> Progress:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            Progress,
            ProgressColumn,
            SpinnerColumn,
            Task,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.text import Text

        class Amount(ProgressColumn):
            """How much is done, and of how much."""

            def render(self, task: Task) -> Text:
                stage: str = task.fields["stage"]
                done, total = _amount(stage, task.completed), _amount(stage, task.total or 0)
                return Text(f"{done}/{total}", style="progress.download")

        class Rate(ProgressColumn):
            """Steps a second."""

            def render(self, task: Task) -> Text:
                speed = task.finished_speed or task.speed
                said = _rate(task.fields["stage"], speed) if speed else ""
                return Text(said, style="progress.data.speed")

        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            Amount(),
            Rate(),
            TimeRemainingColumn(compact=True),
            TextColumn("left"),
            console=Console(stderr=True, no_color=not self._colored),
            transient=True,
        )

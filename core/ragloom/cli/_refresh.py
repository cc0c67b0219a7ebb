"""Bringing a space up to date, with progress, and saying what was odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragloom.cli._progress import progress
from ragloom.cli._session import Session

if TYPE_CHECKING:
    from ragloom.types import IndexReport
    from ragloom.workspace import Space

__all__ = ["failures", "refresh", "summary"]

_NAMED = 20  # warnings that are shown without --verbose


def refresh(
    session: Session, space: Space, *, full: bool = False, timeout: float | None = None
) -> IndexReport:
    """Index ``space``, with a progress bar where a person waits."""
    more = {} if timeout is None else {"timeout": timeout}
    with progress(session, space.name) as meter:
        return space.index(full=full, progress=meter, **more)


def summary(report: IndexReport) -> str:
    """One line on what a run did."""
    changes = [
        f"{len(names)} {what}"
        for names, what in (
            (report.added, "added"),
            (report.updated, "updated"),
            (report.removed, "removed"),
            (report.failed, "failed"),
        )
        if names
    ]
    files = len(report.added) + len(report.updated) + report.unchanged
    said = f"{report.space}: {_plural(files, 'file')} ({', '.join(changes) or 'nothing changed'}), "
    said += _plural(report.chunks, "chunk")
    if report.embedded or report.reused:
        said += f" ({report.embedded} embedded, {report.reused} reused)"
    return f"{said}, {report.seconds:.1f} s"


def failures(session: Session, report: IndexReport) -> None:
    """Name on stderr every file that failed, and what was odd about others."""
    for failed in report.failed:
        session.warn(f"{failed.path}: not indexed: {failed.error}")
    shown = report.warnings if session.verbosity > 0 else report.warnings[:_NAMED]
    for warning in shown:
        session.warn(warning)
    if len(shown) < len(report.warnings):
        session.warn(f"and {len(report.warnings) - len(shown)} more: --verbose shows them")
    if report.truncated:
        cut = _plural(report.truncated, "chunk")
        session.warn(f"{report.space}: the model read only the beginning of {cut}")
    if report.failed:
        session.warn(f"{_plural(len(report.failed), 'file')} could not be indexed")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

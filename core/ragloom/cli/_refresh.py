"""Bringing a space up to date, with progress, and saying what was odd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragloom.cli._progress import progress
from ragloom.cli._session import Session
from ragloom.config.spelling import counted

if TYPE_CHECKING:
    from ragloom.config.settings import SpaceSettings
    from ragloom.reports import IndexReport
    from ragloom.space import Space
    from ragloom.types import Json

__all__ = ["failures", "refresh", "report_json", "summary"]

_NAMED = 20  # warnings that are shown without --verbose


def refresh(
    session: Session, space: Space, *, full: bool = False, timeout: float | None = None
) -> IndexReport:
    """Index ``space``, with a progress bar where a person waits."""
    from ragloom.indexing.indexer import LOCK_TIMEOUT

    if space.record is not None:
        _say_what_differs(session, space, space.record.usual())
    seconds = LOCK_TIMEOUT if timeout is None else timeout
    with progress(session, space.name) as meter:
        return space.index(full=full, progress=meter, timeout=seconds)


def _say_what_differs(session: Session, space: Space, kept: SpaceSettings) -> None:
    """Say what another store or model than before means, and whether it stays."""
    from ragloom.indexing.space_record import RECORD_NAME, RECORDED
    from ragloom.snapshot import last_meta

    for kind in RECORDED:
        part, usual = getattr(space.settings, kind), getattr(kept, kind)
        if part.name == usual.name:
            continue
        # First of all, whether there is such a component.
        getattr(space, "chunkers" if kind == "chunker" else kind)
        if (place := usual.places.get("", "")) and not place.endswith(RECORD_NAME):
            session.note(f"--{kind} {part.name} is for this run only: {place} says {usual.name!r}")
        else:
            session.note(f"{space.name}: the {kind} is {part.name!r} from now on")
    made = last_meta(space.directory)
    if made is not None and made.embedder != space.embedder.fingerprint:
        name = space.settings.embedder.name
        session.note(f"{space.name}: made with another embedder before; {name!r} embeds all again")
    elif made is not None and made.store != space.store.fingerprint:
        name = space.settings.store.name
        session.note(
            f"{space.name}: kept in another store before; {name!r} is filled from the index"
        )


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
    said = f"{report.space}: {counted(files, 'file')} ({', '.join(changes) or 'nothing changed'}), "
    said += counted(report.chunks, "chunk")
    if report.embedded or report.reused:
        said += f" ({report.embedded} embedded, {report.reused} reused)"
    return f"{said}, {report.seconds:.1f} s"


def report_json(report: IndexReport) -> dict[str, Json]:
    """What ``ragloom index --json`` prints of a space."""
    return {
        "space": report.space,
        "files": {
            "added": len(report.added),
            "updated": len(report.updated),
            "unchanged": report.unchanged,
            "removed": len(report.removed),
            "failed": [{"path": failed.path, "error": failed.error} for failed in report.failed],
        },
        "chunks": {
            "total": report.chunks,
            "embedded": report.embedded,
            "reused": report.reused,
            "removed": report.removed_chunks,
            "truncated": report.truncated,
        },
        "warnings": list(report.warnings),
        "seconds": round(report.seconds, 3),
        "generation": report.generation,
    }


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
        cut = counted(report.truncated, "chunk")
        session.warn(f"{report.space}: the model read only the beginning of {cut}")
    if report.failed:
        session.warn(f"{counted(len(report.failed), 'file')} could not be indexed")

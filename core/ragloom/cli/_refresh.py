"""Bring spaces up to date: progress, warnings and reports."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING

from ragloom.cli._output import print_result
from ragloom.cli._progress import progress
from ragloom.cli._session import Session
from ragloom.config.spelling import counted
from ragloom.errors import ModelError, RagloomError, StoreError

if TYPE_CHECKING:
    from ragloom.config.settings import SpaceSettings
    from ragloom.reports import IndexReport
    from ragloom.space import Space
    from ragloom.types import Json

__all__ = ["bring_up_to_date", "note_pending", "note_unchecked", "refresh", "show_report"]

_WARNINGS = 20  # that are shown without --verbose
_PATIENCE = 2.0  # seconds that a search waits for another run before it searches the last index


def refresh(
    session: Session,
    space: Space,
    *,
    full: bool = False,
    seconds: float | None = None,
    timeout: float | None = None,
    shard: str | None = None,
) -> IndexReport:
    """Index ``space`` or a shard of it, with a progress bar on a terminal; see :meth:`Space.index`."""
    from ragloom.indexing.indexer import LOCK_TIMEOUT

    if space.record is not None:
        _note_changes(session, space, space.record.usual())
    patience = LOCK_TIMEOUT if timeout is None else timeout
    with progress(session, space.name) as meter, _hearing_ctrl_c() as heard:
        try:
            if shard is not None:
                return space.index_shard(shard, progress=meter, timeout=patience)
            return space.index(full=full, seconds=seconds, progress=meter, timeout=patience)
        except (KeyboardInterrupt, Exception) as error:
            if not (heard or isinstance(error, KeyboardInterrupt)):
                raise
            stage = meter.latest[0] if meter.latest else ""
            session.kept = _kept(space, embedding=stage in ("chunks", "store"))
            raise KeyboardInterrupt from error


@contextmanager
def _hearing_ctrl_c() -> Iterator[Sequence[int]]:
    """Note each Ctrl-C, beside what is raised for it.

    A module that is imported meanwhile may make of that an ImportError, as if it were not installed.
    """
    heard: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        signal.default_int_handler(number, frame)

    ours = current_thread() is main_thread()
    if ours and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, hear)
    try:
        yield heard
    finally:
        if ours and signal.getsignal(signal.SIGINT) is hear:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def _kept(space: Space, *, embedding: bool) -> str:
    """What an interrupted run leaves: the index that it did not replace, and what it embedded."""
    from ragloom.indexing.journal import Journal

    index = "the last index stays in use" if space.generation else "nothing is indexed yet"
    embedded = 0
    if embedding:  # or the model may have to be asked for its dimension
        embedded = len(Journal(space.directory, space.embedder.dimension).recall())
    if not embedded:
        return index
    chunks = counted(embedded, "embedded chunk")
    return f"{index}; the next run resumes with {chunks}"


def bring_up_to_date(session: Session, spaces: Sequence[Space]) -> None:
    """Index what changed; where a lock, a store or the machine keeps it from it, search the last index.

    Raises:
        RagloomError: The only space fails.
        OSError: A space that has no index cannot be written.
    """
    for space in spaces:
        if not space.settings.check_files or space.settings.read == "remote":
            continue  # another machine indexes, and the files are there
        report = _refreshed(session, space, alone=len(spaces) == 1)
        if report is None:
            gc.collect()  # the files that the run had open: a search may need the descriptors
            continue
        if report.added or report.updated or report.removed:
            session.note(f"indexed {_summary(report)}", dim=True)
        if report.failed:
            failed = counted(len(report.failed), "file")
            session.warn(f"{failed} not indexed; 'ragloom index' shows why")


def _refreshed(session: Session, space: Space, *, alone: bool) -> IndexReport | None:
    """The report of a run; None where it failed and another index can be searched."""
    indexed = space.generation > 0
    try:
        return refresh(session, space, seconds=0, timeout=_PATIENCE if indexed else None)
    except (RagloomError, OSError) as error:
        if indexed and isinstance(error, StoreError | ModelError | OSError):
            why = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
            session.warn(f"{why}; searching the last index")
        elif isinstance(error, RagloomError) and not alone:
            session.warn(f"{space.name}: not up to date: {error}")
        else:
            raise
    return None


def note_unchecked(session: Session, *, checked: bool) -> None:
    """Say that passages are as they were indexed."""
    if not checked:
        session.note("passages are as indexed, not compared with files", dim=True)


def note_pending(session: Session, pending: int) -> None:
    """Say that chunks have no vector yet, and what completes them."""
    if pending:
        session.note(
            f"{counted(pending, 'chunk')} without a vector yet, found by words: 'ragloom index' "
            "completes the index",
            dim=True,
        )


def show_report(
    session: Session, report: IndexReport, before: IndexReport | None = None, *, as_json: bool
) -> None:
    """Print what a run did, after :func:`failures`."""
    failures(session, report, before)
    print_result(session, report_json(report), _summary(report), as_json=as_json)


def failures(session: Session, report: IndexReport, before: IndexReport | None = None) -> None:
    """Name on stderr the files that a run could not index, and show its warnings.

    Args:
        session: Shows them.
        report: Of the run.
        before: The last report that was shown of this space; what it says is not said again.
    """
    from ragloom.reports import IndexReport
    from ragloom.sources.unread import named

    before = before or IndexReport(space=report.space)
    failed = [one for one in report.failed if one not in before.failed]
    warnings = [one for one in report.warnings if one not in before.warnings]
    for one in failed:
        session.warn(f"{one.path}: not indexed: {one.error}")
    shown = warnings if session.verbosity > 0 else warnings[:_WARNINGS]
    for warning in shown:
        session.warn(warning)
    if len(shown) < len(warnings):
        session.warn(f"and {len(warnings) - len(shown)} more: --verbose shows them")
    if report.unread and report.unread != before.unread:
        session.note(f"{report.space}: no loader reads {named(report.unread)}")
    if report.truncated:
        chunks = counted(report.truncated, "chunk")
        session.warn(f"{report.space}: the model read only the beginning of {chunks}")
    if failed:
        session.warn(f"{counted(len(failed), 'file')} not indexed")


def _note_changes(session: Session, space: Space, kept: SpaceSettings) -> None:
    """Name components that differ from those of the last run, and what follows."""
    from ragloom.indexing.space_record import RECORD_NAME, RECORDED
    from ragloom.snapshot import last_meta

    for kind in RECORDED:
        component, usual = getattr(space.settings, kind), getattr(kept, kind)
        if component.name == usual.name:
            continue
        getattr(space, "chunkers" if kind == "chunker" else kind)  # raises where it is unknown
        if (place := usual.places.get("", "")) and RECORD_NAME not in place:
            session.note(
                f"--{kind} {component.name} applies to this run only: {place} says {usual.name!r}"
            )
        else:
            session.note(f"{space.name}: the {kind} is {component.name!r} from now on")
    from ragloom.secrets.redaction import hide_passwords

    if (last := last_meta(space.directory)) is None:
        return
    embedder, store = space.settings.embedder.name, space.settings.store.name
    if last.embedder != space.embedder.fingerprint:
        session.note(f"{space.name}: embedder changed: re-embedding everything with {embedder!r}")
    elif last.store not in ("", hide_passwords(space.store.fingerprint)):
        session.note(f"{space.name}: store changed: copying all chunks from the index to {store!r}")


def _summary(report: IndexReport) -> str:
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
    if report.pending:
        said += f", {report.pending} of them without a vector yet"
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
            "pending": report.pending,
        },
        "warnings": list(report.warnings),
        "unread": [
            {"ending": one.ending, "files": one.files, "advice": one.advice}
            for one in report.unread
        ],
        "seconds": round(report.seconds, 3),
        "generation": report.generation,
    }

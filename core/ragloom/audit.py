"""The audit log: one JSON line for every retrieval and index run, written by any number of processes.

It is a plugin like any other, the entry point ``audit``. Settings, under ``audit`` in ``ragloom.yaml``::

    audit: {enabled: true, path: .ragloom/audit.jsonl, max_bytes: 10000000, keep: 4, queries: full}

A line is an object with ``time`` (ISO 8601, UTC), ``operation``, ``space``, ``generation`` and
``milliseconds``. A ``search`` or ``context`` has ``query`` or ``query_sha256``, ``hits`` (each with
``path``, ``start_line``, ``end_line``, ``score``, ``relevance``), ``sources`` (passages shown, null for a
search), ``tokens`` (of the context, null for a search), ``reason`` (why nothing was found) and ``provider``
(null where it is not known). An ``index``, ``repair`` or ``verify`` has ``report``, its figures by name; an
index run that changed nothing is no line. Keys are added, never renamed. It holds no text of any file.

A log that cannot be written is one warning, and never stops a retrieval or a run.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

from ragloom.config.options import user_path
from ragloom.hookspecs import hookimpl
from ragloom.protocols import WorkspaceView
from ragloom.reports import IndexFinished, SearchFinished
from ragloom.types import Json

_LOG = logging.getLogger("ragloom")

_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)  # the last on Windows

_OF_A_HIT = ("path", "start_line", "end_line", "score", "relevance")

_WAIT = 0.05
"""Seconds to wait for another writer, which holds the lock for microseconds unless it was stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSettings:
    """How retrievals and index runs are written down.

    Attributes:
        enabled: Whether they are.
        path: The file, relative to the workspace.
        max_bytes: A file that would grow beyond this becomes ``audit.jsonl.1``, and so on.
        keep: How many such older files are kept.
        queries: ``full`` writes the query, ``hash`` its SHA-256, ``none`` neither. A short query can be
            guessed from its hash by trying.
    """

    enabled: bool = True
    path: str = ".ragloom/audit.jsonl"
    max_bytes: int = 10_000_000
    keep: int = 4
    queries: Literal["full", "hash", "none"] = "full"

    def __post_init__(self) -> None:
        """Refuse numbers that keep nothing, and a path that leads nowhere."""
        if self.max_bytes < 1:
            raise ValueError(f"max_bytes must be at least 1, not {self.max_bytes}")
        if self.keep < 0:
            raise ValueError(f"keep must be at least 0, not {self.keep}")
        try:
            user_path(self.path)
        except ValueError as error:
            raise ValueError(f"path must be {error}, not {self.path!r}") from error


@hookimpl
def ragloom_settings() -> Mapping[str, type]:
    """Declare the section ``audit``."""
    return {"audit": AuditSettings}


@hookimpl
def ragloom_search_finished(workspace: WorkspaceView, event: SearchFinished) -> None:
    """Write down a search or a context."""
    log_of(workspace).record(event)


@hookimpl
def ragloom_index_finished(workspace: WorkspaceView, event: IndexFinished) -> None:
    """Write down a repair, a verification, or an index run that changed something."""
    if event.changed or event.operation == "verify":
        log_of(workspace).record(event)


def log_of(workspace: WorkspaceView) -> AuditLog:
    """The log of a workspace; the same object while its settings are the same."""
    return _log(workspace.section("audit", AuditSettings), workspace.root)


class AuditLog:
    """Writes the log of the workspace ``root``."""

    def __init__(self, settings: AuditSettings, root: Path) -> None:
        self.settings = settings
        self.path: Path = root / user_path(settings.path)
        self._warned = False

    def record(self, event: SearchFinished | IndexFinished) -> None:
        """Append a line, if the log is enabled; under a millisecond, and never an error."""
        if not self.settings.enabled:
            return
        line: dict[str, object] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "operation": event.operation,
            "space": event.space,
            "generation": event.generation,
            "milliseconds": round(event.seconds * 1000, 3),
        }
        if isinstance(event, IndexFinished):
            line["report"] = dict(event.report)
        else:
            from ragloom.context.citations import hit_json  # a plugin's import is light

            line |= {
                **self._query(event.query),
                "hits": [hit_json(hit, *_OF_A_HIT) for hit in event.hits],
                "sources": event.sources,
                "tokens": event.tokens,
                "reason": event.reason,
                "provider": event.provider,
            }
        import json

        try:
            self._append(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            if not self._warned:
                self._warned = True
                _LOG.warning("the audit log cannot be written: %s", error)

    def _query(self, query: str) -> dict[str, Json]:
        if self.settings.queries == "hash":
            from hashlib import sha256

            return {"query_sha256": sha256(query.encode("utf-8", "surrogatepass")).hexdigest()}
        return {"query": query} if self.settings.queries == "full" else {}

    def _append(self, line: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _alone(self.path.with_name(f"{self.path.name}.lock")) as alone:
            # Without the lock another process may be rotating: a line is appended, nothing is moved.
            if alone and _size(self.path) + len(line) > self.settings.max_bytes:
                self._rotate()
            descriptor = os.open(self.path, _APPEND, 0o600)
            try:
                if os.lseek(descriptor, 0, os.SEEK_END):
                    os.lseek(descriptor, -1, os.SEEK_END)
                    if os.read(descriptor, 1) != b"\n":  # a full disk, or a writer that was killed
                        line = b"\n" + line
                os.write(
                    descriptor, line
                )  # one call: O_APPEND keeps lines of several writers whole
            finally:
                os.close(descriptor)

    def _rotate(self) -> None:
        """Move ``audit.jsonl`` to ``.1``, ``.1`` to ``.2``, and so on; the oldest goes."""
        if not _size(self.path):
            return  # one line longer than the limit
        keep = self.settings.keep
        older = [self.path, *(Path(f"{self.path}.{number}") for number in range(1, keep + 1))]
        older[-1].unlink(missing_ok=True)
        for newer, old in reversed(list(pairwise(older))):
            with suppress(FileNotFoundError):
                newer.replace(old)


_log = lru_cache(maxsize=16)(AuditLog)


def read_log(path: Path) -> Iterator[Mapping[str, Json]]:
    """The lines of a log and of its older files, oldest first; torn lines are skipped."""
    from ragloom.text.parsing import parse_json

    endings = (file.suffix[1:] for file in path.parent.glob(f"{path.name}.*"))
    older = sorted((int(ending) for ending in endings if ending.isdecimal()), reverse=True)
    for file in [*(Path(f"{path}.{number}") for number in older), path]:
        try:
            lines = file.read_bytes().splitlines()
        except FileNotFoundError:
            continue
        for line in lines:
            with suppress(ValueError):
                record = parse_json(line)
                if isinstance(record, Mapping):
                    yield record


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Try to hold a lock on ``path``, and say whether it is held; no retrieval waits long for a log."""
    try:
        import fcntl
    except ImportError:  # Windows
        from filelock import FileLock, Timeout

        lock = FileLock(path)
        with suppress(Timeout):
            lock.acquire(timeout=_WAIT, poll_interval=_WAIT / 10)
        try:
            yield lock.is_locked
        finally:
            lock.release()
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    held = False
    until = time.monotonic() + _WAIT
    try:
        while not held and time.monotonic() < until:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held = True
            except BlockingIOError:
                time.sleep(_WAIT / 50)
        yield held
    finally:
        os.close(descriptor)  # which lets the lock go

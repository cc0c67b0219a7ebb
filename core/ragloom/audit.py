"""The audit log: one JSON line for every retrieval and index run, written by any number of processes.

It is a plugin like any other, the entry point ``audit``. Settings, under ``audit`` in ``ragloom.yaml``::

    audit: {enabled: true, path: .ragloom/audit.jsonl, max_bytes: 10000000, keep: 4, queries: full}

A line is an object with ``time`` (ISO 8601, UTC), ``operation``, ``space``, ``generation`` and
``milliseconds``. A ``search`` or ``context`` has ``query`` or ``query_sha256``, ``hits`` (each with
``path``, ``start_line``, ``end_line``, ``score``, ``relevance``), ``sources`` (passages shown, null for a
search), ``tokens`` (of the context, null for a search), ``reason`` (why nothing was found) and ``provider``
(null where it is not known). An ``index``, ``repair`` or ``verify`` has ``report``, its figures by name; an
index run that changed nothing is no line. Tokens and passwords in a query are ``***``. Keys are
added, never renamed. It holds no text of any file.

A log that cannot be written is one warning, and never stops a retrieval or a run. A file that
another program wrote, and a link, are neither written to nor rotated.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal

from ragloom.config.options import user_path
from ragloom.hookspecs import hookimpl
from ragloom.protocols import WorkspaceView
from ragloom.reports import IndexFinished, SearchFinished
from ragloom.types import Json

_LOG = logging.getLogger("ragloom")

_BEGINS = b'{"time":"'  # every line

_OF_A_HIT = ("path", "start_line", "end_line", "score", "relevance")


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
    path: str = field(default=".ragloom/audit.jsonl", metadata={"names": "output"})
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
        from ragloom.stores.log_file import LogFile  # a plugin's import is light

        self.settings = settings
        self.path: Path = root / user_path(settings.path)
        self._file = LogFile(
            self.path,
            root=root,
            begins=_BEGINS,
            max_bytes=settings.max_bytes,
            keep=settings.keep,
        )
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
            from ragloom.secrets.redaction import hide

            line |= {
                **self._query(event.query),
                "hits": [hit_json(hit, *_OF_A_HIT) for hit in event.hits],
                "sources": event.sources,
                "tokens": event.tokens,
                "reason": event.reason and hide(event.reason),
                "provider": event.provider,
            }
        import json

        try:
            self._file.append(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            if not self._warned:
                self._warned = True
                _LOG.warning("the audit log cannot be written: %s", error)

    def _query(self, query: str) -> dict[str, Json]:
        from ragloom.secrets.redaction import hide

        if self.settings.queries == "hash":
            from hashlib import sha256

            return {"query_sha256": sha256(query.encode("utf-8", "surrogatepass")).hexdigest()}
        return {"query": hide(query)} if self.settings.queries == "full" else {}


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

"""What a run or a search did, for callers and for hooks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ragloom.types import Hit, Lines

_COUNTED = ("added", "updated", "removed", "unchanged", "failed", "chunks", "embedded", "reused")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFile:
    """A file that could not be indexed, and why; its old chunks stay."""

    path: str
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadEnding:
    """Files of a space that no loader reads.

    Attributes:
        ending: Of their names, in lower case and with the dot; empty for none.
        files: How many there are.
        advice: How to have them read; empty where no loader is known.
    """

    ending: str
    files: int
    advice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """What an index run did.

    Attributes:
        space: The index.
        added: Files indexed for the first time.
        updated: Files whose content had changed.
        unchanged: Files that needed nothing.
        removed: Files that are gone, or that are no longer wanted.
        failed: Files that could not be indexed.
        warnings: What was odd, a line each, beginning with the path.
        unread: Files that no loader reads, by ending; pictures, archives and the like only where nothing
            else is in the space.
        chunks: Chunks in the index now.
        embedded: Chunks embedded in this run.
        reused: Chunks of this run's files whose embedding was already known.
        removed_chunks: Chunks that left the index.
        pending: Chunks in the index that have no vector yet, and are found by their words.
        truncated: Chunks of which the model saw only the beginning.
        seconds: How long it took.
        generation: The snapshot that is now current, 0 for none.
    """

    space: str
    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: int = 0
    removed: tuple[str, ...] = ()
    failed: tuple[FailedFile, ...] = ()
    warnings: tuple[str, ...] = ()
    unread: tuple[UnreadEnding, ...] = ()
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    removed_chunks: int = 0
    pending: int = 0
    truncated: int = 0
    seconds: float = 0.0
    generation: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many files and chunks each figure of the audit log is about."""
        values = {name: getattr(self, name) for name in _COUNTED}
        return {name: n if isinstance(n, int) else len(n) for name, n in values.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleChunk:
    """A chunk that is no longer what its file says.

    Attributes:
        path: The file.
        lines: Where the chunk stood when it was indexed.
        why: What differs.
    """

    path: str
    lines: Lines
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """How many chunks are, letter for letter, what their files say.

    Attributes:
        chunks: In the index.
        exact: Proven.
        stale: The others.
    """

    chunks: int
    exact: int
    stale: tuple[StaleChunk, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many chunks each figure of the audit log is about."""
        return {"chunks": self.chunks, "exact": self.exact, "stale": len(self.stale)}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFinished:
    """An index run, a repair or a verification that came to its end.

    Attributes:
        operation: Which of them.
        space: The index.
        generation: The snapshot that is current now.
        changed: Whether the run changed the index; a search refreshes it first, mostly for nothing.
        seconds: How long it took.
        report: Its figures by name: files ``added``, ``updated``, ``removed``, ``unchanged`` and
            ``failed``, ``chunks`` in the index, those ``embedded`` and ``reused``; of a verification,
            ``exact`` and ``stale`` chunks.
    """

    operation: Literal["index", "repair", "verify"]
    space: str
    generation: int
    changed: bool
    seconds: float
    report: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFinished:
    """A search, or a context that was packed.

    Attributes:
        operation: Which of them.
        query: In words.
        space: The index that answered.
        generation: Its snapshot.
        hits: What was found.
        seconds: How long it took.
        reason: Why nothing was found.
        sources: Passages of the context.
        tokens: Tokens of the context.
        provider: Who is shown the context, such as ``anthropic``; None where it is not known.
        top_k: Maximum number of hits, of the query or of the settings.
    """

    operation: Literal["search", "context"]
    query: str
    space: str
    generation: int
    hits: tuple[Hit, ...]
    seconds: float
    reason: str = ""
    sources: int | None = None
    tokens: int | None = None
    provider: str | None = None
    top_k: int | None = None

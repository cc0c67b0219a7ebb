"""What a chunk says, as one line."""

from __future__ import annotations

from ragloom.snapshot import Snapshot


def running_text(snapshot: Snapshot, row: int) -> str:
    """The text of a chunk and its context, in lower case, with one blank between two words."""
    chunk = snapshot.chunk(row)
    return " ".join(f"{chunk.context} {chunk.text}".casefold().split())

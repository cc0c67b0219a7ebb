"""What an index run would find changed, without running it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragloom.errors import NotIndexedError
from ragloom.snapshot.manifest import unchanged
from ragloom.sources.discovery import lies_below
from ragloom.sources.loading import content_hash

if TYPE_CHECKING:
    from ragloom.workspace import Space

__all__ = ["Drift", "drift"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Files that differ from what is indexed.

    Attributes:
        added: Not indexed yet.
        changed: With another content.
        removed: Indexed, and gone.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0

    @property
    def any(self) -> bool:
        """Whether the index is behind."""
        return bool(self.added or self.changed or self.removed)


def drift(space: Space) -> Drift:
    """Walk the files of a space; only what may have changed is read.

    Raises:
        SourceError: A source does not exist.
    """
    try:
        known = space.snapshot().files
    except NotIndexedError:
        known = {}
    added = changed = 0
    seen: set[str] = set()
    for found in space.walk():
        if found.status is None:
            if not found.left_out:
                seen.add(found.source.uri)
            continue
        uri = found.source.uri
        seen.add(uri)
        entry = known.get(uri)
        if entry is None:
            added += 1
        elif not unchanged(entry, found.status):
            try:
                changed += content_hash(found.source.path.read_bytes()) != entry.content_hash
            except OSError:
                continue
    removed = sum(not lies_below(uri, seen) for uri in known.keys() - seen)
    return Drift(added=added, changed=changed, removed=removed)

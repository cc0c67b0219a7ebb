"""What is in an index, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ragloom.config.settings import SpaceSettings
from ragloom.snapshot import Snapshot
from ragloom.snapshot.manifest import FileEntry, unchanged
from ragloom.sources.discovery import Found
from ragloom.sources.loading import content_hash
from ragloom.sources.roots import lies_below


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


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceStatus:
    """What is in an index.

    Attributes:
        name: The space.
        settings: How the space is made.
        generation: The snapshot that answers, 0 for none.
        files: Files indexed.
        chunks: Chunks indexed.
        bytes: Disk space of the space's folder.
        created: When the snapshot was made, in seconds since 1970; 0 for none.
        drift: What an index run would find changed; None where nobody looked.
    """

    name: str
    settings: SpaceSettings
    generation: int = 0
    files: int = 0
    chunks: int = 0
    bytes: int = 0
    created: float = 0.0
    drift: Drift | None = None


def status_of(
    name: str,
    settings: SpaceSettings,
    directory: Path,
    snapshot: Snapshot | None,
    found: Iterable[Found] | None,
) -> SpaceStatus:
    """The status of a space whose folder is ``directory``; ``found`` are its files as they are now."""
    known = {} if snapshot is None else snapshot.files
    drift = None if found is None else _drift(found, known)
    status = SpaceStatus(name=name, settings=settings, drift=drift)
    if snapshot is None:
        return status
    return replace(
        status,
        generation=snapshot.meta.generation,
        files=len(snapshot.files),
        chunks=len(snapshot),
        bytes=sum(entry.stat().st_size for entry in directory.rglob("*") if entry.is_file()),
        created=snapshot.meta.created,
    )


def _drift(walk: Iterable[Found], known: Mapping[str, FileEntry]) -> Drift:
    """Only what may have changed is read."""
    added = changed = 0
    seen: set[str] = set()
    for found in walk:
        uri = found.uri
        if found.skipped:
            continue
        seen.add(uri)
        if found.status is None:
            continue
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

"""What is known of every indexed file, and how a change is noticed without reading it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from ragloom.stores.atomic import replace_file
from ragloom.text.parsing import parse_json
from ragloom.types import Metadata

SEEN_NAME = "seen.json"

_RACY_NS = 2_000_000_000
# A file changed this shortly before it was read may change again without its times moving: they tick
# no finer than the kernel's clock, or the file system's (2 s on FAT). Git calls such entries racy.


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The times and size of a file when it was read.

    ``changed_ns`` is the inode's change time, which no program can set: a file rewritten with the
    same size and the same modification time is noticed. It is 0 where it may not be trusted.
    """

    size: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """A file of the index."""

    uri: str
    fingerprint: Fingerprint
    content_hash: str
    parts: str
    chunks: int
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def modified(self) -> float:
        """When the file was last changed, in seconds since 1970."""
        return self.fingerprint.modified_ns / 1e9


def fingerprint(status: os.stat_result) -> Fingerprint:
    """The fingerprint to keep; one that never matches where the file may still be changing."""
    trusted = os.name != "nt" and time.time_ns() - status.st_ctime_ns > _RACY_NS
    return Fingerprint(status.st_size, status.st_mtime_ns, status.st_ctime_ns if trusted else 0)


def unchanged(entry: FileEntry, status: os.stat_result) -> bool:
    """Whether the file is surely what it was; False asks for its content to be compared."""
    known = entry.fingerprint
    return known.changed_ns != 0 and known == Fingerprint(
        status.st_size, status.st_mtime_ns, status.st_ctime_ns
    )


def write_files(path: Path, files: Iterable[FileEntry]) -> None:
    """Write the manifest as one JSON array."""
    path.write_text(
        json.dumps([asdict(entry) for entry in files], ensure_ascii=False, separators=(",", ":")),
        encoding="utf-8",
    )


def write_seen(path: Path, files: Iterable[FileEntry]) -> None:
    """Write, beside a manifest that is never changed, the fingerprints of files that were read again.

    Their content was the same, so that the next run need not read them: they were written just before they
    were first read, or only their times moved.
    """
    seen = {entry.uri: astuple(entry.fingerprint) for entry in files}
    replace_file(path, json.dumps(seen, ensure_ascii=False, separators=(",", ":")))


def read_files(content: bytes, seen: bytes = b"") -> Mapping[str, FileEntry]:
    """The manifest by uri, in the order it was written in, with the fingerprints of :func:`write_seen`."""
    files = {
        entry["uri"]: FileEntry(
            uri=entry["uri"],
            fingerprint=Fingerprint(**entry["fingerprint"]),
            content_hash=entry["content_hash"],
            parts=entry["parts"],
            chunks=entry["chunks"],
            metadata=entry["metadata"],
            warnings=tuple(entry["warnings"]),
        )
        for entry in json.loads(content)
    }
    with suppress(ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        # Damaged, it matches no file, and the files are read once more.
        later = {
            uri: Fingerprint(*map(int, known))
            for uri, known in cast("dict[str, Any]", parse_json(seen)).items()
        }
        files |= {uri: replace(files[uri], fingerprint=known) for uri, known in later.items()}
    return files

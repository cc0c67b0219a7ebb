"""What is known of every indexed file, and how a change is noticed without reading it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, dataclass, field, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

from ragloom.snapshot.meta import damaged
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
    """A file of the index; without a fingerprint and a hash, the next run compares what it reads."""

    uri: str
    fingerprint: Fingerprint = Fingerprint(0, 0, 0)
    content_hash: str = ""
    parts: str = ""
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
    return (
        known.changed_ns == status.st_ctime_ns != 0
        and known.modified_ns == status.st_mtime_ns
        and known.size == status.st_size
    )


def write_files(path: Path, files: Mapping[str, FileEntry]) -> Mapping[str, FileEntry]:
    """Write the manifest as one JSON array, in the order of the uris; it is returned in that order."""
    ordered = dict(sorted(files.items()))
    raw = [
        _fields(entry) | {"fingerprint": _fields(entry.fingerprint)} for entry in ordered.values()
    ]
    path.write_text(json.dumps(raw, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    return ordered


def _fields(one: FileEntry | Fingerprint) -> dict[str, Any]:
    """The fields by name; ``asdict`` would copy what is in them, and take twenty times as long."""
    return dict(zip(one.__slots__, _VALUES[type(one)](one), strict=True))


_VALUES = {kind: attrgetter(*kind.__slots__) for kind in (FileEntry, Fingerprint)}


def write_seen(path: Path, files: Iterable[FileEntry]) -> None:
    """Write, beside a manifest that is never changed, the fingerprints of files that were read again.

    Their content was the same, so that the next run need not read them: they were written just before they
    were first read, or only their times moved.
    """
    seen = {entry.uri: astuple(entry.fingerprint) for entry in files}
    replace_file(path, json.dumps(seen, ensure_ascii=False, separators=(",", ":")))


def seen_since(entry: FileEntry, files: Mapping[str, FileEntry]) -> bool:
    """Whether a file's fingerprint is of a later reading than the manifest's, and can be trusted."""
    seen = entry.fingerprint
    return seen.changed_ns != 0 and seen != files[entry.uri].fingerprint


class Manifest(Mapping[str, FileEntry]):
    """The manifest by uri, in the order it was written in, with the fingerprints of :func:`write_seen`.

    Entries are made when they are asked for: a search needs those of a few files.

    Args:
        content: What :func:`write_files` wrote.
        seen: What :func:`write_seen` did.
        place: The generation, for errors.

    Raises:
        ValueError, TypeError, LookupError: It is damaged; StoreDamagedError where only an entry is.
    """

    def __init__(self, content: bytes, seen: bytes = b"", *, place: Path) -> None:
        self._place = place
        self._raw: dict[str, dict[str, Any]] = {one["uri"]: one for one in json.loads(content)}
        self._made: dict[str, FileEntry] = {}
        later: dict[str, Fingerprint] = {}
        with suppress(ValueError, TypeError, AttributeError, ArithmeticError):
            # Damaged, it matches no file, and the files are read once more.
            known = cast("dict[str, Any]", parse_json(seen)) if seen else {}
            later = {uri: Fingerprint(*map(int, one)) for uri, one in known.items()}
        for uri in later.keys() & self._raw.keys():
            self._made[uri] = replace(self[uri], fingerprint=later[uri])

    def __getitem__(self, uri: str) -> FileEntry:
        """The entry of a file."""
        entry = self._made.get(uri)
        if entry is None:
            entry = self._made[uri] = self._read(self._raw[uri])
        return entry

    def _read(self, raw: dict[str, Any]) -> FileEntry:
        try:
            seen = raw["fingerprint"]
            return FileEntry(
                uri=raw["uri"],
                fingerprint=Fingerprint(seen["size"], seen["modified_ns"], seen["changed_ns"]),
                content_hash=raw["content_hash"],
                parts=raw["parts"],
                chunks=raw["chunks"],
                metadata=raw["metadata"],
                warnings=tuple(raw["warnings"]),
            )
        except (ValueError, TypeError, LookupError) as error:
            raise damaged(self._place, error) from error

    def __iter__(self) -> Iterator[str]:
        """The uris."""
        return iter(self._raw)

    def __len__(self) -> int:
        """Files."""
        return len(self._raw)

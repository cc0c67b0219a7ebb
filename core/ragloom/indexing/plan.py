"""The first step of an index run: which files are new, changed and gone; nothing is loaded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from ragloom.components import Components
from ragloom.reports import FailedFile, UnreadEnding
from ragloom.secrets.redaction import fingerprint as redaction
from ragloom.snapshot.manifest import FileEntry, Fingerprint, fingerprint, unchanged
from ragloom.sources.discovery import Found
from ragloom.sources.loading import chunker_for, content_hash, loader_for
from ragloom.sources.roots import lies_below
from ragloom.sources.screening import ending_of
from ragloom.sources.unread import UnreadFiles
from ragloom.text.decoding import read_regular
from ragloom.text.embedded_data import FINGERPRINT as EMBEDDED_DATA
from ragloom.types import Source

_BATCH_BYTES = 6 << 20
_BATCH_FILES = 2000
_SMALL_BATCH_BYTES = 1 << 20  # half a second of reading, beside which a batch costs little
_BATCHES = 8  # where they are larger than the smallest and smaller than the largest
_SMALL_SPREAD_BYTES = 1 << 16  # a second or so of embedding
_SPREAD = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFile:
    """A file to be read.

    Attributes:
        source: The file.
        fingerprint: As it is now.
        parts: Names the components that read it; a change of any of them makes the file one to be read.
    """

    source: Source
    fingerprint: Fingerprint
    parts: str

    @property
    def uri(self) -> str:
        """Its name in the index."""
        return self.source.uri


@dataclass(slots=True, kw_only=True)
class Plan:
    """What differs from the last generation.

    Attributes:
        kept: The entries of files that stay as they are, by uri.
        read: Files that are new or changed.
        removed: The uris of those that are gone.
        failed: Those that cannot be read, and why.
        warnings: What is odd, a line each.
        unread: Files that no loader reads, by ending.
        unchanged: How many of ``kept`` were found to be what they were.
    """

    kept: dict[str, FileEntry] = field(default_factory=dict)
    read: list[PlannedFile] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    failed: list[FailedFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unread: tuple[UnreadEnding, ...] = ()
    unchanged: int = 0

    @property
    def size(self) -> int:
        """The bytes of the files to be read."""
        return sum(file.fingerprint.size for file in self.read)

    def batches(self, *, spread: bool = False) -> Iterator[Sequence[PlannedFile]]:
        """The files to be read, in batches that bound the memory and are the same for the same files.

        Args:
            spread: Make smaller ones where that gives more processes something to do.
        """
        small, number = _SMALL_BATCH_BYTES, _BATCHES
        if spread:
            small, number = _SMALL_SPREAD_BYTES, _SPREAD
        most = min(max(small, self.size // number), _BATCH_BYTES)
        batch: list[PlannedFile] = []
        size = 0
        for file in self.read:
            if batch and (size + file.fingerprint.size > most or len(batch) == _BATCH_FILES):
                yield batch
                batch, size = [], 0
            batch.append(file)
            size += file.fingerprint.size
        if batch:
            yield batch

    def fail(self, uri: str, error: str, entry: FileEntry | None) -> None:
        """Name a file that fails; what was indexed of it before keeps answering."""
        self.failed.append(FailedFile(path=uri, error=error))
        if entry is not None:
            self.kept[uri] = entry


class PartsOf:
    """Names all components, beside its content, that a file's chunks and vectors depend on."""

    def __init__(self, components: Components) -> None:
        self._components = components
        self._known: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        """Of a file; raises SourceError where no loader reads it."""
        ending = ending_of(path)
        if ending not in self._known:
            components = self._components
            loader = loader_for(path, components.loaders)
            chunker = chunker_for(path, components.chunkers)
            made_by = (
                *(loader.fingerprint, chunker.fingerprint, components.embedder.fingerprint),
                redaction(),
                EMBEDDED_DATA,
            )
            self._known[ending] = blake2b("\0".join(made_by).encode(), digest_size=8).hexdigest()
        return self._known[ending]


def plan(components: Components, known: Mapping[str, FileEntry], *, full: bool) -> Plan:
    """What differs from a manifest.

    Args:
        components: What the index is made with, and its files.
        known: The manifest.
        full: Read every file again, changed or not.
    """
    return _Planner(components, full=full).plan(known)


class _Planner:
    def __init__(self, components: Components, *, full: bool) -> None:
        self._components = components
        self._full = full
        self._parts_of = PartsOf(components)

    def plan(self, known: Mapping[str, FileEntry]) -> Plan:
        found = Plan()
        seen: set[str] = set()
        unread = UnreadFiles()
        for item in self._components.walk(self._components.within, unread):
            uri = item.uri
            if item.skipped:
                found.warnings.append(f"{uri}: {item.skipped}")
                continue
            seen.add(uri)
            self._look_at(found, item, known.get(uri))
        self._compare(found, known, seen)
        found.unread = self._components.unread(unread if seen else None)
        return found

    def _look_at(self, found: Plan, item: Found, entry: FileEntry | None) -> None:
        uri = item.uri
        if item.status is None:
            found.fail(uri, item.problem, entry)
            return
        parts = self._parts_of(uri)
        if entry is not None and entry.parts == parts and not self._full:
            if unchanged(entry, item.status):
                self._keep(found, entry)
                return
            now = fingerprint(item.status)
            try:
                digest = content_hash(read_regular(Path(item.path)))
            except OSError as error:
                found.fail(uri, f"cannot be read: {error.strerror or error}", entry)
                return
            if digest == entry.content_hash:
                self._keep(found, replace(entry, fingerprint=now))
                return
        now = fingerprint(item.status)
        found.read.append(PlannedFile(source=item.source, fingerprint=now, parts=parts))

    def _compare(self, found: Plan, known: Mapping[str, FileEntry], seen: Collection[str]) -> None:
        """Tell what is gone from what only was not found this time."""
        loaders = self._components.loaders
        within = self._components.within
        for uri in known:
            if uri in seen:
                continue
            entry = known[uri]
            if within and uri not in within and not lies_below(uri, within):
                found.kept[uri] = entry  # not walked: it stays as it is
                found.unchanged += 1
            elif lies_below(uri, seen):
                found.fail(uri, "a folder above it cannot be listed", entry)
            elif ending_of(uri) in loaders or (
                "" in loaders and entry.parts == self._parts_of(uri)  # any text, once named
            ):
                found.removed.append(uri)
            else:  # a plugin that is missing today must not empty the index
                found.fail(uri, "no loader reads this ending any more", entry)

    @staticmethod
    def _keep(found: Plan, entry: FileEntry) -> None:
        found.kept[entry.uri] = entry
        found.unchanged += 1
        if entry.warnings:
            found.warnings.extend(f"{entry.uri}: {warning}" for warning in entry.warnings)

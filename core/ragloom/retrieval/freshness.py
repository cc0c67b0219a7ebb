"""Check hits against the files on disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from ragloom.errors import MissingDependencyError, SourceError
from ragloom.protocols import Loader
from ragloom.secrets.redaction import redact
from ragloom.snapshot.manifest import FileEntry, unchanged
from ragloom.sources.loading import content_hash, load_document, loader_for
from ragloom.text.chunks import make_chunks
from ragloom.text.decoding import decode, read_regular
from ragloom.types import Hit, Piece, Source, Span

_READ_WHOLE = 1 << 23  # bytes of a file that is read for the blanks between two of its passages


def follow(
    hit: Hit, path: Path, entry: FileEntry, loaders: Callable[[], Mapping[str, Loader]]
) -> Hit | None:
    """The hit as its file ``path`` stands now; None where the file is gone or no longer says it.

    ``entry`` is what was indexed of the file; ``loaders`` are made only where it has changed.
    """
    chunk = hit.chunk
    try:
        if unchanged(entry, path.stat()):
            return hit
        content = read_indexed(path)
        if content_hash(content) == entry.content_hash:
            return hit
        loader = loader_for(path, loaders())
        document = load_document(Source(uri=chunk.uri, path=path), content, loader)
    except (OSError, SourceError):
        return None
    place = document.text.find(chunk.text)
    if place < 0 or document.text.find(chunk.text, place + 1) >= 0:
        return None
    piece = Piece(span=Span(place, place + len(chunk.text)), headings=chunk.headings)
    (moved,) = make_chunks(document, [piece])
    now = replace(chunk, span=moved.span, lines=moved.lines, bytes=moved.bytes)
    return replace(hit, chunk=now)


def follow_remote(hit: Hit, path: Path, loaders: Callable[[], Mapping[str, Loader]]) -> Hit | None:
    """A hit from a store that answers alone, as its file stands now if it is here, or as it was indexed."""
    if not os.path.lexists(path):
        return hit
    entry = FileEntry(uri=hit.chunk.uri, content_hash=hit.content_hash, chunks=0)
    return follow(hit, path, entry, loaders)


def read_indexed(path: Path) -> bytes:
    """An indexed file as it is now; a link that has taken its place may lead anywhere, and is not followed.

    Raises:
        OSError: It cannot be read.
    """
    if os.path.realpath(path) != os.path.normpath(path):
        raise OSError(errno.ELOOP, "a link has taken its place")
    return read_regular(path)


def text_of(path: Path) -> str | None:
    """The decoded text of a file without secrets; None where it has none, or is too large to be read."""
    try:
        if path.stat().st_size > _READ_WHOLE:
            return None
        return redact(decode(read_indexed(path)).text)
    except (OSError, SourceError, MissingDependencyError):
        return None

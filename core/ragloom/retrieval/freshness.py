"""Holding what was found against the disk: is it still there, and where?"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ragloom.errors import MissingDependencyError, SourceError
from ragloom.indexing.store_sync import Progress
from ragloom.protocols import Loader
from ragloom.retrieval.verify import verify_chunks
from ragloom.snapshot import Snapshot
from ragloom.snapshot.manifest import FileEntry, unchanged
from ragloom.sources.discovery import read_regular
from ragloom.sources.loading import content_hash, load_document, loader_for
from ragloom.text.chunks import make_chunks
from ragloom.text.decoding import decode
from ragloom.types import Chunk, Hit, Piece, SearchResult, Source, Span, StaleChunk, VerifyReport

__all__ = ["follow", "prove", "text_of"]

_READ_WHOLE = 1 << 23  # bytes of a file that is read for the blanks between two of its passages


def follow(
    result: SearchResult,
    *,
    root: Path,
    files: Mapping[str, FileEntry],
    loaders: Mapping[str, Loader],
) -> SearchResult:
    """Follow hits whose file has changed; leave out those that it no longer holds."""
    found = [
        _followed(hit, root / hit.chunk.uri, files[hit.chunk.uri], loaders) for hit in result.hits
    ]
    hits = tuple(hit for hit in found if hit is not None)
    lost = len(result.hits) - len(hits)
    if not lost:
        return replace(result, hits=hits)
    reason = f"{lost} of {len(result.hits)} hits left out: their files have changed since"
    return replace(result, hits=hits, reason=f"{reason}; run 'ragloom index'")


class _Uncounted:
    """Stands in where a chunk's tokens are known already."""

    name = "none"

    def count(self, _text: str) -> int:
        return 0

    def spans(self, _text: str) -> Sequence[tuple[int, int]]:
        return ()


def _followed(hit: Hit, path: Path, entry: FileEntry, loaders: Mapping[str, Loader]) -> Hit | None:
    """The hit as its file stands now; None when the file is gone or no longer says it."""
    chunk = hit.chunk
    try:
        if unchanged(entry, path.stat()):
            return hit
        content = _read(path)
        if content_hash(content) == entry.content_hash:
            return hit
        loader = loader_for(path, loaders)
        document = load_document(Source(uri=chunk.uri, path=path), content, loader)
    except (OSError, SourceError):
        return None
    place = document.text.find(chunk.text)
    if place < 0 or document.text.find(chunk.text, place + 1) >= 0:
        return None
    piece = Piece(span=Span(place, place + len(chunk.text)), headings=chunk.headings)
    (moved,) = make_chunks(document, [piece], _Uncounted())
    now = replace(chunk, span=moved.span, lines=moved.lines, bytes=moved.bytes)
    return replace(hit, chunk=now)


def prove(
    snapshot: Snapshot, root: Path, loaders: Mapping[str, Loader], progress: Progress | None
) -> VerifyReport:
    """Read every file of a generation again and prove each of its chunks."""
    chunks_of: dict[str, list[Chunk]] = {}
    for row in range(len(snapshot)):
        chunk = snapshot.chunk(row)
        chunks_of.setdefault(chunk.uri, []).append(chunk)
    stale: list[StaleChunk] = []
    for number, (uri, chunks) in enumerate(chunks_of.items(), 1):
        for chunk, why in zip(chunks, _proof(uri, root / uri, chunks, loaders), strict=True):
            if why is not None:
                stale.append(StaleChunk(path=uri, lines=chunk.lines, why=why))
        if progress:
            progress("files", number, len(chunks_of))
    exact = len(snapshot) - len(stale)
    return VerifyReport(chunks=len(snapshot), exact=exact, stale=tuple(stale))


def _proof(
    uri: str, path: Path, chunks: Sequence[Chunk], loaders: Mapping[str, Loader]
) -> Sequence[str | None]:
    """For each chunk of a file, why it is not what the file says now; None where it is."""
    try:
        loader = loader_for(path, loaders)
        document = load_document(Source(uri=uri, path=path), _read(path), loader)
    except FileNotFoundError:
        return ["the file is gone"] * len(chunks)
    except (OSError, SourceError) as error:
        return [f"the file cannot be read: {error}"] * len(chunks)
    return verify_chunks(chunks, document)


def _read(path: Path) -> bytes:
    """An indexed file as it is now; a link that has taken its place may lead anywhere, and is not followed.

    Raises:
        OSError: It cannot be read.
    """
    if os.path.realpath(path) != os.path.normpath(path):
        raise OSError(errno.ELOOP, "a link has taken its place")
    return read_regular(path)


def text_of(path: Path) -> str | None:
    """The decoded text of a file; None where it has none, or is too large to be read for it."""
    try:
        if path.stat().st_size > _READ_WHOLE:
            return None
        return decode(_read(path)).text
    except (OSError, SourceError, MissingDependencyError):
        return None

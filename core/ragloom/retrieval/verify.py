"""Prove that chunks are what their files say."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ragloom.errors import RagloomError, SourceError
from ragloom.protocols import Loader
from ragloom.reports import StaleChunk, VerifyReport
from ragloom.retrieval.freshness import read_indexed
from ragloom.secrets.redaction import redact
from ragloom.snapshot import Snapshot
from ragloom.sources.loading import load_document, loader_for
from ragloom.text.chunks import byte_offsets, line_starts
from ragloom.text.decoding import decode
from ragloom.types import Chunk, Document, Lines, Progress, Source, Span


def verify_chunks(chunks: Iterable[Chunk], file: Document | bytes) -> list[str | None]:
    """For each chunk of one file, why it is not what the file says now, or None if it is.

    A chunk is proven when its text stands at its span of the decoded file, at its lines and at its
    bytes.

    ``file`` is what a loader makes of the file now, or its bytes where its text is not extracted.
    """
    chunks = list(chunks)
    if isinstance(file, Document):
        decoded, encoding, bom = file.prefix + file.text, file.encoding, file.bom
        if file.extracted:
            encoding, bom = "utf-8", 0
    else:
        try:
            read = decode(file)
        except RagloomError as error:
            return [f"the file cannot be read: {error}"] * len(chunks)
        decoded = redact(read.text)
        encoding, bom = (read.encoding, read.bom) if read.exact else ("utf-8", 0)
    length = len(decoded)
    edges = {edge for chunk in chunks for edge in chunk.span if 0 <= edge <= length}
    in_bytes = byte_offsets(decoded, edges, encoding)
    starts = line_starts(decoded)
    return [_why(chunk, decoded, in_bytes, starts, bom) for chunk in chunks]


def _why(
    chunk: Chunk, decoded: str, in_bytes: dict[int, int], starts: list[int], bom: int
) -> str | None:
    start, end = chunk.span
    if not 0 <= start < end:
        return f"its span {start} to {end} is empty or begins before the file"
    if end > len(decoded):
        return f"the file ends at character {len(decoded)}, before the chunk's end at {end}"
    if decoded[start:end] != chunk.text:
        place = decoded.find(chunk.text)
        where = "is gone" if place < 0 else f"is in line {bisect_right(starts, place)} now"
        return f"the file has changed: the text {where}"
    lines = Lines(bisect_right(starts, start), bisect_right(starts, end - 1))
    if lines != chunk.lines:
        return f"the text is in lines {lines.start} to {lines.end}, not {_range(chunk.lines)}"
    in_file = Span(bom + in_bytes[start], bom + in_bytes[end])
    if in_file != chunk.bytes:
        return f"the text is at bytes {in_file.start} to {in_file.end}, not {_range(chunk.bytes)}"
    return None


def _range(pair: Lines | Span) -> str:
    return f"{pair.start} to {pair.end}"


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
        document = load_document(Source(uri=uri, path=path), read_indexed(path), loader)
    except FileNotFoundError:
        return ["the file is gone"] * len(chunks)
    except (OSError, SourceError) as error:
        return [f"the file cannot be read: {error}"] * len(chunks)
    return verify_chunks(chunks, document)

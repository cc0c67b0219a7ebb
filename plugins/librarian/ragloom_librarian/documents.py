"""What the librarian hands over: the best section of each document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from ragloom import Chunk, Hit, Snapshot, SourceError
from ragloom.text import decode, read_regular, redact, without_data

SNIPPET = 500  # maximum number of characters of a section's snippet

_ATX = re.compile(r" {0,3}#{1,2}(?!#)(?:[ \t]+|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_SHOWN = 2  # titles of a section's name: the document's and its own


class RetrievedDocument(TypedDict):
    """A document that answers, by its best section. Plain JSON, as the state of a workflow wants it.

    Attributes:
        file_path: Relative to the workspace, with ``/``.
        section: The title of the document and that of the section, with ``>`` between them.
        content_snippet: The section's first 500 characters, up to the end of a word.
        score: The relevance, 0 to 1, of the best passage.
        content: The whole section, with an ellipsis in place of data such as base64.
        start_line: Of the section; 1-based and inclusive, as ``end_line``.
        end_line: Of the section.
        last_modified: When the file was last changed, as ISO 8601 in UTC.
    """

    file_path: str
    section: str
    content_snippet: str
    score: float
    content: str
    start_line: int
    end_line: int
    last_modified: str


def best_sections(
    hits: Sequence[Hit], snapshot: Snapshot, root: Path, *, limit: int
) -> list[RetrievedDocument]:
    """One document a file, made of the file's most relevant hit; best first, ties by path."""
    best: dict[str, Hit] = {}
    for hit in hits:
        known = best.get(hit.chunk.uri)
        if known is None or hit.relevance > known.relevance:
            best[hit.chunk.uri] = hit
    ordered = sorted(best.values(), key=lambda hit: (-hit.relevance, hit.chunk.uri))
    return [_document(hit, snapshot, root) for hit in ordered[:limit]]


def snippet(text: str, limit: int = SNIPPET) -> str:
    """The first ``limit`` characters of ``text``, without the word that would be split in two."""
    if len(text) <= limit:
        return text
    if text[limit].isspace():
        return text[:limit].rstrip()
    kept = re.match(r"(?s).*(?=\s)", text[:limit])
    return (kept[0].rstrip() if kept else "") or text[:limit]


def _document(hit: Hit, snapshot: Snapshot, root: Path) -> RetrievedDocument:
    chunk = hit.chunk
    first, last = _section_of(chunk, snapshot)
    text = _between(first, last, snapshot, root)
    if text is None:
        first, last, text = chunk, chunk, chunk.text
    text = without_data(text)
    modified = datetime.fromtimestamp(snapshot.files[chunk.uri].modified, UTC)
    return RetrievedDocument(
        file_path=chunk.uri,
        section=" > ".join(first.headings[:_SHOWN]),
        content_snippet=snippet(text),
        score=round(hit.relevance, 4),
        content=text,
        start_line=first.lines.start,
        end_line=last.lines.end,
        last_modified=modified.isoformat(timespec="seconds"),
    )


def _section_of(chunk: Chunk, snapshot: Snapshot) -> tuple[Chunk, Chunk]:
    """The first and the last chunk of the section that ``chunk`` belongs to."""
    number = snapshot.uris.index(chunk.uri)
    rows = (snapshot.file_of_row == number).nonzero()[0]
    chunks = sorted((snapshot.chunk(int(row)) for row in rows), key=lambda one: one.ordinal)
    at = next((at for at, one in enumerate(chunks) if one.id == chunk.id), None)
    if at is None or chunks[at].span != chunk.span:  # the file has changed since it was indexed
        return chunk, chunk
    first = last = at
    while first > 0 and not _begins_section(chunks[first]):
        first -= 1
    while last + 1 < len(chunks) and not _begins_section(chunks[last + 1]):
        last += 1
    return chunks[first], chunks[last]


def _begins_section(chunk: Chunk) -> bool:
    """Whether a chunk begins with a heading of level 1 or 2."""
    first, _, rest = chunk.text.partition("\n")
    if _ATX.match(first):
        return any(title and title in first for title in chunk.headings) or not chunk.headings
    return bool(_UNDERLINE.match(rest.partition("\n")[0].rstrip("\r"))) and (
        " ".join(first.split()) in chunk.headings
    )


def _between(first: Chunk, last: Chunk, snapshot: Snapshot, root: Path) -> str | None:
    """What the file says from one chunk to the other; None where it no longer says that."""
    if first is last:
        return first.text
    try:
        whole = redact(decode(read_regular(root / snapshot.files[first.uri].uri)).text)
    except (OSError, SourceError):
        return None
    text = whole[first.span.start : last.span.end]
    return text if text.startswith(first.text) and text.endswith(last.text) else None

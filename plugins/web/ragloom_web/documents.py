"""The view Document: a file with the borders of its chunks, and what is embedded of each."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import numpy as np

from ragloom import Chunk, ConfigError, Document, Json, Snapshot, Space
from ragloom_web.searching import metadata_values, row_of

_NEIGHBOURS = 6


def files(space: Space) -> dict[str, Json]:
    """Every file of the index, with its chunks and front matter, in the order of the map's numbers."""
    return {
        "generation": space.generation,
        "files": [
            {
                "path": uri,
                "chunks": entry.chunks,
                "metadata": cast("Json", metadata_values(entry.metadata)),
                "warnings": list(entry.warnings),
            }
            for uri, entry in space.snapshot().files.items()
        ],
    }


def document(space: Space, path: str) -> dict[str, Json]:
    """A file as its loader gives it now, split as it is indexed.

    Raises:
        ConfigError: It is not in the index.
        SourceError: It cannot be read any more.
    """
    snapshot = indexed(space, path)
    (read,) = space.chunks([space.root / path])
    loaded, chunks = read
    return {
        "path": path,
        "metadata": cast("Json", metadata_values(loaded.metadata)),
        "warnings": list(loaded.warnings),
        "changed": any(row_of(snapshot, chunk.id) is None for chunk in chunks),
        "chunks": [_chunk(snapshot, chunk) for chunk in chunks],
        "segments": _segments(loaded, chunks),
    }


def neighbours(space: Space, row: int) -> dict[str, Json]:
    """The chunks that are nearest to one, by the cosine of their embeddings.

    Raises:
        ConfigError: There is no such row, or it has no vector yet.
    """
    snapshot = space.snapshot()
    if not 0 <= row < len(snapshot):
        raise ConfigError(f"unknown chunk {row}: the index has been rebuilt since; reload the page")
    (vector,) = snapshot.vectors(np.array([row], np.intp))
    if np.isnan(vector).any():
        raise ConfigError("this chunk has no vector yet: run 'ragloom index'")
    cosines = snapshot.cosines(vector)
    snapshot.release()  # of all vectors
    cosines[row] = -2
    best = np.argsort(-np.nan_to_num(cosines, nan=-2), kind="stable")[:_NEIGHBOURS]
    return {
        "chunk": place(snapshot, row),
        "neighbours": [
            {**place(snapshot, other), "cosine": round(float(cosines[other]), 4)}
            for other in best.tolist()
            if cosines[other] > -2  # noqa: PLR2004 - itself, or without a vector
        ],
    }


def indexed(space: Space, path: str) -> Snapshot:
    """The snapshot that holds a file.

    Raises:
        ConfigError: None does.
    """
    snapshot = space.snapshot()
    if path not in snapshot.files:
        raise ConfigError(f"{path} is not in the index {space.name!r}")
    return snapshot


def place(snapshot: Snapshot, row: int) -> dict[str, Json]:
    """Where a chunk stands, and how it begins."""
    chunk = snapshot.chunk(row)
    return {
        "row": row,
        "path": chunk.uri,
        "start_line": chunk.lines.start,
        "end_line": chunk.lines.end,
        "headings": list(chunk.headings),
        "begins": " ".join(chunk.text.split())[:160],
    }


def _chunk(snapshot: Snapshot, chunk: Chunk) -> dict[str, Json]:
    row = row_of(snapshot, chunk.id)
    return {
        "row": row,
        "start_line": chunk.lines.start,
        "end_line": chunk.lines.end,
        "headings": list(chunk.headings),
        "tokens": chunk.tokens,
        "embedded": None if row is None else snapshot.embedded_text(row),
    }


def _segments(loaded: Document, chunks: list[Chunk]) -> list[Json]:
    """The text in pieces, each with its first line and the chunks that hold it: none, or several."""
    text = loaded.text
    borders = sorted({0, len(text), *(edge for chunk in chunks for edge in chunk.span)})
    found: list[Json] = []
    line, first = 1, 0
    for start, end in pairwise(borders):
        while first < len(chunks) and chunks[first].span.end <= start:
            first += 1
        held: list[Json] = []
        for number in range(first, len(chunks)):
            if chunks[number].span.start > start:
                break
            if end <= chunks[number].span.end:
                held.append(number)
        piece = text[start:end]
        found.append({"line": line, "text": piece, "chunks": held})
        line += piece.count("\n")
    return found

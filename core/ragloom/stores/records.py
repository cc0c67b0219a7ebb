"""What stores have in common: checks before writing, chunks as JSON, and exact search.

For authors of stores. A store that writes :func:`chunk_to_record` gives back what it was given, and one
that answers with :func:`search_exactly` is exact by construction.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ragloom.errors import StoreError
from ragloom.protocols import Embeddings
from ragloom.stores.filters import matches
from ragloom.types import Chunk, Condition, Json, Lines, Span

_MATRIX: Final = 2


def check_records(chunks: Sequence[Chunk], vectors: object, *, dimension: int) -> None:
    """Refuse what no store should be given.

    Args:
        chunks: What is to be written.
        vectors: Should be ``(len(chunks), dimension)`` float32 and finite.
        dimension: What the store was opened for.

    Raises:
        StoreError: A vector is missing, too many, of another type or length, or not finite; or a
            text or metadata cannot be written as UTF-8 and JSON. It names the first such chunk.
    """
    if not isinstance(vectors, np.ndarray) or vectors.dtype != np.float32:
        kind = getattr(vectors, "dtype", type(vectors).__name__)
        raise StoreError(f"vectors must be a float32 array, not {kind}: nothing was written")
    if vectors.ndim != _MATRIX or len(vectors) != len(chunks):
        raise StoreError(
            f"{len(chunks)} chunks need vectors of shape ({len(chunks)}, {dimension}), "
            f"not {vectors.shape}: nothing was written"
        )
    if len(chunks) and vectors.shape[1] != dimension:
        raise StoreError(
            f"the index holds vectors of {dimension} numbers, not {vectors.shape[1]}: nothing was "
            "written; index again after a change of the embedding model"
        )
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        chunk = chunks[int(np.argmin(finite))]
        msg = f"the vector of chunk {chunk.id} of {chunk.uri} is not finite: nothing was written"
        raise StoreError(msg)
    for chunk in chunks:
        try:
            chunk.text.encode()
            chunk.uri.encode()
            dump_json(chunk.metadata).encode()
            dump_json([*chunk.headings, chunk.context]).encode()
        except (TypeError, ValueError, RecursionError) as error:
            raise StoreError(
                f"chunk {chunk.id} of {chunk.uri!a} cannot be written as UTF-8 and JSON "
                f"({error}): nothing was written"
            ) from error


def dump_json(value: Json) -> str:
    """``value`` as JSON on one line, keys in their order, without NaN.

    Raises:
        TypeError: Something is not JSON, or a key is not a string.
        ValueError: A number is not finite.
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(value: object) -> object:
    """``value`` out of dicts and lists, whatever mappings and sequences it was made of."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a string")
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not JSON")


def chunk_to_record(chunk: Chunk) -> dict[str, Json]:
    """All of a chunk, ready for JSON; :func:`chunk_from_record` turns it back."""
    return {
        "id": chunk.id,
        "uri": chunk.uri,
        "text": chunk.text,
        "span": list(chunk.span),
        "lines": list(chunk.lines),
        "bytes": list(chunk.bytes),
        "headings": list(chunk.headings),
        "ordinal": chunk.ordinal,
        "tokens": chunk.tokens,
        "context": chunk.context,
        "metadata": dict(chunk.metadata),
        "key": chunk.key,
    }


def chunk_from_record(record: Mapping[str, Any]) -> Chunk:
    """The chunk that :func:`chunk_to_record` wrote down; keys it does not know are ignored.

    Raises:
        KeyError, TypeError, ValueError: It is not such a record.
    """
    try:
        return Chunk(
            id=str(record["id"]),
            uri=str(record["uri"]),
            text=str(record["text"]),
            span=Span(*map(int, record["span"])),
            lines=Lines(*map(int, record["lines"])),
            bytes=Span(*map(int, record["bytes"])),
            headings=tuple(str(heading) for heading in record["headings"]),
            ordinal=int(record["ordinal"]),
            tokens=int(record["tokens"]),
            context=str(record["context"]),
            metadata=dict(record["metadata"]),
            key=str(record.get("key", "")),  # which the first versions did not write
        )
    except OverflowError as error:  # JSON has infinite numbers, as Python reads it
        raise ValueError(str(error)) from error


def cosines(vectors: Embeddings, query: Embeddings) -> npt.NDArray[np.float32]:
    """The cosine of every row of ``vectors`` ``(n, d)`` with ``query`` ``(d,)``.

    The result is ``(n,)`` float32, highest for the same direction.
    A row of zeros has the cosine 0 with everything.
    """
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
    scale = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
    similar: npt.NDArray[np.float32] = np.clip((vectors @ query) * scale, -1, 1)
    return similar.astype(np.float32, copy=False)


def nearest(
    ids: Sequence[str], similar: npt.NDArray[np.float32], *, limit: int
) -> list[tuple[str, float]]:
    """The ``limit`` ids with the highest similarity ``(n,)``, best first, ties by id; none for 0."""
    if limit <= 0 or not ids:
        return []
    rows: npt.NDArray[np.intp] = np.arange(len(ids))
    if limit < len(ids):
        # Everything that ties with the last place stays in, for the ids to decide.
        edge = np.partition(similar, len(ids) - limit)[len(ids) - limit]
        rows = np.flatnonzero(similar >= edge)
    order = sorted(rows.tolist(), key=lambda row: (-float(similar[row]), ids[row]))
    return [(ids[row], float(similar[row])) for row in order[:limit]]


def search_exactly(
    batches: Iterable[tuple[Sequence[Chunk], Embeddings]],
    vector: Embeddings,
    *,
    limit: int,
    where: Sequence[Condition] = (),
) -> list[tuple[str, float]]:
    """What :meth:`ragloom.SearchableStore.search` gives, by a look at every chunk.

    Args:
        batches: As :meth:`ragloom.Store.scan` gives them.
        vector: ``(d,)`` float32.
        limit: The maximum number of chunks.
        where: Conditions that each of them passes.
    """
    best: list[tuple[str, float]] = []
    for chunks, vectors in batches:
        rows = [row for row, one in enumerate(chunks) if matches(one.uri, one.metadata, where)]
        known = np.array([cosine for _, cosine in best], np.float32)
        similar = np.concatenate([known, cosines(vectors[rows], vector)])
        ids = [name for name, _ in best] + [chunks[row].id for row in rows]
        best = nearest(ids, similar, limit=limit)
    return best

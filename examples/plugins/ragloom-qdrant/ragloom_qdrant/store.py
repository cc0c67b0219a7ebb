"""Chunks in Qdrant: a collection a space, each chunk whole as JSON in its point's payload.

Vectors are compared by inner product, which for vectors of unit length is the cosine: Qdrant would
write them normalised once more for its own cosine, not bit for bit. A server runs exact
searches, in steps that grow until every tie with the last place is there and enough chunks pass.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException
from ragloom import (
    Chunk,
    Condition,
    Embeddings,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
)
from ragloom.stores import check_records, chunk_from_record, chunk_to_record, dump_json, matches

from ragloom_qdrant import QdrantOptions

_PAGE = 500
_NAMESPACE = uuid.UUID("7d3b2c56-6f0e-4c63-9d0e-0a4b6a6f2f11")


class QdrantStore:
    """Keeps each space in a collection of Qdrant; searches go to ragloom's snapshot."""

    def __init__(self, options: QdrantOptions | None = None) -> None:
        self._options = options or QdrantOptions()
        place = self._options.url or self._options.path
        self.fingerprint = f"qdrant:{place}:{self._options.collection}"
        self._client: QdrantClient | None = None
        self._collection = ""
        self._dimension = 0

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """Connect, and make the space's collection."""
        self.close()
        options = self._options
        self._collection = _collection_name(options.collection, space)
        self._dimension = dimension
        with self._reporting():
            if options.url:
                key = os.environ.get(options.key_env) or None
                self._client = QdrantClient(
                    url=options.url, api_key=key, timeout=options.timeout, check_compatibility=False
                )
            else:
                folder = Path(options.path).expanduser() if options.path else directory
                self._client = QdrantClient(path=str(folder / "qdrant"))
        try:
            with self._reporting():
                self._claim(space)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the client, and of the folder's lock."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id."""
        client = self._opened
        check_records(chunks, vectors, dimension=self._dimension)
        rows = {chunk.id: (chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)}
        points = [
            models.PointStruct(
                id=_point(name),
                vector=vector.tolist(),
                payload={"id": name, "record": dump_json(chunk_to_record(chunk))},
            )
            for name, (chunk, vector) in rows.items()
        ]
        with self._reporting():
            for start in range(0, len(points), _PAGE):
                client.upsert(self._collection, points[start : start + _PAGE], wait=True)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; unknown ids are ignored."""
        client = self._opened
        points: list[Any] = [_point(name) for name in dict.fromkeys(ids)]
        with self._reporting():
            for start in range(0, len(points), _PAGE):
                selected = models.PointIdsList(points=points[start : start + _PAGE])
                client.delete(self._collection, selected, wait=True)

    def count(self) -> int:
        """Chunks in the space."""
        client = self._opened
        with self._reporting():
            return int(client.count(self._collection, exact=True).count)

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in the order of the ids."""
        names = self._names()
        for start in range(0, len(names), batch_size):
            page = names[start : start + batch_size]
            points: list[Any] = [_point(name) for name in page]
            with self._reporting():
                found = self._opened.retrieve(
                    self._collection, points, with_payload=True, with_vectors=True
                )
            records = {str(one.id): one for one in found}
            ordered = [records[point] for point in points if point in records]
            vectors = np.array([one.vector for one in ordered], dtype=np.float32)
            chunks = [_chunk(one.payload) for one in ordered]
            yield chunks, vectors.reshape(len(ordered), self._dimension)

    def drop(self) -> None:
        """Remove this space's chunks."""
        self.delete(self._names())

    def _names(self) -> list[str]:
        client = self._opened
        names: list[str] = []
        offset: Any = None
        with self._reporting():
            while True:
                page, offset = client.scroll(
                    self._collection, limit=_PAGE, offset=offset, with_payload=["id"]
                )
                names += [str((one.payload or {})["id"]) for one in page]
                if offset is None:
                    return sorted(names)

    def _claim(self, space: str) -> None:
        """Create the collection; rebuild it where it is empty and of another dimension."""
        client = self._opened
        if client.collection_exists(self._collection):
            params = client.get_collection(self._collection).config.params.vectors
            known = params.size if isinstance(params, models.VectorParams) else None
            if known == self._dimension:
                return
            if client.count(self._collection, exact=True).count:
                raise StoreError(
                    f"the space {space!r} in Qdrant holds vectors of {known} numbers, not "
                    f"{self._dimension}: drop it and index again"
                )
            client.delete_collection(self._collection)
        client.create_collection(
            self._collection,
            vectors_config=models.VectorParams(size=self._dimension, distance=models.Distance.DOT),
        )

    @property
    def _opened(self) -> QdrantClient:
        if self._client is None:
            raise StoreError("the store 'qdrant' is not open")
        return self._client

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Errors of Qdrant and of the way to it, as ours."""
        try:
            yield
        except (ApiException, ConnectionError, OSError, ValueError) as error:
            raise StoreError(f"Qdrant {self._options.url or 'in its folder'}: {error}") from error
        except RuntimeError as error:
            if "already accessed" in str(error):
                raise StoreLockedError(f"another process holds Qdrant's folder: {error}") from error
            raise StoreError(f"Qdrant failed: {error}") from error


class QdrantServerStore(QdrantStore):
    """A store on a server, which answers searches, too."""

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """The nearest chunks and their cosine, exactly; ties by id."""
        total = self.count()
        wanted = 2 * max(limit, 0) + 8
        while limit > 0 and total:
            with self._reporting():
                points = self._opened.query_points(
                    self._collection,
                    query=vector.tolist(),
                    limit=min(wanted, total),
                    with_payload=True,
                    search_params=models.SearchParams(exact=True),
                ).points
            found = [
                (chunk.id, float(np.clip(point.score, -1, 1)))
                for point in points
                if matches((chunk := _chunk(point.payload)).uri, chunk.metadata, where)
            ]
            found.sort(key=lambda row: (-row[1], row[0]))
            # Enough passed, and whatever ties with the last place has been seen.
            enough = len(found) >= limit and points[-1].score < found[limit - 1][1]
            if enough or len(points) >= total:
                return found[:limit]
            wanted *= 4
        return []

    def put_records(self, records: Mapping[str, str]) -> None:
        """Keep texts beside the chunks, in a collection of their own; an empty one removes it."""
        client = self._opened
        kept = [
            models.PointStruct(id=_point(name), vector=[1.0], payload={"name": name, "text": text})
            for name, text in records.items()
            if text
        ]
        gone: list[Any] = [_point(name) for name, text in records.items() if not text]
        with self._reporting():
            if not client.collection_exists(self._records):
                client.create_collection(
                    self._records,
                    vectors_config=models.VectorParams(size=1, distance=models.Distance.DOT),
                )
            for point in kept:  # each may be as large as a request may be
                client.upsert(self._records, [point], wait=True)
            if gone:
                client.delete(self._records, models.PointIdsList(points=gone), wait=True)

    def get_records(self, names: Sequence[str]) -> Mapping[str, str]:
        """Those of the records that are there."""
        client = self._opened
        with self._reporting():
            if not client.collection_exists(self._records):
                return {}
            found = client.retrieve(self._records, [_point(name) for name in names])
        held = [one.payload or {} for one in found]
        return {str(one["name"]): str(one["text"]) for one in held}

    def drop(self) -> None:
        """Remove this space's chunks and records."""
        super().drop()
        with self._reporting():
            self._opened.delete_collection(self._records)

    @property
    def _records(self) -> str:
        return f"{self._collection}-records"


def _point(name: str) -> str:
    """Qdrant takes UUIDs: the same one for the same id, in every process."""
    return str(uuid.uuid5(_NAMESPACE, name))


def _chunk(payload: dict[str, Any] | None) -> Chunk:
    try:
        return chunk_from_record(json.loads((payload or {})["record"]))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreDamagedError(
            f"a point in Qdrant is not a chunk ({error}); run `ragloom repair`"
        ) from error


def _collection_name(prefix: str, space: str) -> str:
    """A name that Qdrant takes, readable, and different for every two different spaces."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", f"{prefix}-{space}")[:40].strip("-")
    return f"{readable}-{hashlib.sha256(space.encode()).hexdigest()[:12]}"

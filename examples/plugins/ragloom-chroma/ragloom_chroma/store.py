"""Chunks in Chroma: a collection for each space, each chunk as JSON beside its vector.

Chroma's own index is approximate and knows neither ragloom's conditions nor its order, so this store
has no search: ragloom searches its snapshot.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import chromadb
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError
from ragloom import Chunk, Embeddings, StoreDamagedError, StoreError
from ragloom.stores import check_records, chunk_from_record, chunk_to_record, dump_json

from ragloom_chroma import ChromaOptions

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

_PAGE = 500


class ChromaStore:
    """Keeps each space in a collection of Chroma."""

    def __init__(self, options: ChromaOptions | None = None) -> None:
        self._options = options or ChromaOptions()
        self.fingerprint = (
            f"chroma:{self._options.url or self._options.path}:{self._options.collection}"
        )
        self._client: ClientAPI | None = None
        self._collection: Collection | None = None
        self._dimension = 0

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """Connect, and create the space's collection."""
        self.close()
        settings = Settings(anonymized_telemetry=False)
        self._dimension = dimension
        with self._reporting():
            if self._options.url:
                parts = urlsplit(self._options.url)
                self._client = chromadb.HttpClient(
                    host=parts.hostname or "localhost",
                    port=parts.port or 8000,
                    ssl=parts.scheme == "https",
                    settings=settings,
                )
            else:
                folder = Path(self._options.path).expanduser() if self._options.path else directory
                self._client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
            name = _collection_name(self._options.collection, space)
            found = self._claim(name, dimension)
            if found is None:
                self.close()
                raise StoreError(
                    f"the space {space!r} in Chroma holds vectors of another dimension than "
                    f"{dimension}: drop it and index again"
                )
            self._collection = found

    def close(self) -> None:
        """Close the client."""
        client, self._client, self._collection = self._client, None, None
        if client is not None:
            close = getattr(client, "close", None)
            if close is not None:
                close()

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id."""
        collection = self._opened
        check_records(chunks, vectors, dimension=self._dimension)
        rows = {chunk.id: (chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)}
        names = list(rows)
        with self._reporting():
            for start in range(0, len(names), _PAGE):
                page = names[start : start + _PAGE]
                collection.upsert(
                    ids=page,
                    embeddings=[np.ascontiguousarray(rows[name][1]) for name in page],
                    metadatas=[
                        {"record": dump_json(chunk_to_record(rows[name][0]))} for name in page
                    ],
                )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete chunks; unknown ids are ignored."""
        collection = self._opened
        with self._reporting():
            names = list(dict.fromkeys(ids))
            for start in range(0, len(names), _PAGE):
                # Those that are there: what Chroma says to others differs between its releases.
                found = collection.get(ids=names[start : start + _PAGE], include=[])["ids"]
                if found:
                    collection.delete(ids=found)

    def count(self) -> int:
        """Chunks in the space."""
        collection = self._opened
        with self._reporting():
            return int(collection.count())

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in the order of the ids."""
        collection = self._opened
        with self._reporting():
            names = sorted(collection.get(include=[])["ids"])
        for start in range(0, len(names), batch_size):
            yield self._page(names[start : start + batch_size])

    def drop(self) -> None:
        """Delete this space's chunks."""
        collection = self._opened
        with self._reporting():
            names = collection.get(include=[])["ids"]
        self.delete(names)

    def _claim(self, name: str, dimension: int) -> Collection | None:
        """The collection; rebuilt where it is empty, None where it has another dimension."""
        client = self._client
        assert client is not None
        # The space "cosine" would write vectors normalised once more, not bit for bit.
        made: dict[str, Any] = {
            "embedding_function": None,
            "metadata": {"hnsw:space": "ip", "dimension": dimension},
        }
        collection = client.get_or_create_collection(name, **made)
        known = (collection.metadata or {}).get("dimension")
        if known != dimension:
            if collection.count():
                return None
            client.delete_collection(name)
            collection = client.create_collection(name, **made)
        return collection

    def _page(self, names: Sequence[str]) -> tuple[list[Chunk], Embeddings]:
        with self._reporting():
            found = self._opened.get(ids=list(names), include=["embeddings", "metadatas"])
        embeddings, metadatas = found["embeddings"], found["metadatas"]
        assert embeddings is not None
        assert metadatas is not None
        rows = dict(zip(found["ids"], zip(metadatas, embeddings, strict=True), strict=True))
        try:
            chunks = [chunk_from_record(json.loads(str(rows[name][0]["record"]))) for name in names]
            vectors = np.array([rows[name][1] for name in names], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreDamagedError(
                f"a row in Chroma is not a chunk ({error}); run `ragloom repair`"
            ) from error
        return chunks, vectors.reshape(len(names), self._dimension)

    @property
    def _opened(self) -> Collection:
        if self._collection is None:
            raise StoreError("the store 'chroma' is not open")
        return self._collection

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Raise errors of Chroma and of the connection as :class:`~ragloom.StoreError`."""
        try:
            yield
        except (ChromaError, ConnectionError, OSError, ValueError) as error:
            where = self._options.url or "in its folder"
            raise StoreError(f"Chroma {where} failed: {error}") from error


def _collection_name(prefix: str, space: str) -> str:
    """A name that Chroma takes, readable, and different for every two different spaces."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", f"{prefix}-{space}")[:40].strip("-")
    return f"{readable}-{hashlib.sha256(space.encode()).hexdigest()[:12]}"

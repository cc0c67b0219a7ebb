"""The store ``milvus``: a Milvus Lite directory, which keeps, or a Milvus server, which searches, too."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ragloom import Chunk, Condition, ConfigError, Embeddings, StoredChunk, StoreError
from ragloom.stores import check_records, matches, search_exactly
from ragloom.text import hide_passwords
from ragloom_milvus import _lock
from ragloom_milvus._expressions import narrowing
from ragloom_milvus._rows import (
    HASH,
    ID,
    KEY,
    ROW,
    SHARD,
    VARCHAR_BYTES,
    WORDS,
    Row,
    Rows,
    check_chunks,
    collection_name,
    from_row,
    metadata_of,
    to_rows,
    vectors_of,
)

if TYPE_CHECKING:
    from ragloom_milvus import MilvusOptions
    from ragloom_milvus._lite import LiteRows
    from ragloom_milvus._server import ServerRows

BATCH: Final = 256
"""Rows a call: 256 rows of 1,536 numbers and 64 KB of text are 18 MB, and a server takes 64."""

DELETE_BATCH: Final = 1000

SPARE: Final = 32
"""Candidates requested beyond the limit, so that ties at its edge are mostly seen at once."""

MOST_STORED: Final = 4096
"""Chunks with their texts and vectors that one search is given; they take 20 MB."""

R = TypeVar("R", bound=Rows)


class _Collections(Generic[R]):
    """Keeps each space in a collection."""

    _with_metadata = False

    def __init__(self, uri: str, collection: str) -> None:
        self.fingerprint = f"milvus:{hide_passwords(uri)}:{collection}"
        self._uri = uri
        self._prefix = collection
        self._dimension = 0
        self._where = uri
        self._rows: R | None = None

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """As in :class:`ragloom.Store`; without ``uri`` in ``<directory>/store.db``."""
        self.close()
        self._rows = self._connected(collection_name(self._prefix, space), dimension, directory)
        self._dimension = dimension

    def _connected(self, name: str, dimension: int, directory: Path) -> R:
        raise NotImplementedError

    def close(self) -> None:
        """Write everything out and release directory or connection; twice does nothing."""
        rows, self._rows = self._rows, None
        if rows is not None:
            rows.close()

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """As in :class:`ragloom.Store`; all chunks are checked before one is written."""
        rows = self._opened
        check_records(chunks, vectors, dimension=self._dimension)
        check_chunks(chunks, rows.limits)
        for start in range(0, len(chunks), BATCH):
            end = start + BATCH
            batch = chunks[start:end], vectors[start:end]
            rows.upsert(to_rows(*batch, metadata=self._with_metadata))

    def delete(self, ids: Sequence[str]) -> None:
        """As in :class:`ragloom.Store`."""
        rows = self._opened
        # No chunk has an id that is not printable: upsert refuses those.
        unique = list(dict.fromkeys(name for name in ids if name.isprintable()))
        for start in range(0, len(unique), DELETE_BATCH):
            rows.delete(unique[start : start + DELETE_BATCH])

    def count(self) -> int:
        """As in :class:`ragloom.Store`."""
        return self._opened.count()

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """As in :class:`ragloom.Store`; it must not be written meanwhile."""
        for page in self._opened.pages(batch_size):
            chunks = [from_row(row, self._where) for row in page]
            yield chunks, vectors_of(page, self._dimension, self._where)

    def drop(self) -> None:
        """As in :class:`ragloom.Store`; no other collection is touched."""
        self._opened.drop()

    @property
    def _opened(self) -> R:
        if self._rows is None:
            raise StoreError("the store 'milvus' is not open")
        return self._rows


class MilvusLiteStore(_Collections["LiteRows"]):
    """Keeps a space in a Milvus Lite directory; searches go to the snapshot.

    Args:
        uri: A path that ends in ``.db``; empty for the space's own folder.
        collection: What collection names begin with.
        patience: Seconds to wait while another process holds the directory.

    Raises:
        ConfigError: ``uri`` does not end in ``.db``.
    """

    def __init__(
        self, *, uri: str = "", collection: str = "ragloom", patience: float = _lock.PATIENCE
    ) -> None:
        if uri and not uri.endswith(".db"):
            raise ConfigError(
                f"store.uri {uri!r} is neither a local path that ends in .db nor the address "
                "of a server such as http://localhost:19530"
            )
        super().__init__(uri, collection)
        self._patience = patience

    def _connected(self, name: str, dimension: int, directory: Path) -> LiteRows:
        from ragloom_milvus._lite import LiteRows

        path = Path(self._uri).expanduser() if self._uri else directory / "store.db"
        self._where = f"the store {path}"
        return LiteRows(path.absolute(), name, dimension, patience=self._patience)


class MilvusServerStore(_Collections["ServerRows"]):
    """Keeps a shard of a space in a collection of a Milvus server, and sends searches there."""

    _with_metadata = True

    def __init__(self, options: MilvusOptions) -> None:
        super().__init__(options.uri, options.collection)
        self._where = f"the Milvus server {options.uri}"
        self._options = options
        if options.shard:
            self.fingerprint += f":{options.shard}"

    def _connected(self, name: str, dimension: int, directory: Path) -> ServerRows:
        from ragloom_milvus._server import ServerRows

        shard = self._options.shard or own_shard(directory)
        return ServerRows(self._options, f"{name}_shards", dimension, shard)

    def connect(self, *, space: str) -> None:
        """As in :class:`ragloom.RemoteStore`."""
        from ragloom_milvus._server import ServerRows

        self.close()
        name = f"{collection_name(self._prefix, space)}_shards"
        self._rows = ServerRows(self._options, name, 0, self._options.shard)
        self._dimension = self._rows.dimension

    @property
    def ranks_words(self) -> bool:
        """As in :class:`ragloom.RemoteStore`: Milvus 2.5 and newer."""
        return self._rows is not None and self._rows.ranks_words

    def upsert_stored(self, rows: Sequence[StoredChunk], vectors: Embeddings) -> None:
        """As in :class:`ragloom.RemoteStore`; all chunks are checked before one is written."""
        opened = self._opened
        chunks = [row.chunk for row in rows]
        check_records(chunks, vectors, dimension=self._dimension)
        check_chunks(chunks, opened.limits)
        more = {
            row.chunk.id: {
                KEY: row.chunk.key,
                HASH: row.content_hash,
                WORDS: row.words.encode()[:VARCHAR_BYTES].decode("utf-8", "ignore"),
            }
            for row in rows
        }
        for start in range(0, len(chunks), BATCH):
            end = start + BATCH
            made = to_rows(chunks[start:end], vectors[start:end], metadata=True)
            opened.upsert([row | more[row[ID]] for row in made])

    def known(self, keys: Sequence[str]) -> Mapping[str, Embeddings]:
        """As in :class:`ragloom.RemoteStore`."""
        found: dict[str, Embeddings] = {}
        for start in range(0, len(keys), DELETE_BATCH):
            for row in self._opened.known(keys[start : start + DELETE_BATCH]):
                found[row[KEY]] = vectors_of([row], self._dimension, self._where)[0]
        return found

    def put_records(self, records: Mapping[str, str]) -> None:
        """As in :class:`ragloom.SearchableStore`."""
        self._opened.put_records(records)

    def get_records(self, names: Sequence[str]) -> Mapping[str, str]:
        """As in :class:`ragloom.SearchableStore`."""
        found = self._opened.records(names, own=True)
        return next(iter(found.values()), {})

    def shard_records(self, names: Sequence[str]) -> Mapping[str, Mapping[str, str]]:
        """As in :class:`ragloom.RemoteStore`."""
        return self._opened.records(names, own=False)

    def find(
        self,
        words: str,
        vector: Embeddings | None,
        *,
        limit: int,
        where: Sequence[Condition] = (),
    ) -> Sequence[tuple[StoredChunk, Embeddings]]:
        """As in :class:`ragloom.RemoteStore`."""
        expression, wanted = narrowing(where), limit
        while True:
            rows = {
                str(row[ROW]): row for row in self._opened.stored(words, vector, wanted, expression)
            }
            stored = [self._stored_chunk(row) for row in rows.values()]
            passed = [
                at
                for at, one in enumerate(stored)
                if not where or matches(one.chunk.uri, one.chunk.metadata, where)
            ]
            # What the server could not narrow may have left too few.
            few = len(passed) < min(limit, len(rows))
            if not (where and few and len(rows) >= wanted) or wanted >= MOST_STORED:
                vectors = vectors_of(list(rows.values()), self._dimension, self._where)
                return [(stored[at], vectors[at]) for at in passed]
            wanted = min(wanted * 8, MOST_STORED)

    def _stored_chunk(self, row: Row) -> StoredChunk:
        chunk = from_row(row, self._where)
        return StoredChunk(chunk=chunk, content_hash=row[HASH], shard=row[SHARD])

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """As in :class:`ragloom.SearchableStore`."""
        if limit <= 0:
            return []
        rows: ServerRows = self._opened
        expression = narrowing(where)
        wanted = min(limit + SPARE, rows.most)
        while True:
            found = rows.nearest(vector, wanted, expression)
            passed = sorted(
                (-cosine, name)
                for name, cosine, uri, extra in found
                if not where or matches(uri, metadata_of(extra, self._where), where)
            )
            best = [(name, -negative) for negative, name in passed[:limit]]
            # Complete when nothing is left, or when all that could tie with the last has been seen.
            if len(found) < wanted or (len(best) == limit and best[-1][1] > found[-1][1]):
                return best
            if wanted >= rows.most:
                return search_exactly(self.scan(), vector, limit=limit, where=where)
            wanted = min(wanted * 8, rows.most)


def own_shard(directory: Path) -> str:
    """Names the rows that a space on this machine writes: by the machine, and the folder of its index."""
    host = socket.gethostname()
    where = f"{host}\0{directory.absolute()}".encode("utf-8", "surrogatepass")
    readable = re.sub(r"[^A-Za-z0-9-]+", "-", host)[:40].strip("-")
    return f"{readable or 'machine'}-{blake2b(where, digest_size=8).hexdigest()}"

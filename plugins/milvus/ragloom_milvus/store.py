"""The store ``milvus``: a Milvus Lite directory, which keeps, or a Milvus server, which searches, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ragloom import Chunk, Condition, ConfigError, Embeddings, StoreError
from ragloom.stores import check_records, matches, search_exactly
from ragloom.text import hide_passwords
from ragloom_milvus import _lock
from ragloom_milvus._expressions import narrowing
from ragloom_milvus._rows import (
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
    """Keeps a space in a collection of a Milvus server, and sends searches there."""

    _with_metadata = True

    def __init__(self, options: MilvusOptions) -> None:
        super().__init__(options.uri, options.collection)
        self._where = f"the Milvus server {options.uri}"
        self._options = options

    def _connected(self, name: str, dimension: int, directory: Path) -> ServerRows:  # noqa: ARG002
        from ragloom_milvus._server import ServerRows

        return ServerRows(self._options, name, dimension)

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

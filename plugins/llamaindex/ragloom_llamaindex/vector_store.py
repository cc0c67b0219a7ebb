"""Stores of ragloom as vector stores of LlamaIndex."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, cast

import numpy as np

from ragloom import (
    Chunk,
    ConfigError,
    Embeddings,
    Json,
    Lines,
    MissingDependencyError,
    PluginHost,
    Span,
    Store,
    StoreError,
)
from ragloom.stores import cosines, nearest, replace_file

try:
    from llama_index.core.schema import BaseNode, MetadataMode
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import (
        build_metadata_filter_fn,
        metadata_dict_to_node,
        node_to_metadata_dict,
    )
except ModuleNotFoundError as missing:
    raise MissingDependencyError(
        "llama-index-core", "ragloom[llamaindex]", "RagloomVectorStore"
    ) from missing
from pydantic import PrivateAttr

_DIMENSION = "dimension"  # the file that remembers it
_NO_ONE = "None"  # as LlamaIndex writes a node's document where it has none


@dataclass(frozen=True, slots=True)
class _Content:
    """All of the store: nodes by their ids, and ``(n, d)`` vectors in the same order."""

    ids: list[str]
    chunks: list[Chunk]
    vectors: Embeddings

    def node(self, row: int) -> BaseNode:
        chunk = self.chunks[row]
        return metadata_dict_to_node(dict(chunk.metadata), text=chunk.text)


class RagloomVectorStore(BasePydanticVectorStore):
    """Keeps nodes and their vectors in a store of ragloom, and finds the nearest exactly.

    What is written is durable when ``add`` or ``delete`` returns. The vectors are in memory while they are
    searched: ``n * dimension * 4`` bytes. What another process writes is seen by a new object. Threads may
    share it.

    Args:
        path: The folder; it is made where it does not exist.
        store: The component, by its name in settings.
        options: Its options.
        name: One folder, or one server, holds several by their names.
        host: The plugins; those that are installed, by default.

    Raises:
        ConfigError: An option is unknown or wrong.
        PluginError: No plugin offers the store.
        StoreError: When used: it cannot be read or written, or vectors of another length are in it.
    """

    stores_text: bool = True
    is_embedding_query: bool = True
    flat_metadata: ClassVar[bool] = False

    _store: Store = PrivateAttr()
    _directory: Path = PrivateAttr()
    _name: str = PrivateAttr()
    _lock: threading.RLock = PrivateAttr(default_factory=threading.RLock)
    _known: _Content | None = PrivateAttr(default=None)

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        store: str = "sqlite",
        options: Mapping[str, object] | None = None,
        name: str = "llamaindex",
        host: PluginHost | None = None,
    ) -> None:
        super().__init__(stores_text=True)
        self._store = (host or PluginHost.discover()).store(store, options)
        self._directory = Path(path).absolute()
        self._name = name

    @classmethod
    def class_name(cls) -> str:
        """``RagloomVectorStore``."""
        return "RagloomVectorStore"

    @property
    def client(self) -> Store:
        """The store; closed but while something is written or first read."""
        return self._store

    def add(self, nodes: Sequence[BaseNode], **_more: object) -> list[str]:
        """Write nodes with their embeddings; those with the same id are replaced."""
        if not nodes:
            return []
        latest = {node.node_id: node for node in nodes}
        vectors = [node.get_embedding() for node in latest.values()]
        if len({*map(len, vectors)}) > 1:
            raise StoreError("nodes have embeddings of several lengths: nothing was written")
        chunks = [_chunk(node) for node in latest.values()]
        with self._writing(len(vectors[0])) as store:
            store.upsert(chunks, np.array(vectors, np.float32))
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id: str, **_more: object) -> None:
        """Remove all nodes of a document."""
        self._remove(lambda _, chunk: chunk.metadata["ref_doc_id"] == ref_doc_id)

    def delete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **_more: object,
    ) -> None:
        """Remove the nodes that have these ids and pass these filters; without either, none."""
        if node_ids is not None or filters is not None:
            self._remove(_wanted(node_ids, None, filters))

    def clear(self) -> None:
        """Remove all nodes."""
        with self._lock:
            if dimension := self._dimension():
                with self._writing(dimension) as store:
                    store.drop()
                (self._directory / _DIMENSION).unlink(missing_ok=True)

    def get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """The nodes that have these ids and pass these filters; without either, all."""
        content = self._content()
        return [content.node(row) for row in _rows(content, _wanted(node_ids, None, filters))]

    def query(self, query: VectorStoreQuery, **_more: object) -> VectorStoreQueryResult:
        """The nearest nodes by cosine, best first, ties by id.

        Raises:
            ConfigError: There is no embedding; or the mode is not ``default``, which
                :class:`RagloomRetriever` has.
        """
        if query.mode != VectorStoreQueryMode.DEFAULT:
            raise ConfigError(
                f"mode: RagloomVectorStore searches by vectors alone, not {query.mode.value!r}: "
                "RagloomRetriever searches an index by vectors and words"
            )
        if query.query_embedding is None:
            raise ConfigError("query_embedding: RagloomVectorStore needs the vector of the query")
        content = self._content()
        # An index over a store that holds the text asks for no ids, with an empty list.
        ids, documents = query.node_ids or None, query.doc_ids or None
        rows = _rows(content, _wanted(ids, documents, query.filters))
        vector = np.array(query.query_embedding, np.float32)
        if rows and len(vector) != content.vectors.shape[1]:
            raise StoreError(
                f"the query has {len(vector)} numbers, and the nodes {content.vectors.shape[1]}: "
                "use the embedding that they were added with"
            )
        by_id = {content.ids[row]: row for row in rows}
        similar = cosines(content.vectors[rows], vector) if rows else np.zeros(0, np.float32)
        best = nearest(list(by_id), similar, limit=query.similarity_top_k)
        return VectorStoreQueryResult(
            nodes=[content.node(by_id[name]) for name, _ in best],
            similarities=[score for _, score in best],
            ids=[name for name, _ in best],
        )

    async def async_add(self, nodes: Sequence[BaseNode], **more: object) -> list[str]:
        """As :meth:`add`, on a thread."""
        return await asyncio.to_thread(self.add, nodes, **more)

    async def adelete(self, ref_doc_id: str, **more: object) -> None:
        """As :meth:`delete`, on a thread."""
        await asyncio.to_thread(self.delete, ref_doc_id, **more)

    async def aquery(self, query: VectorStoreQuery, **more: object) -> VectorStoreQueryResult:
        """As :meth:`query`, on a thread."""
        return await asyncio.to_thread(self.query, query, **more)

    def _dimension(self) -> int:
        """Numbers in a vector; 0 where nothing was written yet."""
        try:
            return int((self._directory / _DIMENSION).read_text("utf-8"))
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise StoreError(f"{self._directory / _DIMENSION} cannot be read: {error}") from error

    @contextmanager
    def _opened(self, dimension: int) -> Iterator[Store]:
        """The store, open: no file or server is held between two calls, nor by one thread."""
        self._store.open(space=self._name, dimension=dimension, directory=self._directory)
        try:
            yield self._store
        finally:
            self._store.close()

    @contextmanager
    def _writing(self, dimension: int) -> Iterator[Store]:
        with self._lock:
            known = self._dimension()
            if known not in (0, dimension):
                raise StoreError(
                    f"{self._directory} holds vectors of {known} numbers, and these have {dimension}: "
                    "use the embedding that they were added with, or another folder"
                )
            try:
                self._directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise StoreError(f"{self._directory} cannot be made: {error}") from error
            self._known = None
            with self._opened(dimension) as store:
                if not known:
                    replace_file(self._directory / _DIMENSION, str(dimension))
                yield store

    def _content(self) -> _Content:
        with self._lock:
            if self._known is None:
                dimension = self._dimension()
                chunks: list[Chunk] = []
                vectors = [np.zeros((0, max(dimension, 1)), np.float32)]
                if dimension:
                    with self._opened(dimension) as store:
                        for some, rows in store.scan():
                            chunks += some
                            vectors.append(rows)
                ids = [cast("str", chunk.metadata["node_id"]) for chunk in chunks]
                self._known = _Content(ids, chunks, np.concatenate(vectors))
            return self._known

    def _remove(self, wanted: Callable[[str, Chunk], bool]) -> None:
        with self._lock:
            content = self._content()
            gone = [content.chunks[row].id for row in _rows(content, wanted)]
            if gone:
                with self._writing(content.vectors.shape[1]) as store:
                    store.delete(gone)


def _chunk(node: BaseNode) -> Chunk:
    """A node as a store keeps it: its text, and all else as metadata."""
    text = node.get_content(MetadataMode.NONE)
    metadata = node_to_metadata_dict(node, remove_text=True, flat_metadata=False)
    return Chunk(
        id=hashlib.blake2b(node.node_id.encode(), digest_size=16).hexdigest(),
        uri=node.ref_doc_id or node.node_id,
        text=text,
        span=Span(0, len(text)),
        lines=Lines(1, text.count("\n") + 1),
        bytes=Span(0, len(text.encode("utf-8", "surrogatepass"))),
        metadata=cast("dict[str, Json]", {**metadata, "node_id": node.node_id}),
    )


def _wanted(
    node_ids: Sequence[str] | None,
    doc_ids: Sequence[str] | None,
    filters: MetadataFilters | None,
) -> Callable[[str, Chunk], bool]:
    """Whether a node, by its id and its chunk, has one of the ids and passes the filters."""
    nodes = None if node_ids is None else set(node_ids)
    documents = None if doc_ids is None else set(doc_ids)

    def check(name: str, chunk: Chunk) -> bool:
        return (
            (nodes is None or name in nodes)
            and (documents is None or chunk.metadata.get("ref_doc_id", _NO_ONE) in documents)
            and build_metadata_filter_fn(lambda _: chunk.metadata, filters)(name)
        )

    return check


def _rows(content: _Content, wanted: Callable[[str, Chunk], bool]) -> list[int]:
    pairs = zip(content.ids, content.chunks, strict=True)
    return [row for row, (name, chunk) in enumerate(pairs) if wanted(name, chunk)]

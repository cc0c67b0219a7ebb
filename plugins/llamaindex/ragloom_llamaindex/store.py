"""Vector stores of LlamaIndex as stores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from ragloom import Chunk, Condition, StoreError
from ragloom.protocols import Embeddings
from ragloom.stores.filters import matches
from ragloom.stores.records import check_records, cosines, nearest
from ragloom_llamaindex.ledger import Ledger
from ragloom_llamaindex.parts import FAULTS, fingerprint, guarded, label, load_class, make, named

if TYPE_CHECKING:
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores.types import BasePydanticVectorStore

__all__ = ["VectorStore"]

_AT_ONCE = 1000
_TIE = 1e-6  # of a cosine in float32
_BEHIND = "behind"  # the vector store may lack what the ledger holds


class VectorStore:
    """Keeps chunks in any ``BasePydanticVectorStore``, and in a ledger beside it.

    A store that persists itself to a file, as ``SimpleVectorStore`` does, has it in the space's folder.
    What a killed process left behind is made good from the ledger when the store is opened next.

    Args:
        part: The class.
        options: Its arguments.
    """

    read: Literal["snapshot", "native"] = "snapshot"

    def __init__(self, part: str, options: Mapping[str, object]) -> None:
        self._part = named("store", part)
        self._options = dict(options)
        self._ledger: Ledger | None = None
        self._vectors: BasePydanticVectorStore | None = None
        self._dimension = 0
        self._file = Path()

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the class, its arguments and LlamaIndex."""
        return fingerprint(self._part, self._options)

    def open(self, *, space: str, dimension: int, directory: Path) -> None:
        """Make the store and its ledger.

        Raises:
            ConfigError: The class does not exist, or does not take its arguments.
            StoreDamagedError: The ledger does not open.
            StoreError: The ledger was made for another dimension, or the store failed.
        """
        self.close()
        self._dimension = dimension
        name = blake2b(space.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        self._file = directory / f"llamaindex-{name}.json"
        ledger = Ledger(self._file.with_suffix(".sqlite3"), dimension)
        try:
            self._vectors = self._made()
            self._ledger = ledger
            if ledger.fact(_BEHIND) or (ledger.count() and self._is_empty_again()):
                self._catch_up(ledger)
        except BaseException:
            ledger.close()
            self._ledger = self._vectors = None
            raise

    def close(self) -> None:
        """Persist the store, if it does that, and let go."""
        if self._ledger is None:
            return
        ledger, self._ledger = self._ledger, None
        try:
            self._persist()
            ledger.note(_BEHIND, "")
        finally:
            self._vectors = None
            ledger.close()

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id.

        Raises:
            StoreError: A vector is not finite or has the wrong length (nothing is written then), or the
                store failed.
        """
        check_records(chunks, vectors, dimension=self._dimension)
        ledger, store = self._opened()
        ledger.note(_BEHIND, "1")
        known = ledger.known([chunk.id for chunk in chunks])
        ledger.write(chunks, vectors)
        with self._reporting():
            self._remove(store, known)
            store.add(_nodes(chunks, vectors))

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; ids that are not there are ignored."""
        ledger, store = self._opened()
        known = ledger.known(ids)
        if not known:
            return
        ledger.note(_BEHIND, "1")
        with self._reporting():
            self._remove(store, known)
        ledger.delete(known)

    def count(self) -> int:
        """Chunks in the space."""
        return self._opened()[0].count()

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in batches, in the order of the ids."""
        yield from self._opened()[0].scan(batch_size)

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """What the store finds, with exact cosines, best first.

        Which chunks are found is the store's decision: a store that only approximates may miss some.
        """
        ledger, store = self._opened()
        total = ledger.count()
        if limit <= 0 or not total:
            return []
        # More than asked for, so that what ties with the last place is there for the ids to decide.
        wanted = total if where else min(2 * limit, total)
        while True:
            found = self._nearest(ledger, store, vector, wanted, where)
            ties = len(found) > limit and found[-1][1] >= found[limit - 1][1] - _TIE
            if wanted == total or not ties:
                return found[:limit]
            wanted = min(2 * wanted, total)

    def _nearest(
        self,
        ledger: Ledger,
        store: BasePydanticVectorStore,
        vector: Embeddings,
        limit: int,
        where: Sequence[Condition],
    ) -> list[tuple[str, float]]:
        from llama_index.core.vector_stores.types import VectorStoreQuery

        query = VectorStoreQuery(query_embedding=vector.tolist(), similarity_top_k=limit)
        with self._reporting():
            answer = store.query(query)
        ids = answer.ids or [node.node_id for node in answer.nodes or ()]
        chunks, vectors = ledger.read(ledger.known(list(dict.fromkeys(ids))))
        rows = [
            row
            for row, chunk in enumerate(chunks)
            if not where or matches(chunk.uri, chunk.metadata, where)
        ]
        names = [chunks[row].id for row in rows]
        return nearest(names, cosines(vectors[rows], vector), limit=limit)

    def drop(self) -> None:
        """Remove this space's chunks, and nothing else."""
        ledger, store = self._opened()
        ledger.note(_BEHIND, "1")
        with self._reporting():
            for chunks, _ in ledger.scan(_AT_ONCE):
                self._remove(store, [chunk.id for chunk in chunks])
        ledger.clear()

    def _opened(self) -> tuple[Ledger, BasePydanticVectorStore]:
        if self._ledger is None or self._vectors is None:
            raise StoreError(f"{label('store', self._part)} is not open")
        return self._ledger, self._vectors

    def _made(self) -> BasePydanticVectorStore:
        loaded = load_class("store", self._part)
        restore = getattr(loaded, "from_persist_path", None)
        if restore is not None and self._file.is_file():
            try:
                return cast("BasePydanticVectorStore", restore(str(self._file)))
            except FAULTS:  # cut short by a kill: all of it is in the ledger
                self._file.unlink()
        return cast("BasePydanticVectorStore", make("store", self._part, self._options))

    def _persist(self) -> None:
        if self._vectors is not None and _persists(self._vectors):
            with self._reporting():
                self._vectors.persist(str(self._file))

    def _is_empty_again(self) -> bool:
        """Whether a store that lives in this process's memory has lost what the ledger holds."""
        return _persists(self._opened()[1]) and not self._file.is_file()

    def _catch_up(self, ledger: Ledger) -> None:
        for chunks, vectors in ledger.scan(_AT_ONCE):
            with self._reporting():
                store = self._opened()[1]
                self._remove(store, [chunk.id for chunk in chunks])
                store.add(_nodes(chunks, vectors))

    @staticmethod
    def _remove(store: BasePydanticVectorStore, ids: Sequence[str]) -> None:
        if not ids:
            return
        try:
            store.delete_nodes(list(ids))
        except NotImplementedError:  # optional; every node is the only one of its document
            for name in ids:
                store.delete(name)

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            with guarded("store", self._part):
                yield
        except FAULTS as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise StoreError(f"{label('store', self._part)}: {said}") from error


def _persists(store: BasePydanticVectorStore) -> bool:
    from llama_index.core.vector_stores.types import BasePydanticVectorStore

    return type(store).persist is not BasePydanticVectorStore.persist


def _nodes(chunks: Sequence[Chunk], vectors: Embeddings) -> list[TextNode]:
    from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode

    return [
        TextNode(
            id_=chunk.id,
            text=chunk.text,
            embedding=vector.tolist(),
            start_char_idx=chunk.span.start,
            end_char_idx=chunk.span.end,
            metadata={"file_path": chunk.uri, "start_line": chunk.lines.start},
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=chunk.id)},
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]

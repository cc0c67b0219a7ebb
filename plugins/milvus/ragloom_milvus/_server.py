"""A collection on a Milvus server or cluster, through pymilvus."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragloom import Embeddings, MissingDependencyError, StoreError
from ragloom_milvus._rows import (
    EXTRA,
    ID,
    ID_BYTES,
    METADATA,
    PROPERTY,
    TEXT,
    URI,
    VARCHAR_BYTES,
    VECTOR,
    Row,
    check_description,
    format_description,
    quoted,
)

if TYPE_CHECKING:
    from pymilvus import MilvusClient

    from ragloom_milvus import MilvusOptions

JSON_BYTES: Final = 65_536
"""The longest JSON value of a server: https://milvus.io/docs/use-json-fields.md."""

MOST: Final = 16_384
"""The most results of one search: https://milvus.io/docs/limitations.md."""

PAGE: Final = 1000

Candidate: TypeAlias = tuple[str, float, str, str]
"""Of one chunk found: its id, its cosine, its uri and its ``extra``."""

_COUNT: Final = "count(*)"
_PAUSE: Final = 0.2  # seconds before connecting again


class ServerRows:
    """One collection on a server, connected until :meth:`close`.

    Args:
        options: Of the store.
        collection: Created, indexed and loaded where it is not.
        dimension: Numbers in a vector.

    Raises:
        StoreError: The server does not answer or refuses, or the collection has another dimension.
    """

    most: int = MOST
    limits: Mapping[str, int] = MappingProxyType(
        {
            ID: ID_BYTES,
            URI: VARCHAR_BYTES,
            TEXT: VARCHAR_BYTES,
            EXTRA: VARCHAR_BYTES,
            METADATA: JSON_BYTES,
        }
    )

    def __init__(self, options: MilvusOptions, collection: str, dimension: int) -> None:
        try:
            import pymilvus  # noqa: F401 - whether it is there
        except ImportError as error:
            package, extra, needed_for = "pymilvus", "ragloom[milvus]", "the store 'milvus'"
            raise MissingDependencyError(package, extra, needed_for) from error

        self._uri = options.uri
        self._name = collection
        self._dimension = dimension
        self._index = options.index
        self._timeout = options.timeout
        # Strong makes a search wait for the server's clock, 0.3 s against 1 ms: only the first one
        # after opening or writing does, and what it saw the next ones see, too.
        self._behind = True
        with self._reporting("does not answer"):
            self._client: MilvusClient = _connected(options)
        try:
            with self._reporting():
                self._open_collection()
        except BaseException:
            self._client.close()
            raise

    def upsert(self, rows: list[Row]) -> None:
        """As in :class:`Rows`."""
        for row in rows:
            row[METADATA] = _within_64_bits(row[METADATA])
        with self._reporting():
            self._client.upsert(self._name, rows, timeout=self._timeout)
        self._behind = True

    def delete(self, ids: list[str]) -> None:
        """As in :class:`Rows`."""
        with self._reporting():
            # Not ids=: pymilvus 3.0 puts them into the expression as they are, quotes and all.
            expression = f"{ID} in [{', '.join(map(quoted, ids))}]"
            self._client.delete(self._name, filter=expression, timeout=self._timeout)
        self._behind = True

    def count(self) -> int:
        """As in :class:`Rows`."""
        with self._reporting():
            [row] = self._client.query(
                self._name, filter="", output_fields=[_COUNT], timeout=self._timeout
            )
        return int(row[_COUNT])

    def pages(self, size: int) -> Iterator[list[Row]]:
        """As in :class:`Rows`."""
        with self._reporting():
            iterator = self._client.query_iterator(
                self._name,
                batch_size=min(size, PAGE),
                filter="",
                output_fields=[ID, URI, TEXT, VECTOR, EXTRA],
                timeout=self._timeout,
            )
        try:
            while True:
                with self._reporting():
                    page = iterator.next()
                if not page:
                    return
                yield sorted((dict(row) for row in page), key=lambda row: str(row[ID]))
        finally:
            iterator.close()

    def nearest(self, vector: Embeddings, limit: int, expression: str) -> list[Candidate]:
        """Up to ``limit`` candidates that pass ``expression``, best first."""
        # HNSW refuses to look at fewer candidates than it should return.
        params = {"ef": max(64, limit)} if self._index == "HNSW" else {}
        with self._reporting():
            [hits] = self._client.search(
                self._name,
                data=[vector.tolist()],
                anns_field=VECTOR,
                filter=expression,
                limit=limit,
                output_fields=[URI, EXTRA],
                search_params={"metric_type": "COSINE", "params": params},
                consistency_level="Strong" if self._behind else "Bounded",
                timeout=self._timeout,
            )
        self._behind = False
        return [
            (hit[ID], float(hit["distance"]), hit["entity"][URI], hit["entity"][EXTRA])
            for hit in hits
        ]

    def drop(self) -> None:
        """As in :class:`Rows`."""
        with self._reporting():
            self._client.drop_collection(self._name, timeout=self._timeout)
            self._open_collection()

    def close(self) -> None:
        """Disconnect; the server has stored what it acknowledged."""
        with self._reporting():
            self._client.close()

    def _open_collection(self) -> None:
        from pymilvus import MilvusException

        if not self._client.has_collection(self._name, timeout=self._timeout):
            try:
                self._create_collection()
            except MilvusException:
                # Somebody else may have made it in the meantime.
                if not self._client.has_collection(self._name, timeout=self._timeout):
                    raise
        description = self._client.describe_collection(self._name, timeout=self._timeout)
        where = f"the collection {self._name} on {self._uri}"
        check_description(str(dict(description.get("properties") or {}).get(PROPERTY, "")), where)
        fields = {field["name"]: field for field in description["fields"]}
        missing = {ID, URI, TEXT, VECTOR, EXTRA, METADATA} - fields.keys()
        if missing:
            raise StoreError(
                f"the collection {self._name} on {self._uri} was not made by ragloom (it has no "
                f"{', '.join(sorted(missing))}): set store.collection to another beginning"
            )
        dimension = int(fields[VECTOR]["params"]["dim"])
        if dimension != self._dimension:
            self._client.load_collection(self._name, timeout=self._timeout)
            if not self.count():  # what another model left
                self._client.drop_collection(self._name, timeout=self._timeout)
                self._open_collection()
                return
            raise StoreError(
                f"the collection {self._name} on {self._uri} holds vectors of {dimension} numbers, "
                f"and the embedder gives {self._dimension}: index into a new space, or drop this "
                "one and index again"
            )
        if not self._client.list_indexes(self._name, field_name=VECTOR):
            self._client.create_index(self._name, self._index_params(), timeout=self._timeout)
        self._client.load_collection(self._name, timeout=self._timeout)

    def _create_collection(self) -> None:
        from pymilvus import DataType

        schema = self._client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field(ID, DataType.VARCHAR, is_primary=True, max_length=ID_BYTES)
        for name in (URI, TEXT, EXTRA):
            schema.add_field(name, DataType.VARCHAR, max_length=VARCHAR_BYTES)
        schema.add_field(METADATA, DataType.JSON)
        schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=self._dimension)
        # Strong: what was written is found by the next call, as in every other store.
        self._client.create_collection(
            self._name,
            schema=schema,
            index_params=self._index_params(),
            consistency_level="Strong",
            properties={PROPERTY: format_description()},
            timeout=self._timeout,
        )

    def _index_params(self) -> Any:  # noqa: ANN401 - pymilvus has no public name for it
        params = self._client.prepare_index_params()
        build = {"M": 16, "efConstruction": 200} if self._index == "HNSW" else {}
        params.add_index(VECTOR, index_type=self._index, metric_type="COSINE", params=build)
        return params

    @contextmanager
    def _reporting(self, what: str = "failed") -> Iterator[None]:
        from pymilvus import MilvusException

        # It logs to stderr whatever it raises; ours is the one line that is shown.
        logger = logging.getLogger("pymilvus")
        level = logger.level
        logger.setLevel(logging.CRITICAL)
        try:
            yield
        except MilvusException as error:
            line = " ".join(str(error.message or error).split())
            raise StoreError(f"the Milvus server {self._uri} {what}: {line}") from error
        finally:
            logger.setLevel(level)


def _connected(options: MilvusOptions) -> MilvusClient:
    """A client, after a second try where the first is interrupted before its time is up.

    pymilvus repeats every call that a server interrupts but the first of a connection, which may be
    one that the process already shares and the server is about to close.
    """
    from pymilvus import MilvusClient, MilvusException

    began = time.monotonic()
    try:
        return MilvusClient(uri=options.uri, token=options.token, timeout=options.timeout)
    except MilvusException:
        left = options.timeout - (time.monotonic() - began)
        if left <= 0:
            raise
        time.sleep(min(_PAUSE, left))
    return MilvusClient(uri=options.uri, token=options.token, timeout=left)


def _within_64_bits(value: Any) -> Any:  # noqa: ANN401 - JSON
    """``value`` for filters only: pymilvus refuses longer integers; ``extra`` has them exactly."""
    if isinstance(value, dict):
        return {key: _within_64_bits(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_within_64_bits(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value) if abs(value) < 10**300 else None
    return value

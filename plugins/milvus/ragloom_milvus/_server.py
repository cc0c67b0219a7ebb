"""A collection on a Milvus server or cluster, through pymilvus: a shard of it to write, all to read."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragloom import Embeddings, MissingDependencyError, NotIndexedError, StoreError
from ragloom_milvus._rows import (
    EXTRA,
    HASH,
    ID,
    ID_BYTES,
    KEY,
    METADATA,
    ROW,
    SHARD,
    TEXT,
    URI,
    VARCHAR_BYTES,
    VECTOR,
    WORDS,
    Row,
    check_description,
    quoted,
    row_key,
)
from ragloom_milvus._schema import RECORDS, create_collection, create_records, ranks_words

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
_STORED: Final = [ROW, SHARD, ID, URI, TEXT, EXTRA, HASH, VECTOR]


class ServerRows:
    """One collection on a server, connected until :meth:`close`.

    Args:
        options: Of the store.
        collection: Created, indexed and loaded where it is not.
        dimension: Numbers in a vector; 0 to read what is there.
        shard: Whose rows are written.

    Raises:
        StoreError: The server does not answer or refuses, or the collection has another dimension.
        NotIndexedError: There is no collection to read.
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

    def __init__(self, options: MilvusOptions, collection: str, dimension: int, shard: str) -> None:
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
        self._shard = shard
        self._own = f"{SHARD} == {quoted(shard)}"
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
            row[ROW] = row_key(self._shard, row[ID])
            row[SHARD] = self._shard
            row[METADATA] = _within_64_bits(row[METADATA])
            row.setdefault(KEY, "")
            row.setdefault(HASH, "")
            if self.ranks_words:
                row.setdefault(WORDS, "")
            else:
                row.pop(WORDS, None)
        with self._reporting():
            self._client.upsert(self._name, rows, timeout=self._timeout)
        self._behind = True

    def delete(self, ids: list[str]) -> None:
        """As in :class:`Rows`; those of other shards stay."""
        keys = ", ".join(quoted(row_key(self._shard, name)) for name in ids)
        with self._reporting():
            # Not ids=: pymilvus 3.0 puts them into the expression as they are, quotes and all.
            self._client.delete(
                self._name, filter=f"{self._own} and {ROW} in [{keys}]", timeout=self._timeout
            )
        self._behind = True

    def count(self) -> int:
        """As in :class:`Rows`."""
        return self._count(self._own)

    def _count(self, expression: str) -> int:
        with self._reporting():
            [row] = self._client.query(
                self._name, filter=expression, output_fields=[_COUNT], timeout=self._timeout
            )
        return int(row[_COUNT])

    def pages(self, size: int) -> Iterator[list[Row]]:
        """As in :class:`Rows`."""
        with self._reporting():
            iterator = self._client.query_iterator(
                self._name,
                batch_size=min(size, PAGE),
                filter=self._own,
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
        """Up to ``limit`` candidates of the own shard that pass ``expression``, best first."""
        hits = self._searched(
            VECTOR, vector.tolist(), limit, _both(self._own, expression), [ID, URI, EXTRA]
        )
        return [
            (hit["entity"][ID], float(hit["distance"]), hit["entity"][URI], hit["entity"][EXTRA])
            for hit in hits
        ]

    def stored(
        self, words: str, vector: Embeddings | None, limit: int, expression: str
    ) -> Iterator[Row]:
        """Rows of all shards, best first: the nearest, the farthest, then those by words."""
        if vector is not None:
            for sign, most in ((1, limit), (-1, 1)):
                found = self._searched(VECTOR, (sign * vector).tolist(), most, expression, _STORED)
                yield from (dict(hit["entity"]) for hit in found)
        if words and self.ranks_words:
            found = self._searched("sparse", words, limit, expression, _STORED)
            yield from (dict(hit["entity"]) for hit in found)

    def known(self, keys: Sequence[str]) -> Iterator[Row]:
        """The keys and vectors of rows of all shards."""
        wanted = ", ".join(map(quoted, keys))
        with self._reporting():
            yield from self._client.query(
                self._name,
                filter=f"{KEY} in [{wanted}]",
                output_fields=[KEY, VECTOR],
                timeout=self._timeout,
            )

    def put_records(self, records: Mapping[str, str]) -> None:
        """Replace texts of the own shard; empty ones are removed."""
        rows = [
            {ROW: row_key(self._shard, name), SHARD: self._shard, ID: name, TEXT: text, "v": [1, 0]}
            for name, text in records.items()
            if text
        ]
        gone = [row_key(self._shard, name) for name, text in records.items() if not text]
        with self._reporting():
            for start in range(0, len(rows), 100):
                some = rows[start : start + 100]
                self._client.upsert(self._name + RECORDS, some, timeout=self._timeout)
            if gone:
                expression = f"{ROW} in [{', '.join(map(quoted, gone))}]"
                self._client.delete(self._name + RECORDS, filter=expression, timeout=self._timeout)

    def records(self, names: Sequence[str], *, own: bool) -> Mapping[str, Mapping[str, str]]:
        """Shard to name to text."""
        expression = f"{ID} in [{', '.join(map(quoted, names))}]"
        if own:
            expression = f"{self._own} and {expression}"
        with self._reporting():
            rows = self._client.query(
                self._name + RECORDS,
                filter=expression,
                output_fields=[SHARD, ID, TEXT],
                timeout=self._timeout,
            )
        found: dict[str, dict[str, str]] = {}
        for row in rows:
            found.setdefault(str(row[SHARD]), {})[str(row[ID])] = str(row[TEXT])
        return found

    def drop(self) -> None:
        """As in :class:`Rows`: the rows of the own shard; the collection with the last of all."""
        with self._reporting():
            for name in (self._name, self._name + RECORDS):
                self._client.delete(name, filter=self._own, timeout=self._timeout)
        if not self._count(""):
            with self._reporting():
                for name in (self._name, self._name + RECORDS):
                    self._client.drop_collection(name, timeout=self._timeout)
                self._open_collection()
        self._behind = True

    def close(self) -> None:
        """Disconnect; the server has stored what it acknowledged."""
        with self._reporting():
            self._client.close()

    def _searched(
        self, field: str, data: object, limit: int, expression: str, output: list[str]
    ) -> Sequence[Any]:
        # HNSW refuses to look at fewer candidates than it should return.
        params = {"ef": max(64, limit)} if field == VECTOR and self._index == "HNSW" else {}
        metric = "COSINE" if field == VECTOR else "BM25"
        with self._reporting():
            [hits] = self._client.search(
                self._name,
                data=[data],
                anns_field=field,
                filter=expression,
                limit=limit,
                output_fields=output,
                search_params={"metric_type": metric, "params": params},
                consistency_level="Strong" if self._behind else "Bounded",
                timeout=self._timeout,
            )
        self._behind = False
        return list(hits)

    def _open_collection(self) -> None:
        from pymilvus import MilvusException

        self.ranks_words = ranks_words(self._client.get_server_version(timeout=self._timeout))
        if not self._client.has_collection(self._name, timeout=self._timeout):
            if not self._dimension:
                raise NotIndexedError(f"there is no collection {self._name} on {self._uri}")
            try:
                self._create_collection()
            except MilvusException:
                # Somebody else may have made it in the meantime.
                if not self._client.has_collection(self._name, timeout=self._timeout):
                    raise
        description = self._client.describe_collection(self._name, timeout=self._timeout)
        where = f"the collection {self._name} on {self._uri}"
        check_description(str(dict(description.get("properties") or {}).get("ragloom", "")), where)
        fields = {field["name"]: field for field in description["fields"]}
        missing = {ROW, SHARD, ID, URI, TEXT, VECTOR, EXTRA, METADATA, KEY, HASH} - fields.keys()
        if missing:
            raise StoreError(
                f"{where} was not made by ragloom (it has no "
                f"{', '.join(sorted(missing))}): set store.collection to another beginning"
            )
        self.ranks_words = self.ranks_words and WORDS in fields
        self._check_dimension(int(fields[VECTOR]["params"]["dim"]), where)
        if not self._client.list_indexes(self._name, field_name=VECTOR):
            self._create_collection()  # one that was interrupted: its indexes
        if not self._client.has_collection(self._name + RECORDS, timeout=self._timeout):
            create_records(self._client, self._name, self._timeout)
        for name in (self._name, self._name + RECORDS):
            self._client.load_collection(name, timeout=self._timeout)

    def _check_dimension(self, dimension: int, where: str) -> None:
        if not self._dimension:
            self._dimension = dimension
        if dimension == self._dimension:
            return
        self._client.load_collection(self._name, timeout=self._timeout)
        if self._count(""):
            raise StoreError(
                f"{where} holds vectors of {dimension} numbers, "
                f"and the embedder gives {self._dimension}: index into a new space, or drop this "
                "one and index again"
            )
        self._client.drop_collection(self._name, timeout=self._timeout)  # what another model left
        self._open_collection()

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._dimension

    def _create_collection(self) -> None:
        create_collection(
            self._client,
            self._name,
            dimension=self._dimension,
            index=self._index,
            words=self.ranks_words,
            timeout=self._timeout,
        )

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


def _both(one: str, other: str) -> str:
    return f"({one}) and ({other})" if other else one


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

"""How the collections of a space on a server are made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from ragloom_milvus._rows import (
    EXTRA,
    HASH,
    ID,
    ID_BYTES,
    KEY,
    METADATA,
    PROPERTY,
    ROW,
    ROW_BYTES,
    SHARD,
    TEXT,
    URI,
    VARCHAR_BYTES,
    VECTOR,
    WORDS,
    format_description,
)

if TYPE_CHECKING:
    from pymilvus import MilvusClient

RECORDS: Final = "_records"
"""What the name of the collection of records ends in."""
SPARSE: Final = "sparse"
SHARD_BYTES: Final = 128

_VERSION: Final = re.compile(r"(?<![0-9])v?([0-9]++)\.([0-9]++)")
_FIRST_WITH_BM25: Final = 2, 5


def ranks_words(version: str) -> bool:
    """Whether a server of this version has BM25 functions: https://milvus.io/docs/full-text-search.md."""
    if version.startswith("milvus_lite"):
        return True
    match = _VERSION.search(version)
    return match is not None and (int(match[1]), int(match[2])) >= _FIRST_WITH_BM25


def create_collection(
    client: MilvusClient, name: str, *, dimension: int, index: str, words: bool, timeout: float
) -> None:
    """Create the collection of the chunks, or the indexes that it lacks."""
    from pymilvus import DataType, Function, FunctionType

    if client.has_collection(name, timeout=timeout):
        client.create_index(name, _indexes(client, index, words=words), timeout=timeout)
        return
    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(ROW, DataType.VARCHAR, is_primary=True, max_length=ROW_BYTES)
    schema.add_field(SHARD, DataType.VARCHAR, max_length=SHARD_BYTES, is_partition_key=words)
    for field in (ID, KEY, HASH):
        schema.add_field(field, DataType.VARCHAR, max_length=ID_BYTES)
    for field in (URI, TEXT, EXTRA):
        schema.add_field(field, DataType.VARCHAR, max_length=VARCHAR_BYTES)
    schema.add_field(METADATA, DataType.JSON)
    schema.add_field(VECTOR, DataType.FLOAT_VECTOR, dim=dimension)
    if words:
        schema.add_field(
            WORDS,
            DataType.VARCHAR,
            max_length=VARCHAR_BYTES,
            enable_analyzer=True,
            analyzer_params={"tokenizer": "standard"},  # the words are of letters and digits alone
        )
        schema.add_field(SPARSE, DataType.SPARSE_FLOAT_VECTOR)
        bm25 = Function(
            name="bm25",
            function_type=FunctionType.BM25,
            input_field_names=[WORDS],
            output_field_names=[SPARSE],
        )
        schema.add_function(bm25)
    # Strong: what was written is found by the next call, as in every other store.
    client.create_collection(
        name,
        schema=schema,
        index_params=_indexes(client, index, words=words),
        consistency_level="Strong",
        properties={PROPERTY: format_description()},
        timeout=timeout,
    )


def create_records(client: MilvusClient, name: str, timeout: float) -> None:
    """Create the collection of the records beside that of the chunks; it must have a vector."""
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field(ROW, DataType.VARCHAR, is_primary=True, max_length=ROW_BYTES)
    for field in (SHARD, ID):
        schema.add_field(field, DataType.VARCHAR, max_length=ID_BYTES)
    schema.add_field(TEXT, DataType.VARCHAR, max_length=VARCHAR_BYTES)
    schema.add_field("v", DataType.FLOAT_VECTOR, dim=2)
    params = client.prepare_index_params()
    params.add_index("v", index_type="FLAT", metric_type="COSINE")
    client.create_collection(
        name + RECORDS,
        schema=schema,
        index_params=params,
        consistency_level="Strong",
        timeout=timeout,
    )


def _indexes(client: MilvusClient, index: str, *, words: bool) -> Any:  # noqa: ANN401 - has no public name
    params = client.prepare_index_params()
    build = {"M": 16, "efConstruction": 200} if index == "HNSW" else {}
    params.add_index(VECTOR, index_type=index, metric_type="COSINE", params=build)
    if words:
        params.add_index(
            SPARSE,
            index_type="SPARSE_INVERTED_INDEX",
            metric_type="BM25",
            params={"bm25_k1": 1.2, "bm25_b": 0.75},
        )
    return params

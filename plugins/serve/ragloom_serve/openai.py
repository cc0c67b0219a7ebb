"""The two addresses that clients of OpenAI know: the search of a vector store, and embeddings.

The shapes are those of https://platform.openai.com/docs/api-reference/vector-stores/search and of
https://platform.openai.com/docs/api-reference/embeddings/create.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    import numpy as np

from ragloom import Condition, ConfigError, Hit, Json, Query, Space
from ragloom.config import unknown
from ragloom_mcp.shelf import Shelf
from ragloom_mcp.turn import Turn

_BATCH = 16  # texts that are embedded in one turn, so that searches get theirs in between
_COMPARISONS: Mapping[str, Literal["=", "!=", ">", ">=", "<", "<="]] = {
    "eq": "=",
    "ne": "!=",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
}

SEARCH_TAKES: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "query": {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {"type": "array", "items": {"type": "string"}, "minItems": 1},
            ]
        },
        "max_num_results": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        "filters": {
            "type": "object",
            "description": "eq, ne, gt, gte, lt, lte, in with one value, nin, and 'and' of these.",
        },
        "ranking_options": {
            "type": "object",
            "properties": {
                "ranker": {"type": "string"},
                "score_threshold": {"type": "number", "minimum": 0, "maximum": 1},
            },
        },
        "rewrite_query": {"type": "boolean"},
    },
    "required": ["query"],
}
SEARCH_GIVES: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "object": {"const": "vector_store.search_results.page"},
        "search_query": {"type": "array", "items": {"type": "string"}},
        "data": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "file_id": {"type": "string"},
                    "filename": {"type": "string"},
                    "score": {"type": "number", "description": "The relevance."},
                    "attributes": {"type": "object"},
                    "content": {"type": "array", "items": {"type": "object"}},
                },
                "required": ["file_id", "filename", "score", "attributes", "content"],
            },
        },
        "has_more": {"type": "boolean"},
        "next_page": {"type": "null"},
    },
    "required": ["object", "search_query", "data", "has_more", "next_page"],
}
EMBEDDINGS_TAKE: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "input": {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {
                    "type": "array",
                    "items": {"type": "string", "minLength": 1},
                    "minItems": 1,
                    "maxItems": 2048,
                },
            ]
        },
        "model": {"type": "string", "description": "A space, or an embedder of one."},
        "encoding_format": {"enum": ["float", "base64"], "default": "float"},
        "dimensions": {"type": "integer", "minimum": 1},
        "user": {"type": "string"},
    },
    "required": ["input", "model"],
}
EMBEDDINGS_GIVE: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "object": {"const": "list"},
        "data": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "object": {"const": "embedding"},
                    "index": {"type": "integer"},
                    "embedding": {
                        "anyOf": [
                            {"type": "array", "items": {"type": "number"}},
                            {"type": "string", "description": "float32, little-endian, in base64."},
                        ]
                    },
                },
                "required": ["object", "index", "embedding"],
            },
        },
        "model": {"type": "string"},
        "usage": {"type": "object"},
    },
    "required": ["object", "data", "model", "usage"],
}


def vector_store_search(
    shelf: Shelf, space_name: str, arguments: Mapping[str, Json]
) -> dict[str, Json]:
    """The passages of a space; the score is the relevance.

    Raises:
        ConfigError: There is no such space, or a filter that ragloom has no condition for.
        NotIndexedError: Nothing is indexed yet.
    """
    space = shelf.space(space_name)
    asked = arguments["query"]
    texts = [asked] if isinstance(asked, str) else cast("list[str]", asked)
    ranking = cast("Mapping[str, float]", arguments.get("ranking_options") or {})
    query = Query(
        "\n".join(texts),
        top_k=cast("int", arguments.get("max_num_results", 10)),
        min_relevance=ranking.get("score_threshold"),
        where=list(_conditions(cast("Mapping[str, Any] | None", arguments.get("filters")))),
        per_file=0,
    )
    result = space.search(query)
    return {
        "object": "vector_store.search_results.page",
        "search_query": [result.searched_for or text for text in texts[:1]] + texts[1:],
        "data": [_found(hit) for hit in result.hits],
        "has_more": False,
        "next_page": None,
    }


def _found(hit: Hit) -> Json:
    chunk = hit.chunk
    known = {k: v for k, v in chunk.metadata.items() if isinstance(v, str | int | float | bool)}
    return {
        "file_id": chunk.uri,
        "filename": chunk.uri,
        "score": round(hit.relevance, 6),
        "attributes": {
            **known,
            "path": chunk.uri,
            "start_line": chunk.lines.start,
            "end_line": chunk.lines.end,
        },
        "content": [{"type": "text", "text": chunk.text}],
    }


def _conditions(given: Mapping[str, Any] | None) -> Iterator[Condition]:
    """The conditions of a filter; those of ``and`` one after the other."""
    if not given:
        return
    kind = str(given.get("type"))
    if kind == "and" and isinstance(given.get("filters"), list):
        for one in given["filters"]:
            if not isinstance(one, dict):
                raise ConfigError("filters: 'and' takes a list of filters")
            yield from _conditions(one)
        return
    key, value = given.get("key"), given.get("value")
    if not isinstance(key, str) or "value" not in given:
        raise ConfigError(
            f"filters: {kind!r} is not supported here: use eq, ne, gt, gte, lt, lte, in, nin or and, with "
            "key and value"
        )
    values = value if isinstance(value, list) else [value]
    if kind in _COMPARISONS and not isinstance(value, list):
        yield Condition(field=key, operator=_COMPARISONS[kind], value=value)
    elif kind == "nin":
        for one in values:
            yield Condition(field=key, operator="!=", value=one)
    elif kind == "in" and len(values) == 1:
        yield Condition(field=key, operator="=", value=values[0])
    else:
        raise ConfigError(
            f"filters: {kind!r} with this value is not supported: a filter is eq, ne, gt, gte, lt, lte, "
            "in with one value, nin, or 'and' of these"
        )


def embeddings(shelf: Shelf, turn: Turn, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Vectors of texts, of unit length, as the space compares them.

    Raises:
        ConfigError: There is no such model, or it has another dimension.
        ModelError: The model does not answer.
    """
    model = cast("str", arguments["model"])
    embedder = _space_of(shelf, model).embedder
    dimension = arguments.get("dimensions", embedder.dimension)
    if dimension != embedder.dimension:
        raise ConfigError(f"{model} has {embedder.dimension} dimensions, not {dimension}")
    given = arguments["input"]
    texts = [given] if isinstance(given, str) else cast("list[str]", given)
    rows: list[Json] = []
    for start in range(0, len(texts), _BATCH):
        with turn:
            vectors = embedder.embed_passages(texts[start : start + _BATCH])
        rows += [_encoded(row, arguments.get("encoding_format", "float")) for row in vectors]
    tokens = sum(embedder.counter.count(text) for text in texts)
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": row}
            for index, row in enumerate(rows)
        ],
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }


def _encoded(vector: np.ndarray[Any, np.dtype[np.float32]], form: Json) -> Json:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    return cast("Json", vector.tolist())


def _space_of(shelf: Shelf, model: str) -> Space:
    """The space of that name, or the first whose embedder has it."""
    spaces = shelf.spaces()
    for space in spaces:
        if model == space.name:
            return space
    for space in spaces:
        if model == space.settings.embedder.name:
            return space
    names: Sequence[str] = sorted(
        {one for space in spaces for one in (space.name, space.settings.embedder.name)}
    )
    raise ConfigError(unknown("model", model, names))

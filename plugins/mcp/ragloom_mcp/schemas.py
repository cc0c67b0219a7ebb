"""JSON schemas of what the tools take and give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast, get_args

from ragloom import Json, Mode

MOST_HITS: Final = 50
_MOST_LINES: Final = 2**53  # what JSON keeps exactly


def _object(
    properties: Mapping[str, Json], *required: str, closed: bool = False
) -> Mapping[str, Json]:
    described: dict[str, Json] = {
        "type": "object",
        "properties": dict(properties),
        "required": list(required or properties),
    }
    return described | {"additionalProperties": False} if closed else described


def _taken(properties: Mapping[str, Json], *required: str) -> Mapping[str, Json]:
    return {**_object(properties, closed=True), "required": list(required)}


def _listed(items: Mapping[str, Json]) -> Json:
    return {"type": "array", "items": dict(items)}


def _described(schema: Json, description: str) -> Json:
    return {**cast("dict[str, Json]", schema), "description": description}


_TEXT: Final[Mapping[str, Json]] = {"type": "string"}
_WHOLE: Final[Json] = {"type": "integer", "minimum": 0}
_RELEVANCE: Final[Json] = {"type": "number", "minimum": 0, "maximum": 1}
_LINE: Final[Json] = {"type": "integer", "minimum": 1, "maximum": _MOST_LINES}
_ONE_OR_MORE: Final[Json] = {
    "anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "items": {"type": "string"}}]
}
_SPACE: Final[Json] = _described(
    {"type": "string"}, "The index to search, as list_spaces names it; all of them by default."
)
_LINES: Final[Mapping[str, Json]] = {"start_line": _WHOLE, "end_line": _WHOLE}
_PLACE: Final[Mapping[str, Json]] = {"path": dict(_TEXT), **_LINES}
_OF_A_CHUNK: Final[Mapping[str, Json]] = {
    **_PLACE,
    "relevance": _RELEVANCE,
    "headings": _listed(_TEXT),
}

SEARCH_TAKES: Final = _taken(
    {
        "query": {
            "type": "string",
            "minLength": 1,
            "description": "What to look for: a question or key words.",
        },
        "top_k": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_HITS,
            "description": "Maximum number of passages.",
        },
        "space": _SPACE,
        "path": _described(
            _ONE_OR_MORE, "Only this file or folder, or these, such as docs/adr or src/main.py."
        ),
        "where": _described(
            _ONE_OR_MORE,
            "Conditions on the documents' metadata that every passage meets, such as status=accepted, "
            "date>=2025-01-01 or tags:logging.",
        ),
        "mode": {
            "type": "string",
            "enum": list(get_args(Mode)),
            "description": "hybrid or rrf: by meaning and words; dense: by meaning; lexical: by words, "
            "such as a name or an error message.",
        },
    },
    "query",
)
SEARCH_GIVES: Final = _object(
    {
        "searched_for": _described(
            _TEXT, "The query with its spelling corrected; empty where none was."
        ),
        "pending": _described(
            _WHOLE, "Chunks without an embedding yet, compared by their words alone."
        ),
        "space": dict(_TEXT),
        "generation": _WHOLE,
        "checked": _described(
            {"type": "boolean"}, "Whether every passage was compared with its file as it is now."
        ),
        "reason": _described(
            _TEXT, "Why there are few hits or none; empty where nothing is to say."
        ),
        "closest": {"anyOf": [_object(_OF_A_CHUNK), {"type": "null"}]},
        "hits": _listed(
            _object(
                {
                    "space": dict(_TEXT),
                    **_OF_A_CHUNK,
                    "text": dict(_TEXT),
                    "content_hash": _described(
                        _TEXT, "SHA-256 of the file that was indexed, where nothing was checked."
                    ),
                    "copies": _listed(_object(_PLACE)),
                    "more_in_file": _listed(_object(_LINES)),
                }
            )
        ),
    }
)

SPACES_TAKE: Final = _taken({})
SPACES_GIVE: Final = _object(
    {
        "spaces": _listed(
            _object(
                {
                    "name": dict(_TEXT),
                    "files": _WHOLE,
                    "chunks": _WHOLE,
                    "generation": _described(_WHOLE, "0 where nothing is indexed yet."),
                    "sources": _listed(_TEXT),
                }
            )
        )
    }
)

SOURCE_TAKES: Final = _taken(
    {
        "path": {
            "type": "string",
            "description": "The file, as rag_search names its source; the end of a path will do.",
        },
        "start_line": _described(_LINE, "From 1."),
        "end_line": _described(_LINE, "Inclusive."),
        "space": _SPACE,
    },
    "path",
)
SOURCE_GIVES: Final = _object(
    {
        **_PLACE,
        "text": dict(_TEXT),
        "lines": _described(_WHOLE, "Number of lines of the file."),
        "truncated": {"type": "boolean"},
        "changed": _described(
            {"type": "boolean"}, "Whether the file changed after it was indexed."
        ),
        "from_index": _described(
            {"type": "boolean"},
            "Whether the lines are the index's, as the file is not on this machine.",
        ),
    }
)

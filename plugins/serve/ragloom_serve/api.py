"""What the addresses of ragloom's own answer: from JSON to JSON, and nothing of HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from ragloom import ConfigError, Json, PluginError
from ragloom.context import STRATEGIES, Strategy, closest_json, why_empty
from ragloom_mcp import schemas
from ragloom_mcp.shelf import Shelf
from ragloom_mcp.tools import call, search_json, search_query, wrong_argument

MAX_TOKENS = 4000
_MOST_TOKENS = 200_000

_RELEVANCE: dict[str, Json] = {
    "type": "number",
    "minimum": 0,
    "maximum": 1,
    "description": "What is less relevant is not shown; the setting of the space by default.",
}
_SEARCH = cast("dict[str, Any]", schemas.SEARCH_TAKES)
SEARCH_TAKES: Mapping[str, Json] = {
    **_SEARCH,
    "properties": {**_SEARCH["properties"], "min_relevance": _RELEVANCE},
}
SEARCH_GIVES = schemas.SEARCH_GIVES
CONTEXT_TAKES: Mapping[str, Json] = {
    **_SEARCH,
    "properties": {
        **_SEARCH["properties"],
        "min_relevance": _RELEVANCE,
        "max_tokens": {
            "type": "integer",
            "minimum": 1,
            "maximum": _MOST_TOKENS,
            "default": MAX_TOKENS,
            "description": "Maximum number of tokens of the text.",
        },
        "strategy": {"type": "string", "enum": list(STRATEGIES), "default": "relevance"},
        "format": {
            "type": "string",
            "description": "The formatter of the text, such as markdown or xml; the space's by default.",
        },
    },
}
_KEPT = ("searched_for", "pending", "checked", "reason", "closest")
CONTEXT_GIVES: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "tokens": {"type": "integer"},
        "max_tokens": {"type": "integer"},
        **{key: cast("dict[str, Any]", SEARCH_GIVES["properties"])[key] for key in _KEPT},
        "citations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "start_line": {"type": "integer"},
                    "end_line": {"type": "integer"},
                    "relevance": {"type": "number"},
                    "headings": {"type": "array", "items": {"type": "string"}},
                    "text": {"type": "string"},
                    "content_hash": {"type": "string"},
                    "truncated": {"type": "boolean"},
                },
                "required": ["path", "start_line", "end_line", "relevance", "headings", "text"],
            },
        },
    },
    "required": ["text", "tokens", "max_tokens", *_KEPT, "citations"],
}


@dataclass(frozen=True, slots=True)
class Api:
    """The answers over what is on a shelf.

    Every method raises a :class:`ragloom.RagloomError` where the index does not answer.
    """

    shelf: Shelf

    def search(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """As the tool ``rag_search``."""
        group, query = search_query(self.shelf, arguments)
        return search_json(group, group.search(query))

    def spaces(self) -> dict[str, Json]:
        """As the tool ``list_spaces``."""
        return call(self.shelf, "list_spaces", {}).structured

    def context(self, arguments: Mapping[str, Json]) -> dict[str, Json]:
        """Passages packed into a budget of tokens."""
        group, query = search_query(self.shelf, arguments)
        name = cast("str | None", arguments.get("format"))
        try:
            formatter = group.spaces[0].host.formatter(name) if name else None
        except PluginError as error:  # unknown, or not loaded
            raise ConfigError(str(error)) from error
        packed = group.context(
            replace(query, per_file=0),
            max_tokens=cast("int", arguments.get("max_tokens", MAX_TOKENS)),
            strategy=cast("Strategy", arguments.get("strategy", "relevance")),
            formatter=formatter,
        )
        return {
            "text": packed.text,
            "tokens": packed.tokens,
            "max_tokens": packed.max_tokens,
            "searched_for": packed.searched_for,
            "pending": packed.pending,
            "checked": packed.checked,
            "reason": why_empty(packed),
            "closest": closest_json(packed),
            "citations": [
                {
                    "path": one.path,
                    "start_line": one.lines.start,
                    "end_line": one.lines.end,
                    "relevance": round(one.relevance, 6),
                    "headings": list(one.headings),
                    "text": one.text,
                    "content_hash": one.content_hash,
                    "truncated": one.truncated,
                }
                for one in packed.citations
            ],
        }


def checked(arguments: object, schema: Mapping[str, Json]) -> dict[str, Json]:
    """Arguments that a schema allows.

    Raises:
        ConfigError: They are not; the message names the argument.
    """
    if not isinstance(arguments, dict):
        raise ConfigError("the body is no JSON object")
    if wrong := wrong_argument(arguments, schema):
        raise ConfigError(wrong)
    properties = cast("Mapping[str, Mapping[str, Json]]", schema["properties"])
    return {  # JSON Schema takes 1.0 for an integer
        key: int(value)
        if isinstance(value, float) and properties.get(key, {}).get("type") == "integer"
        else value
        for key, value in arguments.items()
    }

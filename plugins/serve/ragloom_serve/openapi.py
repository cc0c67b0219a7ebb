"""The OpenAPI document of a team's server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import ragloom
from ragloom import Json
from ragloom_mcp.schemas import SPACES_GIVE
from ragloom_serve import openai
from ragloom_serve.api import CONTEXT_GIVES, CONTEXT_TAKES, SEARCH_GIVES, SEARCH_TAKES

_ERRORS = {
    "400": "An argument is missing, unknown or of the wrong kind.",
    "401": "The bearer token is missing or wrong.",
    "403": "A web page of this origin may not ask.",
    "404": "There is no such address, or no vector store of that name.",
    "413": "The body is too large.",
    "421": "The server is not asked by this name.",
    "503": "Nothing is indexed yet, or the index does not answer.",
    "504": "The answer takes too long.",
}


def document() -> dict[str, Json]:
    """All addresses, in OpenAPI 3.1, whose schemas are JSON Schema."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ragloom",
            "version": ragloom.__version__,
            "description": "Search of a team's indexed documents, with citations. MCP is at /mcp.",
        },
        "security": [{"token": []}, {}],
        "paths": {
            "/search": _asked("search", "Search the indexes.", SEARCH_TAKES, SEARCH_GIVES),
            "/context": _asked(
                "context", "Pack passages into a budget of tokens.", CONTEXT_TAKES, CONTEXT_GIVES
            ),
            "/spaces": {"get": _operation("spaces", "List the indexes.", SPACES_GIVE)},
            "/v1/vector_stores/{space}/search": {
                "parameters": [
                    {"name": "space", "in": "path", "required": True, "schema": {"type": "string"}}
                ],
                "post": _posted(
                    "vectorStoreSearch",
                    "Search a space as a vector store of OpenAI.",
                    openai.SEARCH_TAKES,
                    openai.SEARCH_GIVES,
                ),
            },
            "/v1/embeddings": {
                "post": _posted(
                    "embeddings",
                    "Embed texts with the model of a space.",
                    openai.EMBEDDINGS_TAKE,
                    openai.EMBEDDINGS_GIVE,
                )
            },
            "/health": {
                "get": {
                    **_operation(
                        "health",
                        "Whether the process answers; takes no token.",
                        {
                            "type": "object",
                            "properties": {
                                "status": {"const": "ok"},
                                "version": {"type": "string"},
                            },
                            "required": ["status", "version"],
                        },
                    ),
                    "security": [{}],
                }
            },
            "/metrics": {
                "get": {
                    "operationId": "metrics",
                    "summary": "Requests and indexes, for Prometheus.",
                    "responses": {
                        "200": {
                            "description": "Text in the format of Prometheus.",
                            "content": {"text/plain": {"schema": {"type": "string"}}},
                        },
                        **_failures(),
                    },
                }
            },
        },
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                "Error": {
                    "type": "object",
                    "properties": {
                        "error": {
                            "type": "object",
                            "properties": {
                                "message": {"type": "string", "description": "One line."},
                                "type": {"type": "string"},
                                "code": {"type": "integer"},
                            },
                            "required": ["message", "type", "code"],
                        }
                    },
                    "required": ["error"],
                }
            },
        },
    }


def _asked(
    name: str, summary: str, takes: Mapping[str, Json], gives: Mapping[str, Json]
) -> dict[str, Json]:
    """An address that takes its arguments behind a question mark, or as JSON."""
    required = cast("list[str]", takes["required"])
    parameters: list[Json] = [
        {"name": key, "in": "query", "required": key in required, "schema": schema}
        for key, schema in cast("dict[str, Json]", takes["properties"]).items()
    ]
    return {
        "get": {**_operation(name, summary, gives), "parameters": parameters},
        "post": _posted(f"{name}Post", summary, takes, gives),
    }


def _posted(
    name: str, summary: str, takes: Mapping[str, Json], gives: Mapping[str, Json]
) -> dict[str, Json]:
    body: Json = {"required": True, "content": {"application/json": {"schema": dict(takes)}}}
    return {**_operation(name, summary, gives), "requestBody": body}


def _operation(name: str, summary: str, gives: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "operationId": name,
        "summary": summary,
        "responses": {
            "200": {
                "description": "The answer.",
                "content": {"application/json": {"schema": dict(gives)}},
            },
            **_failures(),
        },
    }


def _failures() -> dict[str, Json]:
    schema: Json = {"$ref": "#/components/schemas/Error"}
    return {
        status: {"description": text, "content": {"application/json": {"schema": schema}}}
        for status, text in _ERRORS.items()
    }

"""The application: addresses, the edge at which errors become JSON, and threads that do the work."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ragloom import ConfigError, Json
from ragloom_mcp.access import App, Receive, Scope, Send, error_json
from ragloom_mcp.answering import answered, edge
from ragloom_mcp.server import http_app
from ragloom_mcp.shelf import Shelf
from ragloom_mcp.turn import Turn
from ragloom_serve.api import CONTEXT_TAKES, SEARCH_TAKES, Api, checked
from ragloom_serve.metrics import Metrics
from ragloom_serve.openai import (
    EMBEDDINGS_TAKE,
    embeddings,
    vector_store_search,
)
from ragloom_serve.openai import (
    SEARCH_TAKES as STORE_TAKES,
)
from ragloom_serve.openapi import document

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

_MOST_BYTES = 4 * 2**20  # of a body
_LISTS = ("path", "where")  # arguments that may be repeated in an address


def team_app(shelf: Shelf, turn: Turn | None = None) -> App:
    """All addresses of a team's server over what is on the shelf, without a guard."""
    turn = turn or Turn()
    api, metrics = Api(shelf), Metrics(shelf)
    described = document()

    async def search(request: Request) -> Response:
        given = checked(await _arguments(request, SEARCH_TAKES), SEARCH_TAKES)
        return await answered(partial(api.search, given), turn)

    async def context(request: Request) -> Response:
        given = checked(await _arguments(request, CONTEXT_TAKES), CONTEXT_TAKES)
        return await answered(partial(api.context, given), turn)

    async def spaces(_request: Request) -> Response:
        return await answered(api.spaces, turn, alone=False)

    async def store(request: Request) -> Response:
        given = checked(await _body(request), STORE_TAKES)
        name = request.path_params["space"]
        if name not in await to_thread.run_sync(shelf.names):
            raise HTTPException(404, f"unknown vector store {name!r}: it is the name of a space")
        return await answered(partial(vector_store_search, shelf, name, given), turn)

    async def embed(request: Request) -> Response:
        given = checked(await _body(request), EMBEDDINGS_TAKE)
        return await answered(partial(embeddings, shelf, turn, given), turn, alone=False)

    async def measured(request: Request) -> Response:
        accept = request.headers.get("accept", "")
        content, kind = await to_thread.run_sync(metrics.exposed, accept)
        return Response(content, headers={"content-type": kind})

    async def openapi(_request: Request) -> Response:
        return JSONResponse(described)

    both = ["GET", "POST"]
    routes = [
        Route("/search", edge(search), methods=both),
        Route("/context", edge(context), methods=both),
        Route("/spaces", edge(spaces)),
        Route("/v1/vector_stores/{space}/search", edge(store), methods=["POST"]),
        Route("/v1/embeddings", edge(embed), methods=["POST"]),
        Route("/metrics", edge(measured)),
        Route("/openapi.json", edge(openapi)),
    ]
    app = http_app(shelf, turn=turn, routes=routes)
    app.add_exception_handler(HTTPException, _as_json)
    return _Measured(app, metrics)


class _Measured:
    """Counts and times what an application answers, by its own addresses alone."""

    def __init__(self, app: Starlette, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = perf_counter(), 500

        async def noted(message: dict[str, object]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(str(message["status"]))
            await send(message)

        try:
            await self._app(scope, receive, noted)  # type: ignore[arg-type]
        finally:
            route = scope.get("route")
            path = getattr(route, "path", "other")
            self._metrics.requests.labels(path, str(status)).inc()
            self._metrics.seconds.labels(path).observe(perf_counter() - started)


async def _as_json(_request: Request, error: Exception) -> Response:
    """An address that does not exist, or another method."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    reason = "unknown address: /openapi.json lists all" if status == 404 else str(error)  # noqa: PLR2004
    if status == 405:  # noqa: PLR2004
        reason = "this address does not take this method: /openapi.json has those of each"
    headers = error.headers if isinstance(error, HTTPException) else None
    return JSONResponse(error_json(status, reason), status_code=status, headers=headers)


async def _arguments(request: Request, schema: Mapping[str, Json]) -> Json:
    """The arguments of a request: its body, or what stands behind its address."""
    if request.method == "POST":
        return await _body(request)
    given: dict[str, Json] = {}
    for key, values in {k: request.query_params.getlist(k) for k in request.query_params}.items():
        if key in _LISTS:
            given[key] = list(values)
        elif len(values) > 1:
            raise ConfigError(f"{key} is given {len(values)} times")
        else:
            given[key] = _typed(values[0], schema, key)
    return given


def _typed(text: str, schema: Mapping[str, Json], key: str) -> Json:
    """A number where the schema asks for one and the text is one."""
    properties = schema["properties"]
    described = properties.get(key) if isinstance(properties, dict) else None
    kind = described.get("type") if isinstance(described, dict) else None
    read = {"integer": int, "number": float}.get(str(kind))
    try:
        return text if read is None else read(text)
    except ValueError:
        return text  # and the schema says what is wrong


async def _body(request: Request) -> Json:
    """The body as JSON.

    Raises:
        ConfigError: It is none.
        HTTPException: It is too large.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, f"the body has more than {_MOST_BYTES:,} bytes")
    try:
        return json.loads(bytes(body))  # type: ignore[no-any-return]
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the body is no JSON: {error}") from error

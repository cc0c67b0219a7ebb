"""The application: the page, its assets, and the addresses below ``/api/``."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click
from starlette.applications import Starlette
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import ragloom
from ragloom import ConfigError, Json, Mode, Query, Space, Workspace
from ragloom.cli import editor_command
from ragloom_mcp.access import App
from ragloom_mcp.answering import answered, edge
from ragloom_mcp.shelf import Shelf
from ragloom_mcp.turn import Turn
from ragloom_web import collected, documents, measuring, picture, searching

if TYPE_CHECKING:
    from starlette.requests import Request

_PATIENCE = 300.0  # seconds: whoever waits sees that it works
_PLACES = 100  # at once
_BINARY = "application/octet-stream"
_FACET = "facet."  # begins the arguments that choose values of front matter
_WITH_WINDOWS = {
    *("code", "codium", "cursor", "windsurf", "zed", "zeditor", "subl", "gvim", "gedit", "kate"),
    *("idea", "pycharm", "goland", "webstorm", "clion", "mate", "emacsclient", "notepad"),
}
"""Editors that need no terminal."""

Answer = Callable[["Request"], Json | Response]


def page_app(workspace: Workspace, shelf: Shelf) -> App:
    """The page over the spaces of a shelf, without a guard."""
    turn = Turn(_PATIENCE)
    page = _Page(workspace, shelf, turn)
    assets = files("ragloom_web").joinpath("assets")

    async def index(_request: Request) -> Response:
        return FileResponse(str(assets.joinpath("index.html")))

    def of(answer: Answer, *, alone: bool = True) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            return await answered(lambda: answer(request), turn, alone=alone)

        return edge(endpoint)

    return Starlette(
        routes=[
            Route("/", index),
            Mount("/assets", StaticFiles(directory=str(assets))),
            Route("/api/state", of(page.state, alone=False)),
            Route("/api/search", of(page.search)),
            Route("/api/why", of(page.why)),
            Route("/api/files", of(page.files, alone=False)),
            Route("/api/document", of(page.document)),
            Route("/api/neighbours", of(page.neighbours, alone=False)),
            Route("/api/map", of(page.map, alone=False)),
            Route("/api/marks", of(page.marks, alone=False)),
            Route("/api/places", of(page.places, alone=False)),
            Route("/api/relevance", of(page.relevance)),
            Route("/api/measure", of(page.measure), methods=["POST"]),
            Route("/api/lessons", of(page.lessons, alone=False)),
            Route("/api/templates", of(page.templates, alone=False)),
            Route("/api/audit", of(page.audit, alone=False)),
            Route("/api/open", of(page.open, alone=False), methods=["POST"]),
        ]
    )


class _Page:
    """What the addresses answer."""

    def __init__(self, workspace: Workspace, shelf: Shelf, turn: Turn) -> None:
        self._workspace = workspace
        self._shelf = shelf
        self._measurements = measuring.Measurements(turn)
        self._picture: dict[str, tuple[int, Response]] = {}
        self._marks: dict[str, tuple[int, Response]] = {}

    def state(self, _request: Request) -> Json:
        """The spaces, and what the page needs before anything is asked."""
        return {
            "version": ragloom.__version__,
            "workspace": self._workspace.root.name,
            "spaces": [_space(space) for space in map(self._shelf.space, self._shelf.names())],
        }

    def search(self, request: Request) -> Json:
        """One query."""
        return searching.search(self._space(request), _query(request))

    def why(self, request: Request) -> Json:
        """Why a file is found, or not."""
        return searching.why(self._space(request), _query(request), _argument(request, "path"))

    def files(self, request: Request) -> Json:
        """The files of a space."""
        return documents.files(self._space(request))

    def document(self, request: Request) -> Json:
        """A file."""
        return documents.document(self._space(request), _argument(request, "path"))

    def neighbours(self, request: Request) -> Json:
        """What is nearest to a chunk."""
        return documents.neighbours(self._space(request), _number(request, "row"))

    def places(self, request: Request) -> Json:
        """Where chunks of the map stand."""
        snapshot = self._space(request).snapshot()
        rows = [
            row for text in request.query_params.getlist("row")[:_PLACES] for row in _rows(text)
        ]
        if any(row >= len(snapshot) for row in rows):
            raise ConfigError("unknown chunk: the index has been rebuilt since; reload the page")
        return {"places": [documents.place(snapshot, row) for row in rows]}

    def map(self, request: Request) -> Response:
        """The positions of all chunks, binary."""
        space = self._space(request)
        known = self._picture.get(space.name)
        if known is None or known[0] != space.generation:
            made = picture.picture_of(space)
            headers = {"x-explained": f"{made.explained:.3f}"}
            answer = Response(made.bytes(), headers=headers, media_type=_BINARY)
            self._picture[space.name] = known = (made.generation, answer)
        return known[1]

    def marks(self, request: Request) -> Response:
        """A byte for each chunk: duplicate, outlier, without a vector."""
        space = self._space(request)
        known = self._marks.get(space.name)
        if known is None or known[0] != space.generation:
            generation = space.generation
            answer = Response(picture.marks_of(space).tobytes(), media_type=_BINARY)
            self._marks[space.name] = known = (generation, answer)
        return known[1]

    def relevance(self, request: Request) -> Json:
        """What is measured, and the evaluations."""
        space = self._space(request)
        return measuring.relevance(self._workspace, space, self._measurements.of(space))

    def measure(self, request: Request) -> Json:
        """Begin to measure."""
        self._measurements.start(self._space(request))
        return {"started": True}

    def lessons(self, _request: Request) -> Json:
        """The lessons."""
        return collected.lessons(self._workspace)

    def templates(self, _request: Request) -> Json:
        """The templates."""
        return collected.templates(self._workspace)

    def audit(self, _request: Request) -> Json:
        """The audit log."""
        return collected.audit(self._workspace)

    def open(self, request: Request) -> Json:
        """Open a line of an indexed file in the user's editor; one that needs a terminal is only named."""
        space, path = self._space(request), _argument(request, "path")
        documents.indexed(space, path)
        try:
            command = editor_command(space.root / path, max(_number(request, "line"), 1))
        except click.UsageError as error:
            raise ConfigError(error.message) from error
        if Path(command[0]).stem.casefold() not in _WITH_WINDOWS:
            return {"opened": False, "command": shlex.join(command)}
        try:
            subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)  # noqa: S603 - the user's own editor
        except OSError as error:
            raise ConfigError(f"the editor {command[0]!r} cannot be started: {error}") from error
        return {"opened": True, "command": shlex.join(command)}

    def _space(self, request: Request) -> Space:
        name = request.query_params.get("space") or next(iter(self._shelf.names()), "default")
        return self._shelf.space(name)


def _space(space: Space) -> Json:
    settings = space.settings
    known: dict[str, Json] = {
        "name": space.name,
        "generation": space.generation,
        "min_relevance": settings.min_relevance,
        "top_k": settings.top_k,
        "mode": settings.mode,
    }
    if not space.generation:
        return {**known, "files": 0, "chunks": 0}
    snapshot = space.snapshot()
    return {**known, "files": len(snapshot.files), "chunks": len(snapshot)}


def _query(request: Request) -> Query:
    given = request.query_params
    facets = {
        key.removeprefix(_FACET): given.getlist(key) for key in given if key.startswith(_FACET)
    }
    return Query(
        _argument(request, "q"),
        top_k=_number(request, "top_k") if "top_k" in given else None,
        mode=cast("Mode | None", given.get("mode") or None),
        where=searching.conditions([one for one in given.getlist("where") if one], facets),
    )


def _argument(request: Request, name: str) -> str:
    value = request.query_params.get(name, "")
    if not value.strip():
        raise ConfigError(f"{name} is missing")
    return str(value)


def _rows(text: str) -> list[int]:
    if not text.isdecimal():
        raise ConfigError(f"row: expected a whole number, found {text!r}")
    return [int(text)]


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    try:
        return int(text)
    except ValueError as error:
        raise ConfigError(f"{name}: expected a whole number, found {text!r}") from error

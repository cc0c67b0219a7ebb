"""Indexed files as resources, which a user adds to a conversation in their client."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from heapq import nsmallest
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import anyio
import mcp.types as protocol
from anyio import to_thread
from mcp import MCPError

from ragloom import RagloomError
from ragloom_mcp.excerpts import whole_text
from ragloom_mcp.shelf import Shelf
from ragloom_mcp.turn import TIMEOUT

if TYPE_CHECKING:
    from mcp.server import Server, ServerRequestContext

SCHEME = "ragloom:///"

_AT_ONCE = 500  # resources of a page
_MARKDOWN = (".md", ".markdown", ".mdx")


def serve_resources(server: Server[dict[str, object]], shelf: Shelf) -> None:
    """Let ``server`` list and read the indexed files of what is on the shelf."""

    async def list_resources(
        _context: ServerRequestContext[dict[str, object]],
        params: protocol.PaginatedRequestParams | None,
    ) -> protocol.ListResourcesResult:
        after = (params.cursor if params else None) or ""
        found = await to_thread.run_sync(lambda: _page(shelf, after), abandon_on_cancel=True)
        last = found[_AT_ONCE - 1].uri if len(found) > _AT_ONCE else None
        return protocol.ListResourcesResult(resources=found[:_AT_ONCE], next_cursor=last)

    async def list_templates(
        _context: ServerRequestContext[dict[str, object]],
        _params: protocol.PaginatedRequestParams | None,
    ) -> protocol.ListResourceTemplatesResult:
        template = protocol.ResourceTemplate(
            uri_template=SCHEME + "{space}/{+path}",
            name="indexed file",
            description="A file of an index, by the space and the path that rag_search names.",
        )
        return protocol.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        _context: ServerRequestContext[dict[str, object]],
        params: protocol.ReadResourceRequestParams,
    ) -> protocol.ReadResourceResult:
        uri = str(params.uri)
        try:
            with anyio.fail_after(TIMEOUT):
                text = await to_thread.run_sync(lambda: _text(shelf, uri), abandon_on_cancel=True)
        except TimeoutError as error:
            raise MCPError(protocol.INTERNAL_ERROR, f"{uri} was not read in time") from error
        except RagloomError as error:
            raise MCPError(protocol.INVALID_PARAMS, str(error)) from error
        content = protocol.TextResourceContents(uri=params.uri, mime_type=_kind(uri), text=text)
        return protocol.ReadResourceResult(contents=[content])

    paged = protocol.PaginatedRequestParams
    server.add_request_handler("resources/list", paged, list_resources)
    server.add_request_handler("resources/templates/list", paged, list_templates)
    server.add_request_handler("resources/read", protocol.ReadResourceRequestParams, read_resource)


def resource_uri(space: str, path: str) -> str:
    """The address of a file of a space."""
    return f"{SCHEME}{quote(space, safe='')}/{quote(path)}"


def _page(shelf: Shelf, after: str) -> list[protocol.Resource]:
    """One more than a page of what comes after an address."""
    known = ((resource_uri(space, path), space, path) for space, path in _files(shelf))
    return [
        protocol.Resource(uri=uri, name=path, title=f"{path} ({space})", mime_type=_kind(path))
        for uri, space, path in nsmallest(_AT_ONCE + 1, (one for one in known if one[0] > after))
    ]


def _files(shelf: Shelf) -> Iterator[tuple[str, str]]:
    for name in shelf.names():
        with suppress(RagloomError):
            for path in shelf.space(name).snapshot().files:
                yield name, path


def _text(shelf: Shelf, uri: str) -> str:
    space, _, path = uri.removeprefix(SCHEME).partition("/")
    return whole_text(shelf.space(unquote(space)), unquote(path))


def _kind(path: str) -> str:
    return "text/markdown" if path.lower().endswith(_MARKDOWN) else "text/plain"

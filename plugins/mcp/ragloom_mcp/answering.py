"""What the addresses of a server have in common: the edge at which errors become JSON, and threads."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from ragloom import ConfigError, Json, NotIndexedError, RagloomError, SourceError
from ragloom_mcp.access import error_json
from ragloom_mcp.turn import Turn

if TYPE_CHECKING:
    from starlette.requests import Request

_LOG = logging.getLogger("ragloom")

Answer = Callable[[], Json | Response]


async def answered(answer: Answer, turn: Turn, *, alone: bool = True) -> Response:
    """What a thread answers, as JSON or as it is, in its turn where it runs ``alone``."""

    def run() -> Json | Response:
        with turn if alone else nullcontext():
            return answer()

    with anyio.fail_after(turn.timeout):
        given = await to_thread.run_sync(run, abandon_on_cancel=True)
    return given if isinstance(given, Response) else JSONResponse(given)


def edge(
    endpoint: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """``endpoint`` with every error as one line of JSON."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except HTTPException as error:
            status, reason = error.status_code, error.detail
        except NotIndexedError as error:
            status, reason = 503, str(error)
        except (ConfigError, SourceError) as error:
            status, reason = 400, str(error)
        except TimeoutError:
            status, reason = 504, "no answer in time"
        except RagloomError as error:
            status, reason = 503, str(error)
        except Exception as error:  # noqa: BLE001 - the edge: a client waits for its answer
            status, reason = 500, f"{type(error).__name__}: {error}"
            _LOG.error("%s failed: %s", request.url.path, " ".join(reason.split()))
        return JSONResponse(error_json(status, reason), status_code=status)

    return answer

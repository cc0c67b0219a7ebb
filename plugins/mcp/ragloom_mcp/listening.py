"""Serving an application over HTTP: the options of the commands that do, and the loop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from ragloom.cli import Session
from ragloom_mcp.access import LOOPBACK, Access, App, Guard, address_of, read_token

F = TypeVar("F", bound=Callable[..., Any])

PORT = 8765

_GRACE = 10  # seconds that requests under way have when the server is told to stop
_BACKLOG = 2048


def access_options(variable: str) -> Callable[[F], F]:
    """``--host``, ``--port``, ``--token-file``, ``--allow-host`` and ``--allow-origin`` of a command.

    Args:
        variable: Holds the token where no file is named.
    """

    def decorated(command: F) -> F:
        for option in reversed(
            (
                click.option(
                    "--host",
                    metavar="ADDRESS",
                    default=LOOPBACK,
                    show_default=True,
                    help="The address to listen on; 0.0.0.0 is all of this machine, and needs a token.",
                ),
                click.option(
                    "--port",
                    metavar="N",
                    type=click.IntRange(0, 65535),
                    default=PORT,
                    show_default=True,
                    help="The port; 0 is any that is free.",
                ),
                click.option(
                    "--token-file",
                    metavar="FILE",
                    type=click.Path(path_type=Path),
                    help=f"Ask for the bearer token in this file, or else in the variable {variable}.",
                ),
                click.option(
                    "--allow-host",
                    metavar="NAME",
                    multiple=True,
                    help="Answer requests to this name, beside localhost; * for any.",
                ),
                click.option(
                    "--allow-origin",
                    metavar="URL",
                    multiple=True,
                    help="Answer web pages of this origin, beside those of localhost; * for any.",
                ),
            )
        ):
            command = option(command)
        return command

    return decorated


def access_of(
    host: str,
    token_file: Path | None,
    allow_host: Sequence[str],
    allow_origin: Sequence[str],
    environment_token: str,
) -> Access:
    """Who may ask, from the options of :func:`access_options`.

    Raises:
        ConfigError: The file cannot be read, or what is asked for is not safe.
    """
    token = read_token(token_file) if token_file else environment_token.strip()
    return Access(host=host, token=token, hosts=allow_host, origins=allow_origin)


def announce(session: Session, listener: socket.socket, access: Access, path: str = "") -> None:
    """Say on stderr where the server is, and who may ask."""
    session.note(f"serving {address_of(listener)}{path}")
    if access.host != LOOPBACK and not access.hosts:
        session.note("only requests to localhost are answered: name this machine with --allow-host")


def run(app: App, listener: socket.socket, access: Access) -> None:
    """Serve until the process is told to stop; then finish the requests that are under way."""
    import uvicorn

    config = uvicorn.Config(
        Guard(app, access),
        log_level="warning",
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=30,
    )
    with _stopped_quietly():
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def _stopped_quietly() -> Iterator[None]:
    """Let SIGTERM and Ctrl-C end a server without a failure: uvicorn raises them once more at its end."""
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda *_: None) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)

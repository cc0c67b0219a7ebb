"""Serving an application over HTTP: the options of the commands that do, and the loop."""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import click

from ragloom.cli import Session
from ragloom_mcp.access import LOOPBACK, Access, App, Guard, address_of, read_token

T = TypeVar("T")

PORT = 8765

_GRACE = 10  # seconds that requests under way have when the server is told to stop
_BACKLOG = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the options of :func:`access_options` say.

    Attributes:
        host: The address to listen on.
        port: 0 for any that is free.
        token_file: Holds the token.
        hosts: Allowed names.
        origins: Allowed origins.
        variable: Of the environment; holds the token where no file is named.
    """

    host: str
    port: int
    token_file: Path | None
    hosts: Sequence[str]
    origins: Sequence[str]
    variable: str

    @property
    def any(self) -> bool:
        """Whether one of the options was given, beside the port."""
        return bool(self.token_file or self.hosts or self.origins or self.host != LOOPBACK)

    def access(self) -> Access:
        """Who may ask.

        Raises:
            ConfigError: The file cannot be read, or the options are not safe.
        """
        file = self.token_file
        token = read_token(file) if file else os.environ.get(self.variable, "").strip()
        return Access(host=self.host, token=token, hosts=self.hosts, origins=self.origins)


def access_options(variable: str) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Options of a command that serves, which it gets as ``asked``, an :class:`Asked`.

    Args:
        variable: Holds the token where no file is named.
    """
    options = (
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
            "hosts",
            metavar="NAME",
            multiple=True,
            help="Answer requests to this name, beside localhost; * for any.",
        ),
        click.option(
            "--allow-origin",
            "origins",
            metavar="URL",
            multiple=True,
            help="Answer web pages of this origin, beside those of localhost; * for any.",
        ),
    )

    def decorated(command: Callable[..., T]) -> Callable[..., T]:
        @wraps(command)
        def with_access(
            *arguments: object,
            host: str,
            port: int,
            token_file: Path | None,
            hosts: Sequence[str],
            origins: Sequence[str],
            **given: object,
        ) -> T:
            asked = Asked(
                host=host,
                port=port,
                token_file=token_file,
                hosts=hosts,
                origins=origins,
                variable=variable,
            )
            return command(*arguments, asked=asked, **given)

        for option in reversed(options):
            with_access = option(with_access)
        return with_access

    return decorated


def announce(session: Session, listener: socket.socket, access: Access, path: str = "") -> None:
    """Say on stderr where the server is, and who may ask."""
    session.note(f"serving {address_of(listener)}{path}")
    if access.beyond_loopback and not access.hosts:
        session.note("only requests to localhost are answered: name this machine with --allow-host")


def run(app: App, listener: socket.socket, access: Access) -> None:
    """Serve those who may ask, as :func:`serve_until_stopped` does."""
    serve_until_stopped(Guard(app, access), listener)


def serve_until_stopped(app: App, listener: socket.socket) -> None:
    """Serve until the process is told to stop; then finish the requests that are under way."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        backlog=_BACKLOG,
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=30,
    )
    with _stopped_quietly():
        uvicorn.Server(config).run(sockets=[listener])


def import_quickly(module: str) -> None:
    """Import what makes thousands of objects that stay, without looking for garbage among them.

    The SDK's types alone take a sixth less processor time.
    """
    gc.disable()
    try:
        import_module(module)
    finally:
        gc.enable()
        gc.freeze()


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

"""Who may ask a server over HTTP: an address to listen on, a bearer token, hosts and origins."""

from __future__ import annotations

import hmac
import json
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from ragloom import ConfigError

LOOPBACK = "127.0.0.1"

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")
_SHORTEST_TOKEN = 16  # characters: fewer can be tried one after the other
_ANY = "*"
_PUBLIC = ("/health",)  # without a token: whoever watches a container has none

_KINDS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who may ask.

    Attributes:
        host: The address to listen on.
        token: What a request has to bear; empty for none, on loopback only.
        hosts: Names that requests may address the server by, beside loopback's and ``host``; ``*`` for any.
        origins: Origins of web pages that may ask, beside those on this machine; ``*`` for any.

    Raises:
        ConfigError: The address is beyond loopback and there is no token, or the token is too short.
    """

    host: str = LOOPBACK
    token: str = ""
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check what belongs together."""
        if not self.token and self.beyond_loopback:
            raise ConfigError(
                f"{self.host} is reachable from other machines: give a token with --token-file, or "
                f"listen on {LOOPBACK}"
            )
        if self.token and len(self.token) < _SHORTEST_TOKEN:
            raise ConfigError(
                f"the token has {len(self.token)} characters; it takes {_SHORTEST_TOKEN} at least: "
                "openssl rand -hex 32 makes one"
            )
        if not self.token.isascii() or any(c.isspace() for c in self.token):
            raise ConfigError(
                "the token holds blanks or letters beyond ASCII, which no header carries"
            )
        for origin in self.origins:
            if origin != _ANY and (not urlsplit(origin).scheme or urlsplit(origin).path):
                raise ConfigError(f"{origin!r} is no origin: write https://docs.example.org, or *")

    @property
    def beyond_loopback(self) -> bool:
        """Whether other machines reach the server."""
        return not _is_loopback(self.host)

    def refusal(self, host: str, origin: str, authorization: str, path: str) -> tuple[int, str]:
        """A status and a reason; 0 where the request is let through.

        Args:
            host: The header ``Host``.
            origin: The header ``Origin``; empty where there is none.
            authorization: The header ``Authorization``.
            path: The requested path.
        """
        if "@" in host or not self._knows(_hostname(f"//{host}")):
            return (
                421,
                f"host {_short(host)} is not served here: start with --allow-host to allow it",
            )
        if origin and not self._trusts(origin):
            return (
                403,
                f"origin {_short(origin)} may not ask: start with --allow-origin to allow it",
            )
        if self.token and path not in _PUBLIC and not self._admits(authorization):
            return 401, "the header 'Authorization: Bearer TOKEN' is missing, or its token is wrong"
        return 0, ""

    def _knows(self, name: str) -> bool:
        known = {*_LOOPBACK_NAMES, self.host, *map(str.casefold, self.hosts)}
        return _ANY in known or name in known

    def _trusts(self, origin: str) -> bool:
        allowed = {one.casefold() for one in self.origins}
        local = urlsplit(origin).scheme in ("http", "https") and (
            _hostname(origin) in _LOOPBACK_NAMES
        )
        return local or _ANY in allowed or origin.casefold() in allowed

    def _admits(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        same = hmac.compare_digest(given.strip().encode(), self.token.encode())
        return same and scheme.casefold() == "bearer"


class Guard:
    """Lets a request through to an ASGI application, or refuses it in one line of JSON.

    It also answers what browsers ask before a request of an allowed origin, and gives its answers the
    headers that let the page read them.
    """

    def __init__(self, app: App, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; what is no request of HTTP, such as the start and the end, passes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        origin = headers.get("origin", "")
        preflight = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        authorization = (
            f"Bearer {self._access.token}" if preflight else headers.get("authorization", "")
        )
        status, reason = self._access.refusal(
            headers.get("host", ""), origin, authorization, scope["path"]
        )
        if status:
            more = [(b"www-authenticate", b"Bearer")] if status == 401 else []  # noqa: PLR2004
            await respond(send, status, error_json(status, reason), more)
            return
        if not origin:
            await self._app(scope, receive, send)
            return
        readable = [
            (b"access-control-allow-origin", origin.encode("latin-1")),
            (b"access-control-expose-headers", b"mcp-session-id"),
            (b"vary", b"origin"),
        ]
        if preflight:
            asked = headers.get("access-control-request-headers", "")
            allowed = [
                (b"access-control-allow-methods", b"GET, POST, DELETE, OPTIONS"),
                (b"access-control-allow-headers", asked.encode("latin-1")),
                (b"access-control-max-age", b"600"),
            ]
            await respond(send, 204, None, [*readable, *allowed])
            return

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *readable]
            await send(message)

        await self._app(scope, receive, with_headers)


def error_json(status: int, reason: str) -> dict[str, object]:
    """An error as every address of a server has it, and OpenAI's clients read it."""
    kind = _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error")  # noqa: PLR2004
    return {"error": {"message": " ".join(reason.split()), "type": kind, "code": status}}


async def respond(
    send: Send, status: int, content: object, headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send a whole answer: JSON, or with None no content."""
    body = b"" if content is None else json.dumps(content).encode() + b"\n"
    described = [] if content is None else [(b"content-type", b"application/json")]
    size = (b"content-length", str(len(body)).encode())
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [*described, size, *headers]})
    await send({"type": "http.response.body", "body": body})


def read_token(path: Path) -> str:
    """The token in a file: its only line.

    Raises:
        ConfigError: The file cannot be read, or is empty.
    """
    try:
        token = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"{path}: the token cannot be read: {reason}") from error
    if not token:
        raise ConfigError(f"{path} is empty: openssl rand -hex 32 > {path} makes a token")
    return token


def listen(port: int, host: str = LOOPBACK) -> socket.socket:
    """A socket that listens on one address of this machine; port 0 is any that is free.

    Raises:
        ConfigError: The address is not this machine's, or the port is taken.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot listen on {host}:{port}: {reason}") from error


def address_of(listener: socket.socket) -> str:
    """``http://127.0.0.1:8765``."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _hostname(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:80]}…")  # noqa: PLR2004

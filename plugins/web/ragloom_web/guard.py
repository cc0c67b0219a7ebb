"""Who may use the page: one browser, which the token in the address makes known, and no other page."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qsl, urlencode

from ragloom_mcp.access import App, Receive, Scope, Send, error_json, respond

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
"""Of every answer: nothing is loaded from elsewhere, framed, kept, or taken for a script."""

_OWN = ("same-origin", "none")  # Sec-Fetch-Site: the page itself, and whoever types its address


class PageGuard:
    """Lets the requests of one browser through to an ASGI application.

    The first request with the token gets a cookie in its place; from then on the token is worth nothing.

    Args:
        app: What is guarded.
        port: On which it is served.

    Attributes:
        token: What the first address has to bear.
    """

    def __init__(self, app: App, port: int) -> None:
        self._app = app
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._name = f"ragloom-{port}"  # cookies know no port
        self.token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; what is no request of HTTP, such as the start and the end, passes."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }

        async def secured(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_encoded(HEADERS.items())]
            await send(message)

        status, reason = self._refusal(headers)
        if status:
            await respond(secured, status, error_json(status, reason))
        elif self._knows(headers.get("cookie", "")):
            await self._app(scope, receive, secured)
        elif self._admits(scope):
            await respond(secured, 303, None, self._welcome(scope))
        else:
            reason = (
                "this address is used up, or has no token: open the one that 'ragloom ui' prints"
            )
            await respond(secured, 401, error_json(401, reason))

    def _refusal(self, headers: MutableMapping[str, str]) -> tuple[int, str]:
        if headers.get("host", "") not in self._hosts:
            return 421, "the page is not served under this name: open the address that was printed"
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self._hosts}:
            return 403, "only the page itself may ask"
        site = headers.get("sec-fetch-site", "none")
        if site not in _OWN and headers.get("sec-fetch-mode") != "navigate":
            return 403, "only the page itself may ask"
        return 0, ""

    def _knows(self, cookie: str) -> bool:
        try:
            given = SimpleCookie(cookie).get(self._name)
        except CookieError:
            return False
        return given is not None and hmac.compare_digest(
            given.value.encode(), self._session.encode()
        )

    def _admits(self, scope: Scope) -> bool:
        if self._used or scope["method"] != "GET" or scope["path"] != "/":
            return False
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        self._used = hmac.compare_digest(given.encode(), self.token.encode())
        return self._used

    def _welcome(self, scope: Scope) -> Iterable[tuple[bytes, bytes]]:
        """The headers that set the cookie and lead to the address without its token."""
        query = scope["query_string"].decode("latin-1")
        left = urlencode([(key, value) for key, value in parse_qsl(query) if key != "token"])
        return _encoded(
            [
                ("set-cookie", f"{self._name}={self._session}; Path=/; HttpOnly; SameSite=Strict"),
                ("location", f"/?{left}" if left else "/"),
            ]
        )


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]

"""Requests that are retried with growing delays while the server is busy."""

from __future__ import annotations

import json
import os
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any

from ragloom import ConfigError, ModelError

from ragloom_openai import OpenAIOptions

_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504}
_LONGEST_WAIT = 60.0


class Service:
    """One server; keys come from the environment when a request is made, and stand in no message."""

    def __init__(
        self, options: OpenAIOptions, *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        if not options.url.startswith(("http://", "https://")):
            raise ConfigError(f"embedder 'openai': url {options.url!r} must begin with http(s)://")
        self._options = options
        self._sleep = sleep

    def post(self, path: str, body: Mapping[str, object]) -> Any:
        """The response, parsed.

        Raises:
            ModelError: The server refuses, or is still busy after the last retry.
        """
        address = f"{self._options.url.rstrip('/')}/{path}"
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key := os.environ.get(self._options.key_env):
            headers["Authorization"] = f"Bearer {key}"
        content = json.dumps(body).encode()
        for attempt in range(self._options.retries + 1):
            request = urllib.request.Request(address, content, headers)  # noqa: S310 - checked above
            wait: float | None = None
            try:
                with urllib.request.urlopen(request, timeout=self._options.timeout) as answer:  # noqa: S310
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                said = _said(error)
                if error.code not in _AGAIN:
                    raise ModelError(f"{address} refused: {error.code} {said}") from error
                problem, wait = f"{error.code} {said}", _wait(error.headers.get("Retry-After"))
            except (urllib.error.URLError, HTTPException, OSError) as error:
                problem = str(getattr(error, "reason", error))
            except ValueError as error:
                raise ModelError(f"{address} answered with what is no JSON") from error
            if attempt < self._options.retries:
                # Twice as long each time, and not for everybody at the same moment.
                backed_off = 0.5 * 2**attempt * (1 + random.random() / 4)  # noqa: S311
                self._sleep(min(_LONGEST_WAIT, wait if wait is not None else backed_off))
        raise ModelError(f"{address} did not answer {self._options.retries + 1} times: {problem}")


def _said(error: urllib.error.HTTPError) -> str:
    """The server's own message, in one line."""
    try:
        content = error.read(2000).decode("utf-8", "replace")
    except (OSError, HTTPException):
        return ""
    return " ".join(content.split())[:300]


def _wait(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None

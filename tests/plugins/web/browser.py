"""A headless Chromium, Debian's, and what tests and scripts do with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

ESCAPE = "\x1b[31mred\x1b[0m \x1b]0;owned\x07 \x9b2J"
HOSTILE_NAME = "a<img src=x onerror=window.pwned=1>\x1b[31m.md"
HOSTILE = f"""---
title: "<script>window.pwned=2</script>"
status: "<b onmouseover=window.pwned=3>draft</b>"
---
# Hostile <script>window.pwned=4</script> heading {ESCAPE}

Zeppelins are moored with <img src=x onerror="window.pwned=5"> ropes {ESCAPE}
and a \u202egnirts desrever\u202c.

</pre></div></main><script>window.pwned=6</script><style>body{{display:none}}</style>
"""

Browser: TypeAlias = Any  # selenium ships types of its own, which tests do without

_IDLE = "return document.body.dataset.ready !== undefined && window.pending === 0"
_COUNTED = """
window.pending = 0;
const fetched = window.fetch;
window.fetch = (...given) => {
  window.pending += 1;
  return fetched(...given).finally(() => setTimeout(() => { window.pending -= 1; }, 30));
};
"""


@contextmanager
def chromium(*arguments: str) -> Iterator[Browser]:
    """A browser that logs every request that it makes."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", *arguments):
        options.add_argument(argument)
    for argument in (
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    try:
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": _COUNTED})
        yield driver
    finally:
        driver.quit()


@contextmanager
def page_of(project: Path, *arguments: str, **variables: str) -> Iterator[tuple[str, int]]:
    """The address that ``ragloom ui`` prints, and the id of its process."""
    import os

    command = [sys.executable, "-m", "ragloom", "-C", str(project), "ui", "--no-browser"]
    with subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=dict(os.environ) | variables,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()
            process.wait(30)


def settle(driver: Browser, seconds: float = 30) -> None:
    """Wait until the page has asked for all it needs, and has it."""
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, seconds, poll_frequency=0.05).until(lambda one: one.execute_script(_IDLE))


def visit(driver: Browser, url: str) -> None:
    """Open an address of the page, and wait for it."""
    driver.get(url)
    settle(driver)


def size_of(driver: Browser, width: int, height: int = 900) -> None:
    """Give the page exactly this size."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )


def theme_of(driver: Browser, theme: str) -> None:
    """``dark`` or ``light``, as the system would say it."""
    feature = {"name": "prefers-color-scheme", "value": theme}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})


def requested(driver: Browser) -> list[str]:
    """The addresses that pages have asked for since the last call."""
    entries = [json.loads(one["message"])["message"] for one in driver.get_log("performance")]
    return [
        entry["params"]["request"]["url"]
        for entry in entries
        if entry["method"] == "Network.requestWillBeSent"
    ]


def complaints(driver: Browser) -> list[str]:
    """What the console has of errors and of the content security policy, since the last call."""
    return [
        one["message"]
        for one in driver.get_log("browser")
        if one["level"] == "SEVERE" and "favicon" not in one["message"]
    ]


def memory_of(process: int) -> float:
    """The most memory that a process has had, in MB (of a million bytes)."""
    status = Path(f"/proc/{process}/status").read_text("ascii", "replace")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(peak.split()[1]) * 1024 / 1e6


class Client:
    """A browser without a browser: it keeps the cookie that it is given."""

    def __init__(self, url: str) -> None:
        self.netloc = urlsplit(url).netloc
        self.first = url.removeprefix(f"http://{self.netloc}")
        self.cookie = ""

    def ask(self, path, method="GET", **headers):
        """The status, the headers and the body of an answer."""
        connection = HTTPConnection(self.netloc, timeout=60)
        given = {"Cookie": self.cookie} if self.cookie else {}
        connection.request(method, path, headers={**given, **headers})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def enter(self):
        """Use the token."""
        status, headers, _ = self.ask(self.first)
        assert status == 303
        self.cookie = headers["set-cookie"].partition(";")[0]
        return headers

    def json(self, path, method="GET"):
        status, _, body = self.ask(path, method)
        return status, json.loads(body)

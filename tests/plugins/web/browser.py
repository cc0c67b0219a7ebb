"""A headless Chromium, Debian's, and what tests and scripts do with it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

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
    for argument in ("--disable-background-networking", "--disable-component-update", "--no-first-run"):
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

"""A server of the session's own."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address of ``chroma run``, stopped when the tests end."""
    folder = tmp_path_factory.mktemp("chroma-server")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    chroma = Path(sys.executable).with_name("chroma")
    command = str(chroma) if chroma.exists() else shutil.which("chroma")
    url = f"http://127.0.0.1:{port}"
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [command, "run", "--path", str(folder / "data"), "--port", str(port)],
            stdout=log,
            stderr=log,
            env={**os.environ, "ANONYMIZED_TELEMETRY": "False"},
        )
        try:
            for _ in range(900):  # three minutes, for a machine that does much else
                try:
                    urllib.request.urlopen(f"{url}/api/v2/heartbeat", timeout=2).close()
                    break
                except (urllib.error.URLError, OSError):
                    time.sleep(0.2)
            else:
                pytest.fail((folder / "log.txt").read_text(errors="replace")[-2000:])
            yield url
        finally:
            process.terminate()
            process.wait(60)

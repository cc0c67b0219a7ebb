"""A server, where there is one."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """The address in ``RAGLOOM_TEST_QDRANT``, or a ``qdrant`` found on the path."""
    if named := os.environ.get("RAGLOOM_TEST_QDRANT"):
        yield named
        return
    binary = shutil.which("qdrant")
    if binary is None:
        pytest.skip("no server: put qdrant on the path, or its address into RAGLOOM_TEST_QDRANT")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [binary],
        cwd=tmp_path_factory.mktemp("qdrant"),
        env={**os.environ, "QDRANT__SERVICE__HTTP_PORT": str(port)},
    )
    try:
        for _ in range(150):
            try:
                urllib.request.urlopen(f"{url}/readyz", timeout=2).close()
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait(20)

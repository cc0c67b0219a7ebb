"""Chroma in a folder and on a server, held to the contract of ragloom.testing."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from functools import partial
from pathlib import Path

import pytest
from ragloom.testing import PluginContract, StoreAgreement, StoreContract

from ragloom_chroma import ChromaOptions
from ragloom_chroma.store import ChromaStore


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
            for _ in range(300):
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
            process.wait(20)


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_chroma"


class TestEmbedded(StoreContract):
    @pytest.fixture
    def make_store(self):
        return ChromaStore


class TestEmbeddedAgrees(StoreAgreement):
    @pytest.fixture
    def make_store(self):
        return ChromaStore


class TestServer(StoreContract):
    remote = True

    @pytest.fixture
    def make_store(self, server):
        return partial(ChromaStore, ChromaOptions(url=server))


def test_a_server_that_does_not_answer_is_a_store_error(tmp_path):
    from ragloom import StoreError

    store = ChromaStore(ChromaOptions(url="http://127.0.0.1:9"))
    with pytest.raises(StoreError):
        store.open(space="docs", dimension=4, directory=tmp_path)

"""Qdrant in a folder, and on a server where one is named, held to the contract of ragloom.testing."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from functools import partial

import pytest
from ragloom import StoreError
from ragloom.testing import PluginContract, StoreAgreement, StoreContract

from ragloom_qdrant import QdrantOptions
from ragloom_qdrant.store import QdrantStore


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


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_qdrant"


class TestEmbedded(StoreContract):
    @pytest.fixture
    def make_store(self):
        return QdrantStore


class TestEmbeddedAgrees(StoreAgreement):
    @pytest.fixture
    def make_store(self):
        return QdrantStore


class TestServer(StoreContract):
    remote = True

    @pytest.fixture
    def make_store(self, server):
        return partial(QdrantStore, QdrantOptions(url=server))


class TestServerAgrees(StoreAgreement):
    remote = True

    @pytest.fixture
    def make_store(self, server):
        return partial(QdrantStore, QdrantOptions(url=server))


def test_a_server_is_searched_and_a_folder_is_not():
    assert QdrantStore(QdrantOptions(url="http://127.0.0.1:9")).read == "native"
    assert QdrantStore().read == "snapshot"


def test_a_server_that_does_not_answer_is_a_store_error(tmp_path):
    store = QdrantStore(QdrantOptions(url="http://127.0.0.1:9", timeout=2))
    with pytest.raises(StoreError):
        store.open(space="docs", dimension=4, directory=tmp_path)

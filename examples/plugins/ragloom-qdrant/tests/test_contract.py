"""Qdrant in a folder, and on a server where one is named, held to the contract of ragloom.testing."""

from functools import partial

import pytest
from ragloom import StoreError
from ragloom.testing import PluginContract, StoreAgreement, StoreContract

from ragloom_qdrant import QdrantOptions
from ragloom_qdrant.store import QdrantStore


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

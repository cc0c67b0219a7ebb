"""Qdrant in a folder, and on a server where one is named, held to the contract of ragloom.testing."""

from functools import partial

import pytest
from ragloom import PluginHost, SearchableStore, StoreError
from ragloom.testing import PluginContract, SearchableStoreContract, StoreAgreement, StoreContract

import ragloom_qdrant
from ragloom_qdrant import QdrantOptions
from ragloom_qdrant.store import QdrantServerStore, QdrantStore


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


class TestServer(SearchableStoreContract):
    remote = True

    @pytest.fixture
    def make_store(self, server):
        return partial(QdrantServerStore, QdrantOptions(url=server))


class TestServerAgrees(StoreAgreement):
    remote = True

    @pytest.fixture
    def make_store(self, server):
        return partial(QdrantServerStore, QdrantOptions(url=server))


def test_a_server_is_searched_and_a_folder_is_not():
    host = PluginHost({"qdrant": ragloom_qdrant})
    assert isinstance(host.store("qdrant", {"url": "http://127.0.0.1:9"}), SearchableStore)
    assert not isinstance(host.store("qdrant"), SearchableStore)


def test_a_server_that_does_not_answer_is_a_store_error(tmp_path):
    store = QdrantServerStore(QdrantOptions(url="http://127.0.0.1:9", timeout=2))
    with pytest.raises(StoreError):
        store.open(space="docs", dimension=4, directory=tmp_path)

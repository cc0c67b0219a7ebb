"""Chroma in a folder and on a server, held to the contract of ragloom.testing."""

from functools import partial

import pytest
from ragloom.testing import PluginContract, StoreAgreement, StoreContract

from ragloom_chroma import ChromaOptions
from ragloom_chroma.store import ChromaStore


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

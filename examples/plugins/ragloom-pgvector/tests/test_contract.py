"""PostgreSQL with pgvector, held to the contract of ragloom.testing."""

from functools import partial

import pytest
from ragloom import StoreError
from ragloom.testing import PluginContract, SearchableStoreContract, StoreAgreement

from ragloom_pgvector import PgvectorOptions
from ragloom_pgvector.store import PgvectorStore


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_pgvector"


class TestStore(SearchableStoreContract):
    remote = True

    @pytest.fixture
    def make_store(self, server):
        return partial(PgvectorStore, PgvectorOptions(url=server))


class TestStoreAgrees(StoreAgreement):
    remote = True

    @pytest.fixture
    def make_store(self, server):
        return partial(PgvectorStore, PgvectorOptions(url=server))


def test_a_server_that_does_not_answer_is_a_store_error(tmp_path):
    options = PgvectorOptions(url="postgresql://nobody@127.0.0.1:9/none", timeout=2)
    with pytest.raises(StoreError, match="PostgreSQL failed"):
        PgvectorStore(options).open(space="docs", dimension=4, directory=tmp_path)


def test_no_password_gets_into_the_fingerprint():
    store = PgvectorStore(PgvectorOptions(url="postgresql://me:secret@host/db"))
    assert "secret" not in store.fingerprint

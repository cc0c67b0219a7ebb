"""Every store that comes with ragloom, held to the contract of ragloom.testing."""

from functools import partial

import pytest

import ragloom_local
from ragloom.testing import SearchableStoreContract, StoreAgreement, StoreContract
from ragloom_local.file import FileStore
from ragloom_local.memory import MemoryStore
from ragloom_local.sqlite import SqliteStore


def server(uri):
    from ragloom_milvus import MilvusOptions
    from ragloom_milvus.store import MilvusServerStore

    return partial(MilvusServerStore, MilvusOptions(uri=uri, shard="tests"))


class InMemory:
    @pytest.fixture
    def make_store(self):
        store = MemoryStore()
        return lambda: store


MEMORY = next(one for one in ragloom_local.ragloom_stores() if one.name == "memory")


class InFiles:
    @pytest.fixture
    def make_store(self):
        return FileStore


class InSqlite:
    @pytest.fixture
    def make_store(self):
        return SqliteStore


class InMilvusLite:
    @pytest.fixture
    def make_store(self):
        pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")
        from ragloom_milvus.store import MilvusLiteStore

        return partial(MilvusLiteStore, patience=0.5)


class OnAServer:
    """Making a collection takes a server seconds: all tests share one, emptied."""

    @pytest.fixture
    def space(self, make_store, directory):
        name = "shared by all tests"
        store = make_store()
        store.open(space=name, dimension=4, directory=directory)
        store.delete([chunk.id for chunks, _ in store.scan() for chunk in chunks])
        store.close()
        return name


class TestMemory(InMemory, StoreContract):
    """Of one object, which all but another process sees."""

    deviations = {
        rule: reason for rule, reason in MEMORY.deviations.items() if "second_process" in rule
    }


class TestFile(InFiles, StoreContract):
    pass


class TestSqlite(InSqlite, StoreContract):
    pass


class TestMilvusLite(InMilvusLite, StoreContract):
    pass


@pytest.mark.server
class TestMilvusLiteServer(OnAServer, SearchableStoreContract):
    @pytest.fixture
    def make_store(self, milvus_lite_server):
        return server(milvus_lite_server)


@pytest.mark.server
class TestMilvusServer(OnAServer, SearchableStoreContract):
    @pytest.fixture
    def make_store(self, milvus_server):
        return server(milvus_server)


class TestMemoryAgrees(InMemory, StoreAgreement):
    pass


class TestFileAgrees(InFiles, StoreAgreement):
    pass


class TestSqliteAgrees(InSqlite, StoreAgreement):
    pass


class TestMilvusLiteAgrees(InMilvusLite, StoreAgreement):
    pass

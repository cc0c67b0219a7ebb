"""Readers, embeddings and vector stores of LlamaIndex as parts of ragloom."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the extra [llamaindex]")

import ragloom_llamaindex
from ragloom import ModelError, PluginHost, Source, SourceError, StoreError
from ragloom.testing.samples import DIMENSION, chunk, unit
from ragloom.testing.stores import StoreContract
from ragloom_llamaindex.store import VectorStore

DATA = Path(__file__).parents[2] / "data" / "librarian" / "docs"


@pytest.fixture
def host():
    return PluginHost({"llamaindex": ragloom_llamaindex})


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of a stranger's own classes."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, text):
        (tmp_path / f"{name}.py").write_text(text)

    return write


class TestSimpleVectorStore(StoreContract):
    @pytest.fixture
    def make_store(self):
        return partial(VectorStore, "SimpleVectorStore", {})


def open_store(directory, dimension=DIMENSION):
    store = VectorStore("SimpleVectorStore", {})
    store.open(space="s", dimension=dimension, directory=directory)
    return store


def test_a_store_that_was_killed_before_it_persisted_is_made_good(tmp_path):
    chunks = [chunk(name) for name in "abcde"]
    vectors = unit((1,), (0, 1), (0, 0, 1), (0, 0, 0, 1), (1, 1, 1, 1))
    store = open_store(tmp_path)
    store.upsert(chunks[:3], vectors[:3])
    store.close()
    killed = open_store(tmp_path)
    killed.upsert(chunks[3:], vectors[3:])
    killed.delete([chunks[0].id])
    del killed  # never closed

    again = open_store(tmp_path)

    assert 4 == again.count()
    assert chunks[4].id == again.search(vectors[4], limit=1)[0][0]
    assert chunks[0].id not in {name for name, _ in again.search(vectors[0], limit=9)}


def test_a_persisted_file_that_was_cut_short_is_made_again(tmp_path):
    store = open_store(tmp_path)
    store.upsert([chunk("a")], unit((1,)))
    store.close()
    (persisted,) = tmp_path.glob("llamaindex-*.json")
    persisted.write_text('{"embedding_di')

    again = open_store(tmp_path)

    assert ["a"] == [name for name, _ in again.search(unit((1,))[0], limit=3)]


def test_a_dropped_store_takes_another_dimension(tmp_path):
    store = open_store(tmp_path)
    store.upsert([chunk("a")], unit((1,)))
    store.close()
    with pytest.raises(StoreError, match=f"{DIMENSION} numbers, not 3"):
        open_store(tmp_path, dimension=3)
    store = open_store(tmp_path)
    store.drop()
    store.close()

    assert 0 == open_store(tmp_path, dimension=3).count()


def test_an_embedding_gives_unit_vectors(host, module):
    module(
        "letters",
        "from llama_index.core.embeddings import BaseEmbedding\n"
        "class Letters(BaseEmbedding):\n"
        "    def _get_text_embedding(self, text):\n"
        "        return [float(len(text)), 1.0, 2.0]\n"
        "    def _get_query_embedding(self, query):\n"
        "        return self._get_text_embedding(query)\n"
        "    async def _aget_query_embedding(self, query):\n"
        "        return self._get_text_embedding(query)\n",
    )
    embedder = host.embedder("llamaindex:letters.Letters", {"max_tokens": 100})

    vectors = embedder.embed_passages(["one", "three"])

    assert (100, 3) == (embedder.max_tokens, embedder.dimension)
    assert (np.float32, (2, 3)) == (vectors.dtype, vectors.shape)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(vectors[1], embedder.embed_query("three"))
    assert (0, 3) == embedder.embed_passages([]).shape


def test_an_embedding_that_fails_is_a_model_error(host, module):
    module(
        "offline",
        "from llama_index.core.embeddings import MockEmbedding\n"
        "class Offline(MockEmbedding):\n"
        "    def _get_text_embedding(self, text):\n"
        "        raise RuntimeError('no connection')\n",
    )
    embedder = host.embedder("llamaindex:offline.Offline", {"embed_dim": 4, "dimension": 4})

    with pytest.raises(ModelError, match=r"'llamaindex:offline.Offline': no connection"):
        embedder.embed_passages(["text"])


def test_a_reader_of_a_text_file_gives_spans_into_the_file(host):
    path = DATA / "standards" / "error-handling.md"
    loader = host.loader("llamaindex:SimpleDirectoryReader")
    content = path.read_bytes()

    document = loader.load(Source(uri="a.md", path=path), content)

    assert content.decode() == document.prefix + document.text
    assert not document.extracted
    assert {} == document.metadata


def test_a_reader_that_rewrites_gives_spans_into_what_it_extracted(host, module, tmp_path):
    module(
        "shouting_reader",
        "from llama_index.core.readers.base import BaseReader\n"
        "from llama_index.core.schema import Document\n"
        "class Shouting(BaseReader):\n"
        "    def load_data(self, file):\n"
        "        text = file.read_text().upper()\n"
        "        return [Document(text=t, metadata={'voice': 'loud', 'page': n})\n"
        "                for n, t in enumerate(text.split('|'))]\n",
    )
    path = tmp_path / "a.log"
    path.write_text("one|two")
    loader = host.loader("llamaindex:shouting_reader.Shouting")

    document = loader.load(Source(uri="a.log", path=path), path.read_bytes())

    assert "ONE\n\nTWO" == document.text
    assert document.extracted
    assert {"voice": "loud"} == document.metadata


def test_a_reader_that_fails_names_itself_and_the_run_goes_on(host, tmp_path):
    loader = host.loader("llamaindex:SimpleDirectoryReader")
    with pytest.raises(SourceError, match="llamaindex:SimpleDirectoryReader"):
        loader.load(Source(uri="a.md", path=tmp_path / "none.md"), b"")


def test_the_loader_reads_nothing_unless_it_is_named(host):
    assert {} == host.loaders()
    assert frozenset() == host.loader("llamaindex:SimpleDirectoryReader").suffixes


def test_nothing_of_llama_index_is_imported_for_a_fingerprint():
    import subprocess
    import sys

    code = (
        "import sys, ragloom_llamaindex\n"
        "from ragloom import PluginHost\n"
        "host = PluginHost({'llamaindex': ragloom_llamaindex})\n"
        "host.chunker('llamaindex:SentenceSplitter').fingerprint\n"
        "host.store('llamaindex:SimpleVectorStore').fingerprint\n"
        "host.embedder('llamaindex:MockEmbedding').fingerprint\n"
        "print('llama_index.core' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()


BARE = """
from typing import Any
from llama_index.core.vector_stores.types import BasePydanticVectorStore, VectorStoreQueryResult

NODES = {}

class Bare(BasePydanticVectorStore):
    \"\"\"A service with no more than it must have: add, delete by document, query.\"\"\"

    stores_text: bool = True

    @property
    def client(self) -> Any:
        return None

    def add(self, nodes, **kwargs):
        for node in nodes:
            assert node.node_id not in NODES, "a service may keep both"
            NODES[node.node_id] = node
        return [node.node_id for node in nodes]

    def delete(self, ref_doc_id, **kwargs):
        for name in [n for n, node in NODES.items() if node.ref_doc_id == ref_doc_id]:
            del NODES[name]

    def query(self, query, **kwargs):
        def score(node):
            return sum(a * b for a, b in zip(node.embedding, query.query_embedding))
        best = sorted(NODES.values(), key=score, reverse=True)[: query.similarity_top_k]
        return VectorStoreQueryResult(nodes=best, similarities=[score(node) for node in best])
"""


def test_a_store_needs_no_more_than_llama_index_demands(host, module, tmp_path):
    module("bare_store", BARE)
    store = host.store("llamaindex:bare_store.Bare")
    store.open(space="s", dimension=DIMENSION, directory=tmp_path)
    store.upsert([chunk("a"), chunk("b", text="old")], unit((1,), (0, 1)))
    store.upsert([chunk("b", text="new")], unit((0, 0, 1)))
    store.delete(["a", "none"])
    store.close()
    store.open(space="s", dimension=DIMENSION, directory=tmp_path)

    assert [("b", 1.0)] == store.search(unit((0, 0, 1))[0], limit=5)
    ((chunks, _),) = list(store.scan())
    assert ["new"] == [stored.text for stored in chunks]
    store.drop()
    assert [] == store.search(unit((1,))[0], limit=5)

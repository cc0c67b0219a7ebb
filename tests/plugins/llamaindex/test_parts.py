"""Readers and embeddings of LlamaIndex as components of ragloom."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the extra [llamaindex]")

import ragloom_llamaindex
from ragloom import ModelError, PluginHost, Source, SourceError

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
        "host.embedder('llamaindex:MockEmbedding').fingerprint\n"
        "print('llama_index.core' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "False" == done.stdout.strip()

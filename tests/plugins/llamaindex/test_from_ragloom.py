"""Ragloom's embedder, chunkers and stores as classes of LlamaIndex, below its own index and pipeline."""

import asyncio
import random
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llama_index.core", reason="needs the extra [llamaindex]")
pytest.importorskip("onnxruntime", reason="needs the extra [standard]")

from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import MetadataMode, NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)

from ragloom import ConfigError, PluginError, PluginHost, StoreError
from ragloom.config import CONFIG_NAME
from ragloom_llamaindex import RagloomEmbedding, RagloomNodeParser, RagloomVectorStore

DATA = Path(__file__).parents[2] / "data" / "librarian" / "docs"
STORES = ["memory", "file", "sqlite"]


@pytest.fixture(scope="module")
def host():
    import ragloom_local
    import ragloom_markdown
    import ragloom_onnx
    import ragloom_text

    return PluginHost(
        {
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "onnx": ragloom_onnx,
            "text": ragloom_text,
        }
    )


@pytest.fixture(scope="module")
def embedding(host):
    return RagloomEmbedding(host=host)


@pytest.fixture
def documents():
    return [
        Document(text=path.read_text("utf-8"), metadata={"file_path": path.name}, id_=path.name)
        for path in sorted(DATA.rglob("*.md"))
    ]


def test_an_embedding_is_that_of_the_component(host, embedding):
    part = host.embedder("onnx")
    texts = ["A pump is oiled.", "Errors are logged."]
    assert part.embed_passages(texts).tolist() == embedding.get_text_embedding_batch(texts)
    assert part.embed_query("oil").tolist() == embedding.get_query_embedding("oil")
    assert embedding.get_query_embedding("oil") == asyncio.run(
        embedding.aget_query_embedding("oil")
    )
    assert embedding.get_text_embedding_batch(texts) == asyncio.run(
        embedding.aget_text_embedding_batch(texts)
    )
    assert pytest.approx(1.0, abs=1e-5) == np.linalg.norm(embedding.get_text_embedding("pump"))


@pytest.mark.parametrize(
    ("chunker", "options"), [("heading", {"levels": [1, 2]}), ("sentence", {}), ("token", {})]
)
def test_nodes_are_exact_slices_that_the_model_reads_whole(host, documents, chunker, options):
    parser = RagloomNodeParser(chunker, options=options, host=host)
    nodes = parser.get_nodes_from_documents(documents)
    texts = {document.id_: document.text for document in documents}
    counter, most = host.embedder("onnx").counter, host.embedder("onnx").max_tokens
    assert set(texts) == {node.ref_doc_id for node in nodes}
    for node in nodes:
        text = texts[node.ref_doc_id]
        assert node.text == text[node.start_char_idx : node.end_char_idx]
        assert counter.count(node.text) <= most
        assert node.ref_doc_id == node.metadata["file_path"]


def test_sections_are_told(host):
    text = "# Pumps\n\nAll of them.\n\n## Oil\n\nEvery May.\n"
    nodes = RagloomNodeParser(host=host).get_nodes_from_documents([Document(text=text)])
    assert ["Pumps", "Pumps > Oil"] == [node.metadata["section"] for node in nodes]
    plain = Document(text=text, metadata={"file_name": "pumps.txt"})
    (node,) = RagloomNodeParser(host=host).get_nodes_from_documents([plain])
    assert "section" not in node.metadata


def test_one_text_twice_in_a_document_is_two_places(host):
    text = "# A\n\nSame.\n\n# B\n\nOther.\n\n# A\n\nSame.\n"
    nodes = RagloomNodeParser(host=host).get_nodes_from_documents([Document(text=text)])
    places = [(node.start_char_idx, node.end_char_idx) for node in nodes]
    assert sorted(set(places)) == places


@pytest.mark.parametrize("store", STORES)
def test_an_index_of_llama_index_over_all_three_answers(
    host, embedding, documents, tmp_path, store
):
    vectors = RagloomVectorStore(tmp_path / "vectors", store=store, host=host)
    pipeline = IngestionPipeline(
        transformations=[RagloomNodeParser(host=host), embedding], vector_store=vectors
    )
    nodes = pipeline.run(documents=documents)
    index = VectorStoreIndex.from_vector_store(vectors, embed_model=embedding)

    found = index.as_retriever(similarity_top_k=3).retrieve("How do I log errors?")
    texts = {node.node_id: node for node in nodes}
    assert 3 == len(found)
    assert "docs" not in found[0].metadata
    assert "log" in found[0].text.lower()
    for one in found:
        expected = texts[one.node_id]
        assert expected.text == one.text
        assert expected.metadata == one.metadata
        assert expected.ref_doc_id == one.node.ref_doc_id
        assert expected.get_content(MetadataMode.LLM) == one.node.get_content(MetadataMode.LLM)

    index.delete_ref_doc(found[0].node.ref_doc_id)
    left = index.as_retriever(similarity_top_k=99).retrieve("How do I log errors?")
    assert found[0].node.ref_doc_id not in {one.node.ref_doc_id for one in left}
    assert left


def some_nodes(count=60, dimension=8):
    chance = random.Random(7)
    return [
        TextNode(
            id_=f"node {number}",
            text=f"Text {number} ü\n",
            embedding=[chance.gauss(0, 1) for _ in range(dimension)],
            metadata={
                "year": 2000 + number % 5,
                "tags": ["a", "b"] if number % 2 else ["b"],
                "nested": {"x": number % 3},
                "title": f"Title {number % 4}",
            },
            relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=f"doc {number % 6}")},
        )
        for number in range(count)
    ]


FILTERS = [
    None,
    MetadataFilters(filters=[MetadataFilter(key="year", value=2001)]),
    MetadataFilters(
        filters=[
            MetadataFilter(key="year", value=2002, operator=FilterOperator.GT),
            MetadataFilter(key="title", value="Title 1"),
        ],
        condition=FilterCondition.OR,
    ),
    MetadataFilters(
        filters=[MetadataFilter(key="tags", value="a", operator=FilterOperator.CONTAINS)]
    ),
    MetadataFilters(
        filters=[MetadataFilter(key="year", value=[2000, 2004], operator=FilterOperator.NIN)]
    ),
    MetadataFilters(filters=[MetadataFilter(key="year", value=1999)]),
]


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("store", STORES)
def test_it_finds_what_llama_index_own_store_finds(host, tmp_path, store, filters):
    vectors, oracle = RagloomVectorStore(tmp_path, store=store, host=host), SimpleVectorStore()
    nodes = some_nodes()
    assert oracle.add(nodes) == vectors.add(nodes)
    for seed in range(5):
        chance = random.Random(seed)
        asked = VectorStoreQuery(
            query_embedding=[chance.gauss(0, 1) for _ in range(8)],
            similarity_top_k=7,
            filters=filters,
            doc_ids=["doc 1", "doc 2", "doc 3"] if seed == 4 else None,
        )
        given, expected = vectors.query(asked), oracle.query(asked)
        if seed == 4:  # which its own store does not look at
            assert {one.ref_doc_id for one in given.nodes} <= {"doc 1", "doc 2", "doc 3"}
            continue
        assert expected.ids == given.ids
        assert pytest.approx(expected.similarities, abs=1e-5) == given.similarities
        assert expected.ids == [node.node_id for node in given.nodes]
        assert given == asyncio.run(vectors.aquery(asked))


@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_another_object_finds_what_was_written(host, tmp_path, store):
    nodes = some_nodes(5)
    first = RagloomVectorStore(tmp_path / "new" / "folder", store=store, host=host)
    assert [] == first.get_nodes()
    asyncio.run(first.async_add(nodes))
    first.add([nodes[0].model_copy(update={"text": "Changed."})])

    again = RagloomVectorStore(tmp_path / "new" / "folder", store=store, host=host)
    kept = {node.node_id: node for node in again.get_nodes()}
    assert {node.node_id for node in nodes} == set(kept)
    assert nodes[3].metadata == kept["node 3"].metadata
    assert nodes[3].text == kept["node 3"].text
    other = RagloomVectorStore(tmp_path / "new" / "folder", store=store, host=host, name="other")
    assert [] == other.get_nodes()


@pytest.mark.parametrize("store", STORES)
def test_nodes_are_deleted_by_id_by_filter_by_document_and_all(host, tmp_path, store):
    vectors = RagloomVectorStore(tmp_path, store=store, host=host)
    vectors.delete("doc 1")  # nothing is there yet
    vectors.add(some_nodes())
    vectors.delete("doc 1")
    assert 50 == len(vectors.get_nodes())
    vectors.delete_nodes(["node 0", "node 1", "none"])
    assert 49 == len(vectors.get_nodes())
    vectors.delete_nodes()
    assert 49 == len(vectors.get_nodes())
    vectors.delete_nodes(filters=FILTERS[1])
    assert [] == vectors.get_nodes(filters=FILTERS[1])
    assert ["node 2"] == [node.node_id for node in vectors.get_nodes(["node 2"])]
    vectors.clear()
    assert [] == vectors.get_nodes()
    vectors.add(some_nodes(3, dimension=4))  # of another length, now that it is empty
    assert 3 == len(vectors.get_nodes())


def test_threads_share_a_store(host, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    vectors = RagloomVectorStore(tmp_path, host=host)
    nodes = some_nodes(40)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(vectors.add, [[node] for node in nodes]))
    assert 40 == len(vectors.get_nodes())


def test_what_does_not_fit_is_refused(host, tmp_path, embedding):
    vectors = RagloomVectorStore(tmp_path, host=host)
    vectors.add(some_nodes(4))
    with pytest.raises(StoreError, match="holds vectors of 8 numbers, and these have 4"):
        vectors.add(some_nodes(1, dimension=4))
    with pytest.raises(StoreError, match="several lengths"):
        vectors.add([*some_nodes(1, dimension=8), *some_nodes(2, dimension=4)[1:]])
    with pytest.raises(StoreError, match="the query has 4 numbers, and the nodes 8"):
        vectors.query(VectorStoreQuery(query_embedding=[1.0] * 4))
    with pytest.raises(ConfigError, match="not 'hybrid'"):
        vectors.query(VectorStoreQuery(query_embedding=[1.0] * 8, mode=VectorStoreQueryMode.HYBRID))
    with pytest.raises(ConfigError, match="query_embedding"):
        vectors.query(VectorStoreQuery())
    assert 4 == len(vectors.get_nodes())


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda host, folder: RagloomEmbedding("onxx", host=host), "onxx"),
        (lambda host, folder: RagloomEmbedding(options={"treads": 2}, host=host), "treads"),
        (lambda host, folder: RagloomNodeParser("headings", host=host), "headings"),
        (lambda host, folder: RagloomVectorStore(folder, store="sqlight", host=host), "sqlight"),
    ],
)
def test_unknown_components_and_options_are_refused(host, tmp_path, make, said):
    with pytest.raises((ConfigError, PluginError), match=said):
        make(host, tmp_path)


def test_a_storage_context_takes_the_store(host, embedding, tmp_path):
    vectors = RagloomVectorStore(tmp_path, host=host)
    index = VectorStoreIndex.from_documents(
        [Document(text="# Pumps\n\nA pump is oiled.\n")],
        storage_context=StorageContext.from_defaults(vector_store=vectors),
        embed_model=embedding,
        transformations=[RagloomNodeParser(host=host)],
    )
    (found,) = index.as_retriever().retrieve("oil")
    assert "A pump is oiled." in found.text
    assert not (tmp_path / CONFIG_NAME).exists()

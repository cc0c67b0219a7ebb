"""Ragloom as a retriever of LangChain."""

import asyncio

import pytest

pytest.importorskip("langchain_core", reason="needs the extra [langchain]")

from langchain_core.runnables import RunnableLambda

from ragloom import NotIndexedError
from ragloom_librarian import RagloomRetriever


@pytest.fixture(scope="module")
def retriever(knowledge_base):
    return RagloomRetriever(space=knowledge_base.space, top_k=4, min_relevance=0.7)


def test_documents_are_passages_with_their_place(retriever, built):
    documents = retriever.invoke("How do I log errors?")

    assert 4 == len(documents)
    for document in documents:
        assert document.metadata["relevance"] >= 0.7
        lines = (built / document.metadata["source"]).read_text("utf-8").split("\n")
        first, last = document.metadata["start_line"], document.metadata["end_line"]
        assert document.page_content in "\n".join(lines[first - 1 : last])
        assert document.id


def test_it_answers_asynchronously_and_in_batches(retriever):
    expected = retriever.invoke("How do I log errors?")

    assert expected == asyncio.run(retriever.ainvoke("How do I log errors?"))
    assert [expected] * 4 == retriever.batch(["How do I log errors?"] * 4)


def test_it_is_a_link_of_a_chain(retriever):
    chain = retriever | RunnableLambda(lambda documents: [d.metadata["source"] for d in documents])

    assert set(chain.invoke("backups")) == {"docs/adrs/0023-backup-strategy.md"}
    assert [] == chain.invoke("Klingon localization")


def test_it_opens_a_space_of_a_workspace(tmp_path, host):
    retriever = RagloomRetriever.open(tmp_path, host=host)
    with pytest.raises(NotIndexedError, match="ragloom index"):
        retriever.invoke("anything")


def test_without_langchain_the_extra_is_named():
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['langchain_core'] = None\n"
        "import ragloom_librarian\n"
        "try: ragloom_librarian.RagloomRetriever\n"
        "except Exception as error: print(type(error).__name__, error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "MissingDependencyError" in done.stdout
    assert "pip install 'ragloom[langchain]'" in done.stdout

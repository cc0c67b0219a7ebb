"""Ragloom as a retriever of LangChain."""

import asyncio
import re
from collections import Counter

import pytest

pytest.importorskip("langchain_core", reason="needs the extra [langchain]")

from langchain_core.callbacks import BaseCallbackHandler
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


def test_nothing_relevant_names_the_closest_in_the_log_and_to_callbacks(retriever, caplog):
    class Told(BaseCallbackHandler):
        def __init__(self):
            self.texts = []

        def on_text(self, text, **_more):
            self.texts.append(text)

    told = Told()
    assert [] == retriever.invoke("Klingon localization", config={"callbacks": [told]})
    (text,) = told.texts
    assert re.match(
        r"no document: no relevant match \(best 0\.\d\d, minimum 0\.70\); closest: (docs/\S+):\d+.*; "
        r"see it with min_relevance=0, or read \1$",
        text,
    )
    assert [text] == [one.getMessage() for one in caplog.records if one.name == "ragloom"]


def test_a_file_gives_all_its_passages_and_copies_are_named(tmp_path, host):
    pages = {f"v{n}/queue.md": "# Queues\n\nA queue is drained by a worker.\n" for n in range(3)}
    pages["long.md"] = "".join(f"## Q{n}\n\nQueue {n}, drained by it.\n\n" for n in range(5))
    for path, text in pages.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    (tmp_path / "ragloom.yaml").write_text("store: memory\n")
    retriever = RagloomRetriever.open(tmp_path, host=host, top_k=9, min_relevance=0.0)
    retriever.space.index()
    documents = retriever.invoke("drained queue")
    assert [1, 5] == sorted(Counter(one.metadata["source"] for one in documents).values())
    (best,) = (one for one in documents if one.metadata["source"] != "long.md")
    copies = [copy["path"] for copy in best.metadata["copies"]]
    assert sorted([best.metadata["source"], *copies]) == [f"v{n}/queue.md" for n in range(3)]
    few = RagloomRetriever(space=retriever.space, top_k=9, min_relevance=0.0, per_file=2)
    assert 3 == len(few.invoke("drained queue"))

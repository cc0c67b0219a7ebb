"""Ragloom as a retriever of LangChain."""

import asyncio
import re
from collections import Counter

import pytest

pytest.importorskip("langchain_core", reason="needs the extra [langchain]")

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableLambda

from ragloom import ConfigError, NotIndexedError, SpaceGroup
from ragloom_langchain import RagloomRetriever

QUERY = "How do I log errors?"


@pytest.fixture(scope="module")
def retriever(space):
    return RagloomRetriever(space=space, top_k=4, min_relevance=0.7)


def test_documents_are_passages_with_their_place(retriever, folder):
    documents = retriever.invoke("How do I log errors?")

    assert 4 == len(documents)
    for document in documents:
        assert document.metadata["relevance"] >= 0.7
        lines = (folder / document.metadata["source"]).read_text("utf-8").split("\n")
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
        "import ragloom_langchain\n"
        "try: ragloom_langchain.RagloomRetriever\n"
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


def paths(documents):
    return [document.metadata["source"] for document in documents]


@pytest.mark.parametrize("name", ["k", "top_k"])
def test_a_call_overrides_the_number_of_documents(retriever, name):
    whole = retriever.invoke(QUERY)
    assert whole[:1] == retriever.invoke(QUERY, **{name: 1})
    assert whole[:1] == asyncio.run(retriever.ainvoke(QUERY, **{name: 1}))
    assert [whole[:2]] * 2 == retriever.batch([QUERY] * 2, **{name: 2})
    assert whole == retriever.invoke(QUERY)  # for that call alone
    assert whole[:1] == RagloomRetriever(space=retriever.space, **{name: 1}).invoke(QUERY)


@pytest.mark.parametrize("given", ["path under docs/adrs", ["path under docs/adrs"]])
def test_conditions_hold_for_all_calls_or_for_one(space, given):
    everything = RagloomRetriever(space=space, min_relevance=0.0, top_k=500)
    found = paths(everything.invoke(QUERY))
    kept = {path for path in found if path.startswith("docs/adrs/")}
    assert set() < kept < set(found)
    assert kept == set(paths(everything.invoke(QUERY, where=given)))
    always = RagloomRetriever(space=space, min_relevance=0.0, top_k=500, where=given)
    assert kept == set(paths(always.invoke(QUERY)))


def test_every_option_is_that_of_a_search(space):
    options = {
        "top_k": 3,
        "min_relevance": 0.1,
        "mode": "lexical",
        "where": ["path under docs/standards"],
        "per_file": 1,
    }
    expected = [hit.chunk.id for hit in space.search(QUERY, **options).hits]
    assert expected
    assert expected == [one.id for one in RagloomRetriever(space=space, **options).invoke(QUERY)]
    assert expected == [one.id for one in RagloomRetriever(space=space).invoke(QUERY, **options)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"topk": 1}, "unknown option 'topk'; did you mean 'top_k'?"),
        ({"filter": {"a": 1}}, "unknown option 'filter'"),
        ({"mode": "semantic"}, "mode: unknown mode 'semantic'"),
        ({"min_relevance": 2}, "min_relevance: expected a number from 0 to 1, found 2"),
        ({"top_k": "five"}, "top_k: expected a whole number from 0, found 'five'"),
        ({"where": ["nonsense"]}, "nonsense"),
        ({"k": 1, "top_k": 2}, "k is another name of top_k"),
    ],
)
def test_what_is_unknown_or_wrong_is_refused_in_one_line(space, folder, host, options, said):
    ways = [
        lambda: RagloomRetriever(space=space, **options),
        lambda: RagloomRetriever.open(folder, host=host, **options),
        lambda: RagloomRetriever(space=space).invoke(QUERY, **options),
        lambda: asyncio.run(RagloomRetriever(space=space).ainvoke(QUERY, **options)),
    ]
    for way in ways:
        with pytest.raises(ConfigError) as error:
            way()
        assert said in str(error.value)
        assert 1 == len(str(error.value).splitlines())


def test_several_spaces_are_searched_as_one(space):
    group = RagloomRetriever(space=SpaceGroup([space]), top_k=2)
    assert RagloomRetriever(space=space, top_k=2).invoke(QUERY) == group.invoke(QUERY)


def test_langchain_changes_options_at_run_time(space):
    from langchain_core.runnables import ConfigurableField

    retriever = RagloomRetriever(space=space, top_k=4, min_relevance=0.0)
    changing = retriever.configurable_fields(top_k=ConfigurableField(id="most"))
    assert 2 == len(changing.invoke(QUERY, config={"configurable": {"most": 2}}))


def test_the_name_of_before_still_works_and_says_where_it_went():
    import ragloom_librarian

    with pytest.warns(DeprecationWarning, match="ragloom_langchain"):
        assert RagloomRetriever is ragloom_librarian.RagloomRetriever

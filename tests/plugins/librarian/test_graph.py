"""The node in a real LangGraph graph: it never breaks the workflow that it helps."""

import asyncio
import logging
import shutil
import sys
import threading
from dataclasses import replace
from typing import Annotated, TypedDict

import pytest

pytest.importorskip("langgraph", reason="needs the extra [librarian]")

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph

import ragloom_local
import ragloom_markdown
from ragloom import ModelError, PluginHost, Provider, SourceError
from ragloom.testing.fakes import HashingEmbedder
from ragloom_librarian import (
    KnowledgeBase,
    LibrarianSettings,
    LibrarianState,
    alibrarian_node,
    librarian_node,
    make_librarian_node,
)

BRIEF = "How do I log errors?"


class DesignState(LibrarianState, total=False):
    issue: int
    design: str


def load_brief(state: DesignState) -> dict[str, str]:
    return {"issue_brief": BRIEF}


def designer(state: DesignState) -> dict[str, str]:
    context = state.get("combined_context", "")
    return {"design": f"Design for {state['issue']} with {context.count('source=')} documents"}


def graph_of(node, **options):
    graph = StateGraph(DesignState)
    graph.add_node("load_brief", load_brief)
    graph.add_node("librarian", node)
    graph.add_node("designer", designer)
    graph.add_edge(START, "load_brief")
    graph.add_edge("load_brief", "librarian")
    graph.add_edge("librarian", "designer")
    graph.add_edge("designer", END)
    return graph.compile(**options)


def run(node, mode, **state):
    """The final state, of the graph called synchronously, asynchronously, or all of it coroutines."""
    given = {"issue": 88, **state}
    if mode == "sync":
        return graph_of(node).invoke(given)
    graph = graph_of(node if mode == "async" else node.acall)
    return asyncio.run(graph.ainvoke(given))


modes = pytest.mark.parametrize("mode", ["sync", "async", "coroutine"])


@modes
def test_the_good_case(built, host, mode, caplog):
    caplog.set_level(logging.INFO, "ragloom.librarian")
    node = make_librarian_node(workspace=built, host=host)

    final = run(node, mode, manual_context=["docs/standards/pull-requests.md"])

    assert "Design for 88 with 4 documents" == final["design"]
    assert 3 == len(final["retrieved_context"])
    assert "degraded_reason" not in final
    assert final["combined_context"].splitlines()[0].endswith('pull-requests.md">')
    said = [record.getMessage() for record in caplog.records if record.levelno == logging.INFO]
    for document in final["retrieved_context"]:
        expected = f"{document['score']:.2f} {document['file_path']}: {document['section']}"
        assert any(expected in line for line in said)


def test_the_node_returns_only_its_own_two_keys(built, host):
    node = make_librarian_node(workspace=built, host=host)

    update = node({"issue_brief": BRIEF, "other": 1})

    assert {"retrieved_context", "combined_context"} == set(update)


def test_nothing_relevant_is_no_degraded_case(built, host):
    node = make_librarian_node(workspace=built, host=host)

    update = node({"issue_brief": "Klingon localization", "manual_context": []})

    assert {"retrieved_context": [], "combined_context": ""} == update


class Failing(HashingEmbedder):
    """Reads like the model of the index, and fails when it is asked."""

    def __init__(self, fail):
        super().__init__()
        self._fail = fail

    def embed_query(self, text):
        self._fail()
        return super().embed_query(text)


def cannot_load():
    raise ModelError("the model cannot be loaded: model.onnx is damaged")


def unexpected():
    raise RuntimeError("a fault\nof a plugin")


def failing_host(make_plugin, fail):
    providers = [Provider(name="onnx", summary="fails", create=lambda _: Failing(fail))]
    stores = [p for p in ragloom_local.ragloom_stores() if p.name == "memory"]
    memory = replace(stores[0], name="milvus")
    return PluginHost(
        {
            "failing": make_plugin(embedders=[providers[0]], stores=[memory]),
            "markdown": ragloom_markdown,
        }
    )


class Slow:
    """Does not end before the test does."""

    def __init__(self):
        self.over, self.ended = threading.Event(), threading.Event()

    def __call__(self):
        self.over.wait(60)
        self.ended.set()


@pytest.fixture
def slow():
    one = Slow()
    yield one
    one.over.set()


@pytest.fixture
def degraded(request, bare, project, host, make_plugin, monkeypatch, tmp_path, slow):
    """A node for each case, and what it says."""
    case = request.param
    if case == "extra":
        monkeypatch.setitem(sys.modules, "pymilvus", None)
        node = make_librarian_node(workspace=project, host=host)
        return node, "pip install 'ragloom[librarian]'"
    if case == "store":
        return make_librarian_node(workspace=bare, host=host), "run 'ragloom librarian rebuild'"
    if case == "empty":
        shutil.rmtree(bare / "docs")
        (bare / "docs" / "adrs").mkdir(parents=True)
        KnowledgeBase.open(bare, host=host).rebuild()
        return make_librarian_node(workspace=bare, host=host), "is empty"
    if case == "snapshot":
        (generation,) = (project / ".ragloom" / "librarian").glob("gen-*")
        (generation / "files.json").write_text("{")
        node = make_librarian_node(workspace=project, host=host)
        return node, "run 'ragloom librarian rebuild'"
    if case == "lexical":
        (generation,) = (project / ".ragloom" / "librarian").glob("gen-*")
        for file in (generation / "lexical").iterdir():
            file.write_bytes(b"garbage")
        node = make_librarian_node(workspace=project, host=host)
        return node, "run 'ragloom librarian rebuild'"
    if case == "setting":
        (project / "ragloom.yaml").write_text("librarian: {threshold: 9}\n")
        return make_librarian_node(workspace=project, host=host), "ragloom.yaml:1"
    if case == "folder":
        return make_librarian_node(workspace=tmp_path / "none", host=host), "no such folder"
    fail = {"fault": unexpected, "time": slow}[case]
    plugins = failing_host(make_plugin, fail)
    KnowledgeBase.open(bare, host=plugins).rebuild()
    settings = LibrarianSettings(timeout=0.3) if case == "time" else LibrarianSettings()
    node = make_librarian_node(settings, workspace=bare, host=plugins)
    said = {
        "fault": "RuntimeError: a fault of a plugin",
        "time": "no answer within 0.3 s; the setting librarian.timeout",
    }
    return node, said[case]


DEGRADED = pytest.mark.parametrize(
    "degraded",
    [
        "extra",
        "store",
        "empty",
        "snapshot",
        "lexical",
        "fault",
        "time",
        "setting",
        "folder",
    ],
    indirect=True,
)


@modes
@DEGRADED
def test_each_degraded_case_keeps_the_files_given_by_hand(degraded, mode, tmp_path):
    node, reason = degraded
    brief = tmp_path / "brief.md"
    brief.write_text("# Brief\n\nExport invoices every night.\n")
    state = {"issue_brief": BRIEF, "manual_context": [str(brief)]}

    update = node(state) if mode == "sync" else asyncio.run(node.acall(state))

    assert {"combined_context", "degraded_reason"} == set(update)
    assert reason in update["degraded_reason"]
    assert "Export invoices every night." in update["combined_context"]
    assert str(brief) in update["combined_context"].splitlines()[0]


@modes
@DEGRADED
def test_each_degraded_case_runs_to_the_end_with_a_reason(degraded, mode, caplog, slow):
    node, reason = degraded
    caplog.set_level(logging.WARNING, "ragloom.librarian")

    final = run(node, mode)

    assert reason in final.pop("degraded_reason")
    assert {
        "issue": 88,
        "issue_brief": BRIEF,
        "design": "Design for 88 with 0 documents",
    } == final
    (line,) = [r.getMessage() for r in caplog.records if r.name == "ragloom.librarian"]
    assert reason in line
    assert "\n" not in line
    assert not slow.ended.is_set()  # it was given up while it went on


def test_the_next_round_is_good_again(built, host, bare, monkeypatch):
    monkeypatch.chdir(built)
    update = make_librarian_node(host=host)({"issue_brief": BRIEF, "degraded_reason": "earlier"})

    assert "" == update["degraded_reason"]
    assert update["retrieved_context"]


@modes
def test_missing_manual_files_are_the_caller_s_to_know(built, host, mode):
    node = make_librarian_node(workspace=built, host=host)
    with pytest.raises(SourceError, match=r"no file none\.md"):
        run(node, mode, manual_context=["none.md"])


def test_the_node_fits_a_state_of_someone_else(built, host):
    class Theirs(TypedDict):
        issue_brief: str
        combined_context: str
        count: Annotated[int, lambda left, right: left + right]

    graph = StateGraph(Theirs)
    graph.add_node("librarian", make_librarian_node(workspace=built, host=host))
    graph.add_node("count", lambda state: {"count": 1})
    graph.add_edge(START, "librarian")
    graph.add_edge("librarian", "count")
    graph.add_edge("count", END)

    final = graph.compile().invoke({"issue_brief": BRIEF, "count": 1})

    assert {
        "issue_brief": BRIEF,
        "combined_context": final["combined_context"],
        "count": 2,
    } == final
    assert final["combined_context"]


def test_a_checkpointer_keeps_the_state(built, host):
    node = make_librarian_node(workspace=built, host=host)
    graph = graph_of(node, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}

    final = graph.invoke({"issue": 88}, config)

    assert final["retrieved_context"] == graph.get_state(config).values["retrieved_context"]


def test_the_ready_made_node_is_for_the_current_folder(project, monkeypatch):
    monkeypatch.chdir(project)

    assert 3 == len(graph_of(librarian_node).invoke({"issue": 1})["retrieved_context"])
    final = asyncio.run(graph_of(alibrarian_node).ainvoke({"issue": 1}))
    assert 3 == len(final["retrieved_context"])


def test_many_branches_may_ask_at_once(built, host):
    node = make_librarian_node(workspace=built, host=host)

    async def ask():
        graph = graph_of(node)
        return await asyncio.gather(*(graph.ainvoke({"issue": n}) for n in range(8)))

    finals = asyncio.run(ask())

    assert [3] * 8 == [len(final["retrieved_context"]) for final in finals]


def test_a_process_ends_although_an_answer_is_still_awaited(bare):
    import subprocess

    code = (
        "import time\n"
        "from ragloom_librarian import node\n"
        "class Base:\n"
        "    class workspace: root = __import__('pathlib').Path()\n"
        "    class settings: timeout = 0.1\n"
        "    def query(self, brief): time.sleep(3600)\n"
        "print(node.LibrarianNode(Base)({'issue_brief': 'x'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=bare,
        timeout=120,
    )
    assert "no answer within 0.1 s" in done.stdout


def test_the_node_needs_no_langgraph(project):
    import subprocess

    code = (
        "import sys; sys.modules['langgraph'] = None; sys.modules['langchain_core'] = None\n"
        "from ragloom_librarian import librarian_node\n"
        f"print(len(librarian_node({{'issue_brief': {BRIEF!r}}})['retrieved_context']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=project
    )
    assert "3" == done.stdout.strip()


@modes
def test_a_model_that_does_not_answer_leaves_the_words(mode, bare, make_plugin, caplog):
    plugins = failing_host(make_plugin, cannot_load)
    KnowledgeBase.open(bare, host=plugins).rebuild()
    state = run(make_librarian_node(workspace=bare, host=plugins), mode)
    assert "degraded_reason" not in state
    assert "searching by words alone: the model cannot be loaded" in caplog.text

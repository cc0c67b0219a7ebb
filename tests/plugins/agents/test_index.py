"""An agent's index: incremental, atomic, apart from the others, and the same after a restart."""

import os
import shutil

import pytest

from ragloom import ConfigError, ModelError, NotIndexedError, PluginError, SourceError
from ragloom.errors import StoreDamagedError, StoreError
from ragloom_agents.spaces import space_name, store_place

STORES = ("memory", "file", "sqlite", "milvus")
ONE = """\
rag: {store: %s, path: .ragloom/agents.db}
defaults: {docs: {strategy: rag}}
agents:
  - {id: notes, docs: {sources: ["docs/*.md"]}}
"""


REST = ONE.partition("\n")[2]
STARTED = ["agents.yaml", "docs", "ragloom.yaml"]


@pytest.fixture(autouse=True)
def low_gate(write):
    """Hashed words have no calibration: nothing is kept back."""
    write("ragloom.yaml", "min_relevance: 0\n")


@pytest.fixture
def with_milvus(host, make_plugin):
    """The host of the other tests, and Milvus Lite."""
    pytest.importorskip("milvus_lite")
    import ragloom_agents
    import ragloom_local
    import ragloom_markdown
    import ragloom_milvus
    import ragloom_text
    from ragloom import PluginHost

    embedders = list(host.providers("embedders").values())
    return PluginHost(
        {
            "agents": ragloom_agents,
            "counting": make_plugin(embedders=embedders),
            "local": ragloom_local,
            "markdown": ragloom_markdown,
            "milvus": ragloom_milvus,
            "text": ragloom_text,
        }
    )


@pytest.fixture(params=STORES)
def store(request):
    return request.param


@pytest.fixture
def plugins(store, host, request):
    return request.getfixturevalue("with_milvus") if store == "milvus" else host


def found(agents, query, agent_id="notes"):
    return [hit.chunk.uri for hit in agents.index.search(agent_id, query).hits]


def best(agents, query, agent_id="notes"):
    return agents.index.search(agent_id, query, 1).hits[0].chunk.text


def test_every_store_keeps_its_fingerprint_across_restarts(
    store, plugins, write, open_agents, embedder
):
    write("agents.yaml", ONE % store)
    write("docs/a.md", "alpha apples")
    write("docs/b.md", "beta berries")
    first = open_agents(plugins=plugins).index.ensure("notes")
    assert (first.embedded, first.chunks) == (2, 2)

    again = open_agents(plugins=plugins).index.ensure("notes")
    assert (again.embedded, again.unchanged) == (0, 2)
    assert len(embedder.passages) == 2

    write("docs/b.md", "gamma grapes")
    changed = open_agents(plugins=plugins).index.ensure("notes")
    assert (changed.embedded, changed.updated, changed.unchanged) == (1, ("docs/b.md",), 1)
    assert best(open_agents(plugins=plugins), "gamma grapes") == "gamma grapes"
    assert embedder.passages == ["alpha apples", "beta berries", "gamma grapes"]


def test_a_run_without_changes_publishes_nothing(write, open_agents):
    write("agents.yaml", ONE % "sqlite")
    write("docs/a.md", "alpha")
    first = open_agents().index.ensure("notes")

    assert open_agents().index.ensure("notes").generation == first.generation


@pytest.mark.parametrize("change", ["added", "removed", "renamed", "edited", "same size and time"])
def test_every_kind_of_change_is_noticed(change, project, write, open_agents):
    write("agents.yaml", ONE % "sqlite")
    path = write("docs/a.md", "alpha")
    write("docs/b.md", "beta")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    open_agents().index.ensure("notes")

    if change == "added":
        write("docs/c.md", "gamma")
    elif change == "removed":
        path.unlink()
    elif change == "renamed":
        path.rename(project / "docs/c.md")
    else:
        write("docs/a.md", "omega" if change == "same size and time" else "alphabet")
        if change == "same size and time":
            os.utime(path, (1_000_000_000, 1_000_000_000))

    report = open_agents().index.ensure("notes")

    expected = {
        "added": (("docs/c.md",), (), ()),
        "removed": ((), (), ("docs/a.md",)),
        "renamed": (("docs/c.md",), (), ("docs/a.md",)),
        "edited": ((), ("docs/a.md",), ()),
        "same size and time": ((), ("docs/a.md",), ()),
    }
    assert (report.added, report.updated, report.removed) == expected[change]
    assert report.embedded == (change not in ("removed", "renamed"))


def test_a_failure_while_embedding_leaves_the_old_index(
    store, plugins, write, open_agents, embedder, monkeypatch
):
    write("agents.yaml", ONE % store)
    write("docs/a.md", "alpha")
    agents = open_agents(plugins=plugins)
    agents.index.ensure("notes")
    write("docs/b.md", "beta")

    def fail(_texts):
        # While another one is being made, the old index answers.
        assert best(open_agents(plugins=plugins), "alpha") == "alpha"
        raise ModelError("the model failed")

    with monkeypatch.context() as patched:
        patched.setattr(embedder, "embed_passages", fail)
        with pytest.raises(ModelError):
            agents.index.ensure("notes")
    assert found(agents, "alpha") == ["docs/a.md"]
    assert found(open_agents(plugins=plugins), "beta") == ["docs/a.md"]

    assert agents.index.ensure("notes").added == ("docs/b.md",)
    assert found(agents, "beta")[0] == "docs/b.md"


TWO = """\
rag: {store: %s, path: .ragloom/agents.db}
defaults: {docs: {strategy: rag}}
agents:
  - {id: notes, docs: {sources: ["docs/*.md"]}}
  - {id: notes-old, docs: {sources: ["old/*.md"]}}
"""


def test_notes_never_sees_notes_old(store, plugins, write, open_agents):
    write("agents.yaml", TWO % store)
    write("docs/a.md", "the shared words, new")
    write("old/a.md", "the shared words, old")
    agents = open_agents(plugins=plugins)
    agents.start()

    assert found(agents, "shared words") == ["docs/a.md"]
    assert found(agents, "shared words", "notes-old") == ["old/a.md"]

    assert agents.index.delete("notes")
    assert (agents.index.has_index("notes"), agents.index.has_index("notes-old")) == (False, True)
    with pytest.raises(NotIndexedError, match="run 'ragloom agents index notes'"):
        agents.index.search("notes", "shared words")
    assert found(open_agents(plugins=plugins), "shared words", "notes-old") == ["old/a.md"]
    assert not agents.index.delete("notes")

    assert agents.index.ensure("notes").embedded == 1
    assert found(agents, "shared words") == ["docs/a.md"]


def test_a_store_is_exchanged_by_one_word(write, open_agents, embedder, with_milvus, project):
    write("docs/a.md", "alpha")
    write("docs/b.md", "beta")
    for name in (*STORES, *reversed(STORES)):
        write("agents.yaml", ONE % name)
        agents = open_agents(plugins=with_milvus)
        agents.index.ensure("notes")
        assert best(agents, "beta") == "beta"

    assert embedder.passages == ["alpha", "beta"]
    places = [entry.name for entry in (project / ".ragloom").glob("agents*.db")]
    assert sorted(places) == ["agents-milvus.db", "agents-sqlite.db", "agents.db"]


def test_where_each_store_keeps_its_chunks(write, open_agents, project):
    write("docs/a.md", "alpha")
    write("agents.yaml", ONE % "file")
    open_agents().index.ensure("notes")
    folders = [entry.name for entry in (project / ".ragloom" / "agents.db").iterdir()]
    assert [name.startswith("agent-notes") for name in folders] == [True]

    shutil.rmtree(project / ".ragloom" / "agents.db")
    write("agents.yaml", ONE % "sqlite")
    open_agents().index.ensure("notes")
    database = project / ".ragloom" / "agents.db"
    assert database.read_bytes().startswith(b"SQLite format 3")
    assert (project / ".ragloom" / ".gitignore").read_text("utf-8").splitlines()[-1] == "*"


def test_a_place_that_is_taken_is_left_alone(tmp_path):
    database = tmp_path / "agents.db"
    assert store_place(database, "sqlite") == database
    database.touch()
    assert store_place(database, "sqlite") == database
    assert store_place(database, "file") == tmp_path / "agents-file.db"
    assert store_place(database, "milvus") == tmp_path / "agents-milvus.db"
    assert store_place(tmp_path / "index", "milvus") == tmp_path / "index.db"
    assert store_place(tmp_path, "sqlite") == tmp_path.with_name(f"{tmp_path.name}-sqlite")
    assert store_place(database, "somebody-elses") == database
    free = tmp_path / "free.db"
    assert store_place(free, "file", shared=True) == tmp_path / "free-file.db"


@pytest.mark.parametrize(
    "agent_id", ["Notes", "a/b", "..", "com:1", "日本語", "x" * 200, "a b", "a~b"]
)
def test_ids_that_cannot_name_a_folder_still_work(agent_id, write, open_agents, project):
    import json

    write("agents.yaml", ONE.replace("notes", json.dumps(agent_id)) % "sqlite")
    write("docs/a.md", "alpha")
    agents = open_agents()
    agents.index.ensure(agent_id)

    assert found(agents, "alpha", agent_id) == ["docs/a.md"]
    assert not [
        entry
        for entry in project.iterdir()
        if entry.name not in {".ragloom", "agents.yaml", "docs", "ragloom.yaml"}
    ]


def test_no_two_ids_share_a_name():
    ids = ["notes", "Notes", "NOTES", "notes.", "notes~", "a/b", "a-b", "a b", "..", "x" * 61]
    assert len({space_name(agent_id).casefold() for agent_id in ids}) == len(ids)
    assert space_name("notes-old_2.1") == "agent-notes-old_2.1"


def test_sources_are_relative_to_the_base_folder(write, open_agents, project, tmp_path):
    elsewhere = tmp_path / "generated"
    elsewhere.mkdir()
    (elsewhere / "docs").mkdir()
    (elsewhere / "docs" / "a.md").write_text("alpha elsewhere", "utf-8")
    write("docs/a.md", "alpha here")
    write("agents.yaml", ONE % "sqlite")

    agents = open_agents(RAGLOOM_DOCS_BASE_DIR=str(elsewhere))
    agents.index.ensure("notes")

    assert best(agents, "alpha") == "alpha elsewhere"
    assert found(agents, "alpha") == ["docs/a.md"]
    assert not (elsewhere / ".ragloom").exists()
    assert (project / ".ragloom" / "agents" / "spaces" / "agent-notes" / "CURRENT").is_file()


def test_a_base_folder_that_is_missing_is_named(write, open_agents):
    write("agents.yaml", ONE % "sqlite")
    with pytest.raises(ConfigError, match=r"RAGLOOM_DOCS_BASE_DIR: docs\.base_dir: there is no"):
        open_agents(RAGLOOM_DOCS_BASE_DIR="nowhere").index.ensure("notes")


def test_a_source_that_is_missing_names_the_agent(write, open_agents, project):
    write("agents.yaml", ONE % "sqlite")
    (project / "docs").rmdir()
    with pytest.raises(
        SourceError, match=r"agent 'notes': .*agents.yaml:\d+: docs/\*\.md: there is no such"
    ):
        open_agents().index.ensure("notes")


def test_sources_without_a_file_are_a_warning(write, open_agents, caplog):
    write("agents.yaml", ONE % "sqlite")
    assert open_agents().index.ensure("notes").chunks == 0
    assert "agent 'notes': no file matches docs/*.md" in caplog.text


def test_the_workspaces_own_spaces_know_nothing_of_agents(write, open_agents):
    write("agents.yaml", ONE % "sqlite")
    write("docs/a.md", "alpha")
    agents = open_agents()
    agents.index.ensure("notes")

    assert agents.workspace.spaces() == []


def test_all_agents_share_one_model(write, open_agents):
    write("agents.yaml", TWO % "sqlite")
    spaces = open_agents().index.spaces
    assert spaces.space("notes").embedder is spaces.space("notes-old").embedder


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("store", ["sqlite", "file"])
def test_a_url_is_no_path(store, write, open_agents, project):
    path = write("agents.yaml", f'rag: {{store: {store}, path: "https://u:secret@h/x"}}\n{REST}')
    write("docs/a.md", "alpha")

    with pytest.raises(ConfigError) as caught:
        open_agents().index.ensure("notes")

    assert str(caught.value) == (
        f"{path}:1: rag.path: expected a path, found a URL: the store {store!r} keeps its chunks in "
        "files"
    )
    assert sorted(entry.name for entry in project.iterdir()) == STARTED


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("embedder: {name: onnx,\n  threds: 1}", "embedder 'onnx': unknown option 'threds'"),
        ("store: {name: sqlite,\n  pth: x}", "store 'sqlite': unknown option 'pth'"),
    ],
)
def test_a_wrong_option_of_the_projects_parts_is_named_with_its_place(
    wrong, message, write, open_agents
):
    write("agents.yaml", ONE % "sqlite")
    write("docs/a.md", "alpha")
    path = write("ragloom.yaml", wrong)

    with pytest.raises(ConfigError) as caught:
        open_agents().index.ensure("notes")

    expected = f"{path}:2: {message}"
    assert expected == str(caught.value)[: len(expected)]


def test_a_store_that_does_not_exist_is_named_with_its_place(write, open_agents):
    path = write("agents.yaml", ONE % "sqlit")
    write("docs/a.md", "alpha")

    with pytest.raises((ConfigError, PluginError), match="sqlit") as caught:
        open_agents().index.ensure("notes")

    assert str(caught.value).startswith(f"{path}:1: rag.store must be one of ")


@pytest.mark.parametrize("key", ["rag: {path: %s}", "docs: {base_dir: %s}"])
def test_the_home_of_somebody_unknown_is_no_path(key, write, open_agents, project):
    own = key % '"~nosuchuser/x"'
    config = f"rag: {{store: sqlite}}\nagents:\n  - id: a\n    {own}\n"
    settings = write("agents.yaml", config)
    write("docs/a.md", "alpha")

    with pytest.raises(ConfigError, match="not '~nosuchuser/x'") as caught:
        open_agents().index.ensure("a")

    assert str(caught.value).startswith(f"{settings}:4: ")
    assert sorted(entry.name for entry in project.iterdir()) == STARTED


@pytest.mark.usefixtures("trusted")
def test_a_document_is_no_database(write, open_agents, project):
    write("agents.yaml", f"rag: {{store: sqlite}}\n{REST}")
    document = write("docs/a.md", "alpha " * 100)
    open_agents().index.ensure("notes")
    before = sorted(project.rglob("*"))
    write("agents.yaml", f"rag: {{store: sqlite, path: docs/a.md}}\n{REST}")

    with pytest.raises(StoreError, match="is not a database") as caught:
        open_agents().index.ensure("notes")

    assert not isinstance(caught.value, StoreDamagedError)
    assert "repair" not in str(caught.value)
    assert document.read_text("utf-8") == "alpha " * 100
    assert [path for path in before if not path.exists()] == []
    assert not list(project.rglob("*damaged*"))
    assert found(open_agents(), "alpha") == ["docs/a.md"]

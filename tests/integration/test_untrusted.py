"""What a hostile clone asks for, through every way in, and what its user sees instead.

The home folder, the files around the clone and a socket that listens are real; none of them is touched.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result

from ragloom import UntrustedError, Workspace
from ragloom.cli import cli

Run: TypeAlias = Callable[..., Result]

PRIVATE = "penguins rotate the credentials"
FORGED = "docs/$(touch pwned).md"


def content(folder: Path) -> Mapping[str, bytes | Path]:
    """Every file below a folder, and what its links lead to."""
    return {
        str(path.relative_to(folder)): path.readlink() if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder, which holds what ragloom keeps for its user, too."""
    folder = tmp_path / "home"
    for name in (".bashrc", ".ssh/id_rsa", ".aws/config", "notes/private.md", "lessons.db"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"# {PRIVATE}\nexport A=1\n", "utf-8")
    (folder / "models" / "m").mkdir(parents=True)
    (folder / "models" / "m" / "config.json").write_text("{}", "utf-8")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def clone(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with documents, one of them named to be a command of a shell."""
    folder = tmp_path / "clone"
    for name in ("docs/logging.md", FORGED, "docs/adrs/one.md", "data/templates/t.md"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("# Logging\n\nLog errors with a correlation id.\n", "utf-8")
    (folder / ".git").mkdir()
    outside = tmp_path / "secret"
    outside.mkdir()
    (outside / "s.md").write_text(f"# {PRIVATE}\n", "utf-8")
    (folder / "linked").symlink_to(outside)
    (folder / "docs" / "inner").symlink_to(home / "notes")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(clone: Path) -> Run:
    """Run a command in the clone, without a terminal."""

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(cli, arguments)

    return invoke


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that notes every connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


ATTACKS = {
    "audit appends to a start-up file": ("audit: {path: ~/.bashrc}", "audit.path"),
    "audit rotates a key away": (
        "audit: {path: ~/.ssh/id_rsa, max_bytes: 1, keep: 0}",
        "audit.path",
    ),
    "audit writes into the clone's git": ("audit: {path: .git/hooks/pre-commit}", "audit.path"),
    "audit leaves the state by dots": ("audit: {path: .ragloom/../../x.jsonl}", "audit.path"),
    "a file of the home folder": ("sources: [docs, ~/.aws/config]", "sources"),
    "an absolute path": ("sources: [/etc/hostname]", "sources"),
    "the environment": ("sources: [/proc/self/environ]", "sources"),
    "a folder beside": ("sources: [../secret]", "sources"),
    "a glob beside": ("sources: ['../secret/*.md']", "sources"),
    "dots inside a path": ("sources: [docs/../../secret]", "sources"),
    "a link inside": ("sources: [linked]", "sources"),
    "a link below a folder": ("sources: [docs/inner]", "sources"),
    "a space's own sources": ("spaces:\n  docs: {sources: [../secret]}", "spaces.docs.sources"),
    "a server": ("store: {name: milvus, uri: 'http://127.0.0.1:PORT'}", "store.uri"),
    "a server with a password": (
        "store: {name: milvus, uri: 'http://u:hunter2@127.0.0.1:PORT'}",
        "store.uri",
    ),
    "a store's file": ("store: {name: sqlite, path: ~/lessons.db}", "store.path"),
    "a store over a document": ("store: {name: file, path: docs}", "store.path"),
    "a store of one space": (
        "spaces: {docs: {store: {name: sqlite, path: ../x.db}}}",
        "store.path",
    ),
    "a model of a hub": ("embedder: {name: onnx, model: BAAI/bge-small-en-v1.5}", "embedder.model"),
    "a model of the home folder": ("embedder: {name: onnx, model: ~/models/m}", "embedder.model"),
    "a reranker of a hub": ("reranker: {name: onnx, model: a/b}", "reranker.model"),
    "a reranker kept for later": ("reranker: {name: none, model: a/b}", "reranker.model"),
    "code as an embedder": ("embedder: 'llamaindex:os.path.join'", "embedder"),
    "code as a chunker": ("chunker: 'llamaindex:evil.module.Parser'", "chunker.part"),
    "code as a loader": ("loaders: {md: 'llamaindex:evil.Reader'}", "loaders.md.part"),
    "a database of lessons": (
        "knowledge: {database: 'postgresql://127.0.0.1:PORT/x'}",
        "knowledge.database",
    ),
    "a file of lessons": ("knowledge: {database: 'sqlite:////tmp/x.db'}", "knowledge.database"),
    "templates of the home folder": ("templates: {dirs: [~/notes]}", "templates.dirs"),
    "the librarian's folders": ("librarian: {sources: [../secret]}", "librarian.sources"),
    "an agent's folder": ("agents: [{id: a, docs: {base_dir: ..}}]", "agents.0.docs.base_dir"),
    "where agents keep chunks": ("rag: {path: ../agents.db}", "rag.path"),
}
COMMANDS = {
    "search": ("search", "how do I log errors?", "--store", "file"),
    "search --no-refresh": ("search", "errors", "--no-refresh"),
    "context": ("context", "how do I log errors?"),
    "index": ("index",),
    "index PATH": ("index", "docs"),
    "watch": ("watch",),
    "status": ("status",),
    "explain": ("explain", "errors"),
    "verify": ("verify",),
    "repair": ("repair",),
    "mcp": ("mcp", "--index"),
    "agents": ("agents", "index"),
    "librarian": ("librarian", "rebuild"),
    "knowledge": ("knowledge", "list"),
    "templates": ("templates", "index"),
}


def attack(clone: Path, name: str, listener: socket.socket) -> str:
    """Write the settings of an attack, and return the key that it misuses."""
    text, key = ATTACKS[name]
    port = listener.getsockname()[1]
    (clone / "ragloom.yaml").write_text(f"top_k: 5\n{text.replace('PORT', str(port))}\n", "utf-8")
    return key


def refused(said: str, clone: Path, key: str, file: str = "ragloom.yaml") -> bool:
    """Whether one line names the file, a line, the key and the command."""
    line = said.strip()
    start = f"{clone / file}:"
    return (
        "\n" not in line
        and start in line
        and line.partition(start)[2][0].isdigit()
        and key.rpartition(".")[2] in line
        and "run 'ragloom trust" in line
        and "hunter2" not in line
    )


def untouched(clone: Path, listener: socket.socket) -> bool:
    with pytest.raises(BlockingIOError):
        listener.accept()
    return not (clone / ".ragloom").exists()


@pytest.mark.parametrize("name", ATTACKS)
def test_settings_of_a_clone_are_refused_when_it_is_opened(name, clone, home, listener, tmp_path):
    key = attack(clone, name, listener)
    before = content(tmp_path)

    with pytest.raises(UntrustedError) as caught:
        Workspace.open(clone)

    assert refused(str(caught.value), clone, key)
    assert before == content(tmp_path)
    assert untouched(clone, listener)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "name", ["audit appends to a start-up file", "a link inside", "a server with a password"]
)
def test_every_command_refuses_them(name, command, run, clone, home, listener, tmp_path):
    key = attack(clone, name, listener)
    before = content(tmp_path)

    result = run(*COMMANDS[command])

    assert 1 == result.exit_code
    assert "" == result.stdout
    assert refused(result.stderr, clone, key)
    assert before == content(tmp_path)
    assert untouched(clone, listener)


AGENTS = {
    "a folder beside": (
        "agents: [{id: a, docs: {strategy: rag, sources: [../secret]}}]",
        "sources",
    ),
    "the home folder": ("agents: [{id: a, docs: {base_dir: '~', sources: [notes]}}]", "base_dir"),
    "a link inside": ("agents: [{id: a, docs: {strategy: rag, sources: [linked]}}]", "sources"),
    "a link below a base folder": (
        "agents: [{id: a, docs: {base_dir: docs, strategy: rag, sources: [inner]}}]",
        "sources",
    ),
    "for all of them": (
        "defaults: {docs: {base_dir: ..}}\nagents: [{id: a, docs: {sources: [secret]}}]",
        "base_dir",
    ),
    "where they keep chunks": (
        "rag: {store: sqlite, path: ~/lessons.db}\nagents: [{id: a, docs: {sources: [docs]}}]",
        "path",
    ),
    "a server": (
        "agents: [{id: a, rag: {store: milvus, path: 'http://127.0.0.1:PORT'}, docs: {sources: [docs]}}]",
        "path",
    ),
}


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("file", ["agents.yaml", "ragloom.yaml"])
def test_what_agents_ask_for_is_refused(name, file, run, clone, listener, tmp_path):
    from ragloom_agents import Agents, RagSearch

    text, key = AGENTS[name]
    (clone / file).write_text(text.replace("PORT", str(listener.getsockname()[1])), "utf-8")
    before = content(tmp_path)

    for command in ("index a", "search a errors", "prompt a", "show a"):
        result = run("agents", *command.split())
        assert 1 == result.exit_code, command
        assert refused(result.stderr, clone, key, file)
    listed = run("agents", "list")
    assert refused(listed.stdout + listed.stderr, clone, key, file)
    for use in (
        lambda agents: agents.prompt("a"),
        lambda agents: RagSearch(agents.index, "a"),
        lambda agents: agents.index.ensure("a"),
        lambda agents: agents.index.search("a", "errors"),
        lambda agents: agents.index.delete("a"),
    ):
        with pytest.raises(UntrustedError) as caught:
            use(Agents.open(clone))
        assert refused(str(caught.value), clone, key, file)
    result = run("mcp", "--agent", "a", "--index")
    assert 1 == result.exit_code
    assert refused(result.stderr, clone, key, file)
    assert before == content(tmp_path)
    assert untouched(clone, listener)


def test_an_agent_that_is_refused_stops_no_other(run, clone, listener):
    (clone / "agents.yaml").write_text(
        "agents:\n"
        "  - {id: good, docs: {strategy: rag, sources: [docs]}}\n"
        "  - {id: bad, docs: {strategy: rag, sources: [../secret]}}\n",
        "utf-8",
    )
    result = run("agents", "index")
    assert (1, "good: 3 added") == (result.exit_code, result.stdout[:13])
    (error,) = (line for line in result.stderr.splitlines() if line.startswith("error: "))
    assert error.startswith("error: bad: not indexed: ")
    assert refused(error, clone, "agents.bad.docs.sources", "agents.yaml")
    rows = [line.split("\t") for line in run("agents", "list").stdout.splitlines()]
    assert ["bad", "good"] == [row[0] for row in rows]
    assert refused(rows[0][3], clone, "agents.bad.docs.sources", "agents.yaml")
    for command in ("search good errors", "prompt good", "show good"):
        result = run("agents", *command.split())
        assert 0 == result.exit_code, command
        assert "trust" not in result.stderr
    run("trust", "--yes")
    result = run("agents", "index")
    assert (0, "bad: 1 added") == (result.exit_code, result.stdout[:12])


def test_the_users_own_agents_need_no_trust(run, clone, home):
    (clone / "agents.yaml").write_text("agents: [{id: a, docs: {sources: [docs]}}]", "utf-8")
    own = home / ".config" / "ragloom" / "agents.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("agents: [{id: a, docs: {base_dir: ~/notes, sources: ['*.md']}}]", "utf-8")

    result = run("agents", "prompt", "a")

    assert PRIVATE in result.stdout


def test_a_variable_and_an_option_need_no_trust(run, clone, home, monkeypatch):
    (clone / "ragloom.yaml").write_text("sources: [../secret]\nstore: file\n", "utf-8")
    monkeypatch.setenv("RAGLOOM_SOURCES", "~/notes")
    monkeypatch.setenv("RAGLOOM_AUDIT_PATH", "~/audit.jsonl")

    result = run("search", "penguins", "--mode", "lexical")

    assert PRIVATE in result.stdout
    assert (home / "audit.jsonl").is_file()


@pytest.mark.parametrize(
    ("record", "key"),
    [
        ('{"sources": ["../secret"]}', "sources"),
        ('{"sources": ["docs/inner"]}', "sources"),
        ('{"sources": ["~/.aws/config"]}', "sources"),
        ('{"embedder": "llamaindex:a.b"}', "embedder"),
        ('{"chunker": "llamaindex:a.b"}', "chunker.part"),
    ],
)
@pytest.mark.parametrize("arguments", ["search errors", "index", "context errors", "status", "mcp"])
def test_a_record_that_a_clone_brings_is_refused(record, key, arguments, run, clone, tmp_path):
    file = clone / ".ragloom" / "spaces" / "default" / "space.json"
    file.parent.mkdir(parents=True)
    file.write_text(record, "utf-8")
    (file.parent / "CURRENT").write_text("1", "utf-8")
    before = content(tmp_path)

    result = run(*arguments.split(), *(["--index"] if arguments == "mcp" else []))

    assert 1 == result.exit_code
    assert refused(result.stderr, clone, key, ".ragloom/spaces/default/space.json")
    assert before == content(tmp_path)


def test_templates_that_a_clone_says_were_added_are_refused(run, clone, tmp_path):
    assert 0 == run("templates", "index").exit_code
    (folder,) = (clone / ".ragloom" / "templates").iterdir()
    (folder / "changes.json").write_text('{"added": ["../secret/s.md"], "left_out": []}', "utf-8")

    result = run("templates", "index")

    assert 1 == result.exit_code
    assert "changes.json:1: templates.added: '../secret/s.md'" in result.stderr
    (folder / "changes.json").unlink()
    assert 0 == run("templates", "add", "../secret/s.md").exit_code  # by the user's own command
    assert 0 == run("templates", "index").exit_code


@pytest.mark.parametrize(
    ("link", "arguments"),
    [("data/templates", "templates index"), ("docs/standards", "librarian rebuild")],
)
def test_a_default_folder_that_is_a_link_is_refused(link, arguments, run, clone, tmp_path):
    if (clone / link).exists():
        (clone / link / "t.md").unlink()
        (clone / link).rmdir()
    (clone / link).symlink_to(tmp_path / "secret")

    result = run(*arguments.split())

    assert 1 == result.exit_code
    assert f"'{link}' is a link to outside" in result.stderr
    assert "run 'ragloom trust" in result.stderr
    assert not list(clone.rglob("CURRENT"))
    assert 0 == run("trust", "--yes").exit_code
    assert 0 == run(*arguments.split()).exit_code


def test_the_librarians_node_degrades_and_says_why(clone, listener, tmp_path):
    from ragloom_librarian import librarian_node

    key = attack(clone, "a server with a password", listener)
    before = content(tmp_path)

    update = librarian_node({"issue_brief": "How do I log errors?"})

    assert refused(update["degraded_reason"], clone, key)
    assert before == content(tmp_path)
    assert untouched(clone, listener)


def test_llm_gets_the_line_and_nothing_else(clone, listener, tmp_path):
    pytest.importorskip("llm")
    from ragloom_llm.searching import fragment, rag_search

    key = attack(clone, "a server with a password", listener)
    before = content(tmp_path)

    for ask in (lambda: rag_search("errors"), lambda: fragment(":errors")):
        try:
            said = str(ask())
        except Exception as error:  # noqa: BLE001 - each in llm's own class
            said = str(error)
        assert refused(said, clone, key)
    assert before == content(tmp_path)
    assert untouched(clone, listener)


@pytest.mark.parametrize(
    "name", ["a server with a password", "a database of lessons", "a link inside"]
)
def test_python_opens_none_of_them(name, clone, listener, tmp_path):
    from ragloom_agents import Agents
    from ragloom_knowledge import KnowledgeBase
    from ragloom_langchain import RagloomRetriever
    from ragloom_librarian import KnowledgeBase as Librarian
    from ragloom_librarian import query_knowledge_base
    from ragloom_templates import TemplateLibrary

    key = attack(clone, name, listener)
    before = content(tmp_path)

    for opened in (
        Agents.open,
        KnowledgeBase.open,
        Librarian.open,
        RagloomRetriever.open,
        TemplateLibrary,
        lambda: query_knowledge_base("errors"),
    ):
        with pytest.raises(UntrustedError) as caught:
            opened()
        assert refused(str(caught.value), clone, key)
    assert before == content(tmp_path)
    assert untouched(clone, listener)

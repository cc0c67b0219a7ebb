"""``ragloom agents`` over the real pages and agents of ``examples``, with the bundled model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragloom import ConfigError, PluginHost
from ragloom.cli import Session

pytest.importorskip("onnxruntime")

from ragloom_agents.cli import agents


@pytest.fixture(scope="module")
def examples(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(root / "examples" / "docs", folder / "docs")
    shutil.copy(root / "examples" / "agents.yaml", folder)
    return folder


@pytest.fixture(scope="module")
def plugins() -> PluginHost:
    return PluginHost.discover()


@pytest.fixture
def run(examples, plugins, environment, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    def invoke(*arguments: str, folder: Path = examples) -> Result:
        session = Session(folder=str(folder), plugins=plugins)
        return CliRunner().invoke(agents, arguments, obj=session, catch_exceptions=False)

    return invoke


def test_each_agent_answers_from_its_own_sources_only(run):
    query = "How should errors be logged?"
    observer = json.loads(run("search", "observer", query, "--json").stdout)
    architect = json.loads(run("search", "architect", query, "--json").stdout)
    reviewer = json.loads(run("search", "reviewer", query, "--json").stdout)

    assert {hit["path"].split("/")[1] for hit in observer["hits"]} == {"observability"}
    assert {hit["path"].split("/")[1] for hit in architect["hits"]} <= {
        "design",
        "non-functional-requirements",
    }
    assert {hit["path"].split("/")[1] for hit in reviewer["hits"]} <= {"code-reviews"}
    assert len(observer["hits"]) == 3
    assert architect["hits"]


def test_they_are_on_different_stores(run, examples):
    run("index")
    state = examples / ".ragloom"

    assert (state / "agents.db").read_bytes().startswith(b"SQLite format 3")
    assert list((state / "agents-file.db").glob("agent-architect*/chunks-*.jsonl"))


def test_a_hit_is_the_slice_of_its_file(run, examples):
    hit = json.loads(run("search", "observer", "what is a trace?", "--json").stdout)["hits"][0]

    text = (examples / hit["path"]).read_text("utf-8")
    assert text[hit["span"][0] : hit["span"][1]] == hit["text"]


def test_the_score_that_is_shown_is_the_relevance(run):
    hits = json.loads(run("search", "observer", "what is a trace?", "--json").stdout)["hits"]
    text = run("search", "observer", "what is a trace?").stdout

    place = f"{hits[0]['path']}:{hits[0]['start_line']}"
    assert text.startswith(f"--- Result 1 (score: {hits[0]['relevance']:.3f}, source: {place}")


def test_nothing_relevant_is_no_failure(run):
    done = run("search", "observer", "a recipe for apple pie with cinnamon")

    assert done.exit_code == 0
    first, second = done.stdout.splitlines()
    assert first == "No relevant documentation found for your query."
    assert "no relevant match" in second
    assert second not in done.stderr
    as_json = run("search", "observer", "a recipe for apple pie with cinnamon", "--json")
    assert as_json.stderr.rstrip().endswith(second)


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "no agents: neither agents.yaml"), ("agents: [{id: a}]\n", "no agent has the tool")],
)
def test_index_says_why_it_indexes_nothing(run, tmp_path, text, told):
    (tmp_path / "agents.yaml").write_text(text, "utf-8")
    done = run("index", folder=tmp_path)

    assert (0, "") == (done.exit_code, done.stdout)
    assert done.stderr.startswith(told)


def test_list_says_what_there_is(run):
    run("index")
    rows = {row["id"]: row for row in json.loads(run("list", "--json").stdout)}

    assert list(rows) == ["architect", "observer", "reviewer"]
    assert (rows["reviewer"]["strategy"], rows["reviewer"]["tool"]) == ("preload", False)
    assert (rows["observer"]["strategy"], rows["observer"]["tool"]) == ("rag", True)
    assert rows["observer"]["chunks"] > 10
    line = run("list").stdout.splitlines()[1]
    assert line.split("\t")[:3] == ["observer", "rag", "rag_search"]


def test_show_says_where_each_value_came_from(run, examples, monkeypatch):
    monkeypatch.setenv("RAGLOOM_RAG_CHUNK_SIZE", "900")
    values = json.loads(run("show", "architect", "--json").stdout)
    shown = {row["key"]: (row["value"], Path(row["origin"]).name) for row in values}

    assert shown["rag.store"] == ("file", "agents.yaml:23")
    assert shown["rag.path"] == (".ragloom/agents.db", "agents.yaml:4")
    assert shown["rag.chunk_size"] == (900, "RAGLOOM_RAG_CHUNK_SIZE")
    assert shown["docs.top_k"] == (5, "default")
    assert shown["docs.strategy"] == ("rag", "agents.yaml:25")
    assert "docs.strategy\trag\t" in run("show", "architect").stdout


def test_prompt_prints_what_would_be_sent(run):
    made = json.loads(run("prompt", "reviewer", "--json").stdout)

    assert made["text"].startswith("You help to review code.")
    assert made["included"][0] == "docs/code-reviews/README.md"
    assert made["included"] == sorted(made["included"])
    assert made["left_out"] == []
    assert made["tokens"] <= made["budget"] == 12000
    assert run("prompt", "reviewer").stdout == made["text"] + "\n"
    assert "rag_search" in run("prompt", "observer").stdout


@pytest.mark.usefixtures("trusted")
def test_prompt_names_what_does_not_fit(run, examples, tmp_path):
    (tmp_path / "agents.yaml").write_text(
        f"agents: [{{id: a, docs: {{budget: 900, base_dir: {json.dumps(str(examples))}, "
        'sources: ["docs/code-reviews/**/*.md"]}}]\n',
        "utf-8",
    )
    done = run("prompt", "a", folder=tmp_path)

    assert "docs/code-reviews/recipes/python.md: not in the prompt: " in done.stderr
    assert "docs/code-reviews/recipes/python.md" in done.stdout.splitlines()[-1]


def test_index_counts_what_was_embedded(run, examples):
    run("index")
    (examples / "docs" / "observability" / "new.md").write_text("# New\n\nA new page.\n", "utf-8")
    report = json.loads(run("index", "observer", "--json").stdout)

    assert (report["agent"], report["chunks"]["embedded"]) == ("observer", 1)
    assert report["files"]["added"] == 1
    assert run("index").stdout.splitlines()[0].startswith("architect: 0 added, 0 updated")
    (examples / "docs" / "observability" / "new.md").unlink()


def test_an_unknown_agent_is_one_line(run):
    with pytest.raises(ConfigError, match="unknown agent 'observr'; did you mean 'observer'"):
        run("search", "observr", "a")


BROKEN = """\
agents:
  - {id: a, docs: {strategy: rag, sources: ["gone/*.md"]}}
  - {id: b, docs: {strategy: rag, sources: ["docs/*.md"]}}
  - {id: c, docs: {strategy: rag, base_dir: nowhere, sources: ["docs/*.md"]}}
  - {id: "d\\n\\te", description: two lines}
"""


@pytest.fixture
def broken(tmp_path):
    """A project with one good agent among those that cannot be indexed."""
    folder = tmp_path / "broken"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("# Alpha\n\nAll about alpha.\n", "utf-8")
    (folder / "agents.yaml").write_text(BROKEN, "utf-8")
    return folder


def test_index_goes_on_after_an_agent_that_fails(run, broken):
    done = run("index", folder=broken)

    assert (done.exit_code, done.stdout.count("\n")) == (1, 1)
    assert done.stdout.startswith("b: 1 added")
    failures = done.stderr.splitlines()
    assert [line[:21] for line in failures] == ["error: a: not indexed", "error: c: not indexed"]
    assert "agents.yaml:2: gone/*.md: there is no such file or folder" in failures[0]
    assert "agents.yaml:4: docs.base_dir: there is no folder" in failures[1]
    assert run("index", "b", folder=broken).exit_code == 0


def test_an_unknown_agent_stops_index_before_it_begins(run, broken):
    with pytest.raises(ConfigError, match="unknown agent 'x'"):
        run("index", "b", "x", folder=broken)
    assert not (broken / ".ragloom").exists()


def test_list_shows_what_is_wrong_in_the_row_of_its_agent(run, broken):
    run("index", "b", folder=broken)
    lines = [line.split("\t") for line in run("list", folder=broken).stdout.splitlines()]

    assert [line[0] for line in lines] == ["a", "b", "c", "d\u240a\u2409e"]
    assert [line[3].rstrip("s") for line in lines[:2]] == ["not indexed", "1 chunk"]
    assert "docs.base_dir: there is no folder" in lines[2][3]
    rows = json.loads(run("list", "--json", folder=broken).stdout)
    assert [row["error"] and row["error"][-7:] for row in rows] == [None, None, "nowhere", None]
    assert [row["chunks"] for row in rows] == [None, 1, None, None]


def test_it_is_a_command_of_ragloom(examples, environment):
    command = [sys.executable, "-m", "ragloom", "agents", "list", "--json", "-C", str(examples)]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=dict(os.environ) | environment
    )

    assert [row["id"] for row in json.loads(done.stdout)] == ["architect", "observer", "reviewer"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rag:\n  store: sqllite\n", "agents.yaml:2: rag.store must be one of "),
        (
            "agents:\n  - id: a\n    doc: {}\n",
            "agents.yaml:3: agents[0]: unknown option 'doc'; did",
        ),
    ],
)
def test_a_wrong_file_is_one_line_and_exit_code_1(text, message, tmp_path, environment):
    (tmp_path / "agents.yaml").write_text(text, "utf-8")
    command = [sys.executable, "-m", "ragloom", "agents", "list", "-C", str(tmp_path)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env=dict(os.environ) | environment
    )

    (line,) = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (1, "")
    assert line.startswith("error: ")
    assert message in line

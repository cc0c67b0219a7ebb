"""``llm`` itself, with a model of our own that is registered through its plugin API."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("llm")
pytest.importorskip("onnxruntime")

import llm
from llm.cli import cli
from llm.plugins import load_plugins, pm

import ragloom
from ragloom import Workspace


class EchoModel(llm.Model):
    """Answers with what it was sent; asked to search, it calls the tool once."""

    model_id = "ragloom-echo"
    supports_tools = True

    def execute(self, prompt, stream, response, conversation):
        if prompt.tool_results:
            yield "TOOL SAID: " + prompt.tool_results[0].output
        elif prompt.tools and "search" in prompt.prompt:
            arguments = json.loads(prompt.prompt.partition(" ")[2])
            response.add_tool_call(llm.ToolCall(name="rag_search", arguments=arguments))
        else:
            yield "PROMPT WAS: " + prompt.prompt


class EchoPlugin:
    __name__ = "ragloom-echo-plugin"

    @llm.hookimpl
    def register_models(self, register):
        register(EchoModel())


@pytest.fixture(scope="module", autouse=True)
def echo():
    load_plugins()
    plugin = EchoPlugin()
    pm.register(plugin, name="ragloom-echo")
    yield
    pm.unregister(plugin)


@pytest.fixture(scope="module")
def user_path(tmp_path_factory):
    """The folder of llm's own database, whose making takes seconds."""
    return tmp_path_factory.mktemp("llm")


@pytest.fixture
def project(tmp_path, monkeypatch, user_path):
    folder = tmp_path / "project"
    for path, text in {
        "docs/s3.md": "# Buckets\n\nCopy a bucket with aws s3 cp.\n",
        "docs/ec2.md": "# Machines\n\nStart a virtual machine with aws ec2 run-instances.\n",
        "ragloom.yaml": "store: sqlite\nspaces:\n  docs: {sources: [docs]}\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LLM_USER_PATH", str(user_path))
    return folder


@pytest.fixture
def indexed(project) -> Workspace:
    workspace = Workspace.open(project)
    workspace.space("docs").index()
    return workspace


def run(*arguments):
    return CliRunner().invoke(cli, ["-m", "ragloom-echo", "--no-stream", "--no-log", *arguments])


def test_it_is_found_through_llms_entry_points():
    assert "ragloom" in llm.get_fragment_loaders()
    assert "rag_search" in llm.get_tools()
    assert any("register_tools" in plugin["hooks"] for plugin in llm.get_plugins())


@pytest.mark.parametrize("space", ["docs", ""])
def test_a_fragment_is_what_the_index_says(space, indexed):
    done = run("-f", f"ragloom:{space}:how do I copy a bucket?", "Answer me.")

    assert done.exit_code == 0, done.output
    assert done.output.startswith("PROMPT WAS: --- Result 1 (score: ")
    assert (
        "source: docs/s3.md:1-3 | Buckets) ---\n# Buckets\n\nCopy a bucket with aws s3 cp."
        in done.output
    )
    assert done.output.rstrip().endswith("Answer me.")


def test_without_a_name_several_spaces_are_asked_as_one(indexed, project):
    (project / "runbooks").mkdir()
    (project / "runbooks" / "full.md").write_text("# Full bucket\n\nEmpty the bucket first.\n")
    with (project / "ragloom.yaml").open("a", encoding="utf-8") as file:
        file.write("  runbooks: {sources: [runbooks]}\n")
    Workspace.open(project).space("runbooks").index()

    fragment = run("-f", "ragloom::bucket", "Answer me.").output
    tool = run("-T", "rag_search", 'search {"query": "bucket"}').output
    for said in (fragment, tool):
        assert "source: docs/s3.md" in said
        assert "source: runbooks/full.md" in said


def test_nothing_relevant_is_said_to_the_model(indexed):
    done = run("-f", "ragloom:docs:a recipe for apple pie", "Answer me.")

    assert done.exit_code == 0, done.output
    assert "No relevant documentation found for your query.\nno relevant match" in done.output
    assert re.search(r"closest: (docs/\w+\.md):1 .*; rephrase the query, or read \1", done.output)


@pytest.mark.parametrize(
    ("fragment", "message"),
    [
        ("ragloom:doc:bucket", "unknown space 'doc'; did you mean 'docs'?"),
        ("ragloom:docs", "expected ragloom:SPACE:QUERY"),
        ("ragloom:docs: ", "expected ragloom:SPACE:QUERY"),
    ],
)
def test_a_wrong_fragment_is_a_line(fragment, message, indexed):
    done = run("-f", fragment, "Answer me.")

    assert done.exit_code == 1
    assert message in done.output


def test_without_an_index_it_says_what_to_do(project):
    (project / "ragloom.yaml").unlink()
    done = run("-f", "ragloom:docs:bucket", "Answer me.")

    assert done.exit_code == 1
    assert "nothing is indexed in" in done.output
    assert "run 'ragloom index'" in done.output


def test_a_model_calls_the_tool(indexed):
    done = run("-T", "rag_search", 'search {"query": "copy a bucket", "top_k": 1}')

    assert done.exit_code == 0, done.output
    assert "TOOL SAID: --- Result 1 (score: " in done.output
    assert "source: docs/s3.md" in done.output
    assert "Result 2" not in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"query": ""}, "query must be a string that is not empty, not ''"),
        ({"query": None}, "query must be a string that is not empty, not None"),
        ({"query": ["a"] * 100}, "query must be a string that is not empty, not ['a', 'a',"),
        ({"query": "a\ud800"}, "query holds half of a character"),
        ({"query": "a", "top_k": 0}, "top_k must be a whole number from 1 to 50, not 0"),
        ({"query": "a", "top_k": "51"}, "top_k must be a whole number from 1 to 50, not '51'"),
        (
            {"query": "a", "top_k": "three"},
            "top_k must be a whole number from 1 to 50, not 'three'",
        ),
        (
            {"query": "a", "top_k": "9" * 5000},
            "top_k must be a whole number from 1 to 50, not '999",
        ),
        ({"query": "a", "top_k": 1.5}, "top_k must be a whole number from 1 to 50, not 1.5"),
        ({"query": "a", "top_k": True}, "top_k must be a whole number from 1 to 50, not True"),
        ({"query": "a", "top_k": [1]}, "top_k must be a whole number from 1 to 50, not [1]"),
        ({"query": "a", "space": 3}, "space must be the name of a space, not 3"),
        ({"query": "a", "space": "nothing"}, "unknown space 'nothing'"),
    ],
)
def test_what_is_wrong_is_told_to_the_model(arguments, message, indexed):
    done = run("-T", "rag_search", f"search {json.dumps(arguments)}")

    assert done.exit_code == 0, done.output
    assert message in done.output
    assert len(done.output) < 300


def test_the_tool_describes_itself():
    tool = llm.get_tools()["rag_search"]

    assert tool.input_schema["required"] == ["query"]
    assert set(tool.input_schema["properties"]) == {"query", "space", "top_k"}
    assert tool.description.startswith("Search the documents")


def test_lessons_are_out_of_reach_unless_a_setting_names_them(indexed, project):
    pytest.importorskip("sqlalchemy")
    from ragloom_knowledge import KnowledgeBase

    with KnowledgeBase.of(indexed) as knowledge:
        knowledge.capture_failure_solution(
            "shop", "backend", "Copying a bucket times out", solution_steps="Copy it in batches"
        )
        knowledge.process_checkpoint("shop")

    done = run("-f", "ragloom:knowledge:buckets", "Answer me.")
    assert (done.exit_code, "unknown space 'knowledge'" in done.output) == (1, True)
    assert "in batches" not in run("-f", "ragloom::copying a bucket times out", "Answer me.").output

    with Path("ragloom.yaml").open("a", encoding="utf-8") as file:
        file.write("knowledge: {serve: true}\n")
    done = run("-f", "ragloom:knowledge:copying a bucket times out", "Answer me.")
    assert "Copy it in batches" in done.output


@pytest.mark.parametrize("name", ["knowledge-base", "knowledge"])
def test_a_space_is_found_whatever_its_name(name, indexed):
    settings = replace(indexed.settings.defaults, sources=("docs",))
    indexed.space(name, settings=settings).index()

    done = run("-f", f"ragloom:{name}:copy a bucket", "Answer me.")
    assert "source: docs/s3.md" in done.output


@pytest.mark.parametrize("top_k", ["1", " 1 ", 1.0])
def test_numbers_as_models_write_them_are_taken(top_k, indexed):
    given = json.dumps({"query": "copy a bucket", "top_k": top_k, "space": None})
    done = run("-T", "rag_search", f"search {given}")

    assert "TOOL SAID: --- Result 1 (score: " in done.output
    assert "Result 2" not in done.output


def test_what_is_left_out_as_null_has_its_default(indexed):
    given = json.dumps({"query": "copy a bucket", "top_k": None, "space": None})
    assert "TOOL SAID: --- Result 1" in run("-T", "rag_search", f"search {given}").output


def test_a_fragment_holds_all_of_a_file_and_the_tool_names_what_it_folds(indexed, project):
    sections = (f"## Queue {n}\n\nQueue {n} is drained by the worker.\n\n" for n in range(5))
    (project / "docs" / "queues.md").write_text("".join(sections), "utf-8")
    Workspace.open(project).space("docs").index()
    fragment = run("-f", "ragloom:docs:queue drained", "Answer me.").output
    assert (5, False) == (fragment.count("source: docs/queues.md"), "more in this file" in fragment)
    tool = run("-T", "rag_search", 'search {"query": "queue drained"}').output
    assert (3, True) == (tool.count("source: docs/queues.md"), "2 more in this file" in tool)


def test_a_template_is_a_template_of_llm(tmp_path, monkeypatch):
    folder = tmp_path / "data" / "templates"
    (folder / "weave").mkdir(parents=True)
    (folder / "weave" / "SKILL.md").write_text(
        "---\nname: weave\n---\nPay $5 for ${wood}.\n", "utf-8"
    )
    (folder / "sum.md").write_text("In {{language}}: {{input}}\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    load = llm.get_template_loaders()["ragloom"]
    prompt, system = load("weave").evaluate("A chair.", {"wood": "oak"})
    assert "A chair." == prompt
    assert system.endswith("Pay $5 for oak.")
    assert str(folder / "weave") in system
    assert ("In German: Hi", None) == load("sum").evaluate("Hi", {"language": "German"})
    with pytest.raises(ragloom.ConfigError, match="unknown template 'weav'"):
        load("weav")

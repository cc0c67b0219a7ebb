"""The examples in the help texts of ``ragloom templates`` return what they say, on the bundled model."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from click.testing import CliRunner

from ragloom.cli import cli

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("milvus_lite", reason="needs the extra [milvus]")

from ragloom_templates.cli import templates

LIBRARY = {
    "data/templates/proof.md": (
        "Proof by contradiction",
        "mathematics",
        "Prove a claim by assuming the opposite",
        "1. Assume that the claim is false.\n2. Derive a contradiction.",
    ),
    "data/templates/slow-query.md": (
        "Slow query",
        "databases",
        "Find out why a database query is slow, and make it fast",
        "1. Read the plan of the query.\n2. Look for a missing index.",
    ),
    "data/templates/summary.md": (
        "Summary of a talk",
        "language",
        "Summarise a talk or a lecture",
        "Summarise in {{language}}:\n\n{{input}}",
    ),
    "data/templates/five-whys.md": (
        "Five whys",
        "engineering",
        "Find the root cause of an outage",
        "1. Ask why it happened.\n2. Ask again, five times.",
    ),
    "data/templates/skills/mcp-builder/SKILL.md": (
        "mcp-builder",
        "engineering",
        "Build a server for the Model Context Protocol",
        "1. Read the API.\n2. Write the tools.",
    ),
    "prompts/outage-report.md": ("Outage report", "engineering", "Report an outage", "1. When?"),
    "home/prompts/five-whys.md": ("Five whys at home", "engineering", "Ask why", "1. Ask why."),
    "home/skills/pdf/SKILL.md": ("pdf", "documents", "Fill in PDF forms", "1. Read the form."),
}
FIRST = {
    "Prove that the square root of 2 is irrational": "proof",
    "Prove that there is no largest prime": "proof",
    "Why is this query slow?": "slow-query",
    "Summarise the talk": "summary",
}


def examples(command):
    lines = [line.strip() for line in (command.epilog or "").splitlines()]
    return [line for line in lines if line.startswith("ragloom ")]


EVERY = [line for command in templates.commands.values() for line in examples(command)]


@pytest.fixture
def project(tmp_path, monkeypatch):
    for path, (name, domain, description, content) in LIBRARY.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"---\nname: {name}\ndomain: {domain}\nkeywords: [one]\ndescription: {description}\n---\n"
            f"{content}\n",
            "utf-8",
        )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def run(line, home):
    """Run one example, without what its output is piped into."""
    command = line.partition(" | ")[0].replace("~/", f"{home}/")
    _, *arguments = shlex.split(command)
    result = CliRunner().invoke(cli, arguments)
    return command, result


def test_every_command_has_an_example():
    assert all(examples(command) for command in [templates, *templates.commands.values()])


@pytest.mark.parametrize("line", EVERY)
def test_an_example_returns_what_it_says(line, project):
    if " new five-whys" in line and "--dir" not in line:
        (project / "data/templates/five-whys.md").unlink()  # an existing file is an error
    if "remove five-whys" not in line and " add " in line:
        (project / "data/templates/five-whys.md").unlink(missing_ok=True)
    command, result = run(line, project / "home")
    assert 0 == result.exit_code, result.output
    if " lint" in line:
        assert "0 errors" in (result.stderr if "--json" in line else result.stdout)
        return
    assert result.stdout.strip(), result.stderr
    assert "no template fits" not in result.stderr
    if "--json" in command:
        json.loads(result.stdout)
    if " match " in line:
        problem = shlex.split(command)[3]
        if "--format prompt" in line:
            assert "German" in result.stdout
        elif "--json" in line:
            assert [FIRST[problem]] == [one["id"] for one in json.loads(result.stdout)]
        else:
            assert FIRST[problem] == result.stdout.split("\t")[1]
    if " list --domain " in line:
        assert re.fullmatch(r"proof\t.*\n", result.stdout)


def test_the_walk_in_the_help_of_the_group_begins_with_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    new, match, prompt, lint = examples(templates)
    assert run(new, tmp_path)[1].stdout.endswith("proof-by-contradiction.md\n")
    assert "proof-by-contradiction" == run(match, tmp_path)[1].stdout.split("\t")[1]
    assert run(prompt, tmp_path)[1].stdout.startswith("## Steps")
    assert "0 errors, 0 warnings" in run(lint, tmp_path)[1].stdout

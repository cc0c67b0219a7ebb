"""Places in files: in an editor, as links, and in so many columns."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner
from rich.cells import cell_len

from ragloom.cli import cli
from ragloom.cli._places import clipped, editor_command, end_of, hyperlink, place_url, wrapped

FILE = Path("/books/a b.md")


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"EDITOR": "vim"}, ["vim", "+7", "/books/a b.md"]),
        ({"EDITOR": "vi", "VISUAL": "code --wait"}, ["code", "--wait", "-g", "/books/a b.md:7"]),
        (
            {"EDITOR": "/usr/bin/emacsclient -n"},
            ["/usr/bin/emacsclient", "-n", "+7", "/books/a b.md"],
        ),
        ({"EDITOR": "'/opt/my editor/hx'"}, ["/opt/my editor/hx", "+7", "/books/a b.md"]),
        ({"VISUAL": "subl"}, ["subl", "/books/a b.md:7"]),
        ({"VISUAL": "pycharm"}, ["pycharm", "--line", "7", "/books/a b.md"]),
        ({"VISUAL": "xdg-open"}, ["xdg-open", "/books/a b.md"]),
    ],
)
def test_an_editor_opens_the_line(variables, expected):
    assert expected == list(editor_command(FILE, 7, variables))


@pytest.mark.parametrize("variables", [{}, {"EDITOR": " "}, {"EDITOR": "vim '"}])
def test_no_editor_is_a_usage_error(variables):
    with pytest.raises(click.UsageError, match=r"EDITOR"):
        editor_command(FILE, 7, variables)


@pytest.mark.parametrize(
    ("variables", "start"),
    [
        ({}, "file://"),
        ({"VISUAL": "code"}, "vscode://file/books/a%20b.md:7"),
        ({"TERM_PROGRAM": "vscode", "EDITOR": "vim"}, "vscode://file/books/a%20b.md:7"),
        ({"EDITOR": "zed --wait"}, "zed://file/books/a%20b.md:7"),
    ],
)
def test_the_address_of_a_line(variables, start):
    url = place_url(FILE, 7, variables)
    assert url.startswith(start)
    assert "/books/a%20b.md" in url
    assert "\x1b]8;;x\x1b\\y\x1b]8;;\x1b\\" == hyperlink("y", "x")


@pytest.mark.parametrize(
    "text", ["plain words in a row", "日志级别日志级别 words", "e\u0301clair 🎉 x", ""]
)
@pytest.mark.parametrize("columns", [4, 7, 12, 40])
def test_texts_fit_into_their_columns(text, columns):
    assert cell_len(clipped(text, columns)) <= columns
    assert cell_len(end_of(text, columns)) <= columns
    rows = wrapped(text, columns, columns)
    assert all(cell_len(row) <= columns for row in rows)
    assert "".join(text.split()) == "".join("".join(rows).split())
    assert (text in (clipped(text, columns), "")) == (cell_len(text) <= columns)


@pytest.fixture
def project(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime", reason="needs the extra [standard]")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragloom.yaml").write_text(
        "store: sqlite\nspaces: {docs: {sources: [docs]}}\n", "utf-8"
    )
    (tmp_path / "docs").mkdir()
    filler = "\n".join(f"Filler number {number}." for number in range(20))
    (tmp_path / "docs" / "a.md").write_text(
        f"# Quay\n\n{filler}\nShips moor at the quay.\n", "utf-8"
    )
    (tmp_path / "docs" / "b.md").write_text(f"# {'日志' * 60}\n\n{'moor ' * 90}\n", "utf-8")
    assert 0 == CliRunner().invoke(cli, ["index"]).exit_code
    return tmp_path


def test_a_hit_is_opened_at_its_best_line(project, monkeypatch):
    noted = project / "noted"
    editor = project / "editor"
    editor.write_text(f'#!/bin/sh\necho "$@" > {noted}\nexit 3\n', "utf-8")
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    done = CliRunner().invoke(cli, ["search", "ships quay", "--open"])
    assert 3 == done.exit_code  # the editor's
    line, path = noted.read_text("utf-8").split()
    assert str(project / "docs" / "a.md") == path
    assert 15 <= int(line[1:]) <= 23
    done = CliRunner().invoke(cli, ["search", "ships quay", "-o", "9"])
    assert 2 == done.exit_code
    assert "-o 9: the query has" in done.stderr
    monkeypatch.setenv("VISUAL", "/nowhere/vim")
    done = CliRunner().invoke(cli, ["search", "ships quay", "--open"])
    assert "cannot be started" in done.stderr


def test_a_line_in_a_pipe_has_160_columns_and_all_with_full(project):
    lines = CliRunner().invoke(cli, ["search", "moor", "--min-relevance", "0"]).stdout.splitlines()
    assert 2 == len(lines)
    assert max(map(cell_len, lines)) <= 160
    assert any(line.endswith("…") for line in lines)
    arguments = ["search", "moor", "--min-relevance", "0", "--full"]
    whole = CliRunner().invoke(cli, arguments).stdout
    assert 90 == next(line for line in whole.splitlines() if "b.md" in line).count("moor")


def test_explain_takes_paths_and_writes_a_page(project):
    page = project / "explained.html"
    done = CliRunner().invoke(cli, ["explain", "quay <b>", "docs/a.md", "--html", str(page)])
    assert (0, "") == (done.exit_code, done.stdout)
    text = page.read_text("utf-8")
    assert "quay &lt;b&gt;" in text
    assert "<mark>quay</mark>" in text
    assert "docs/a.md:1-23" in text
    assert "b.md" not in text
    assert not [one for one in ("<script", "http://", "https://", "src=") if one in text]


def test_a_page_shows_hostile_text_as_text(project):
    hostile = "<script>alert(1)</script> \x1b[31m quay"
    (project / "docs" / "a.md").write_text(f"# <img src=x>\n\n{hostile}\n", "utf-8")
    CliRunner().invoke(cli, ["index"])
    page = project / "explained.html"
    CliRunner().invoke(cli, ["explain", "quay", "--html", str(page), "--expect", "<i>"])
    text = page.read_text("utf-8")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; \u241b[31m" in text
    assert not [one for one in ("<script", "<img", "<i>", "\x1b") if one in text]


def completed(*words):
    found = ShellComplete(cli, {}, "ragloom", "_RAGLOOM_COMPLETE").get_completions(
        list(words[:-1]), words[-1]
    )
    return {one.value for one in found}


def test_every_value_that_is_known_is_completed(project):
    (project / "agents.yaml").write_text(
        "agents:\n  - {id: pilot, description: Pilots, docs: {strategy: rag, sources: [docs]}}\n",
        "utf-8",
    )
    template = project / "data" / "templates" / "proof.md"
    template.parent.mkdir(parents=True)
    template.write_text("---\nname: Proof\ndomain: logic\n---\nAssume the opposite.\n", "utf-8")
    for command in (
        "search",
        "context",
        "explain",
        "index",
        "status",
        "doctor",
        "audit",
        "mcp",
        "serve",
        "ui",
    ):
        assert {"docs"} == completed(command, "--space", "d"), command
    assert {"docs"} == completed("drop", "d")
    assert {"dense"} == completed("search", "--mode", "d")
    assert {"sqlite"} == completed("search", "--store", "sq")
    assert {"markdown"} == completed("context", "--format", "mark")
    assert {"cl100k_base"} == completed("context", "--counter", "cl")
    assert {"pilot"} == completed("agents", "search", "p")
    assert {"pilot"} == completed("agents", "index", "")
    assert {"proof"} == completed("templates", "show", "p")
    assert {"logic"} == completed("templates", "match", "--domain", "")
    assert "ragloom" in completed("plugins", "check", "rag")
    lesson = {
        "kind": "gate_approval",
        "project": "shop",
        "agent_type": "architect",
        "gate_type": "design",
        "approved_approach": "One adapter for each bank",
    }
    done = CliRunner().invoke(cli, ["knowledge", "capture", "--json"], input=json.dumps(lesson))
    assert 0 == done.exit_code, done.stderr
    assert {"architect"} == completed("knowledge", "query", "--agent-type", "")
    assert 1 == len(completed("knowledge", "show", ""))


def test_a_broken_workspace_completes_nothing(project):
    (project / "ragloom.yaml").write_text("top_k: many\n", "utf-8")
    assert set() == completed("search", "--space", "")

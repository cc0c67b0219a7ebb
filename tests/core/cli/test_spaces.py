import json
import shutil

import pytest

DECLARED = """\
min_relevance: 0
spaces:
  logs: {sources: [docs/observability]}
  reviews: {sources: [docs/code-reviews]}
"""


def spaces(run):
    return [status["space"] for status in json.loads(run("status", "--json").stdout)]


def test_paths_make_a_space_that_keeps_its_sources(run):
    run("index", "docs/observability")
    (name,) = spaces(run)
    before = json.loads(run("index", "--space", name, "--json").stdout)["files"]["unchanged"]
    assert before == 11
    assert 11 == json.loads(run("index", "--json").stdout)["files"]["unchanged"]


def test_paths_with_a_name(run):
    run("index", "docs/observability", "docs/code-reviews", "--space", "kb")
    assert ["kb"] == spaces(run)
    found = json.loads(run("search", "logging", "--json").stdout)
    assert "kb" == found["space"]
    assert 15 == json.loads(run("index", "--space", "kb", "--json").stdout)["files"]["unchanged"]


def test_the_whole_workspace_is_the_default_space(run):
    assert "default: 15 files (15 added)" in run("index").stdout
    assert "default: 15 files (nothing changed)" in run("index", ".").stdout
    run("index", "docs/observability")
    assert "default" == json.loads(run("search", "logging", "--json").stdout)["space"]


def test_every_declared_space_is_indexed_and_one_has_to_be_chosen_to_search(run, workspace):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    lines = run("index", "--json").stdout.splitlines()
    assert ["logs", "reviews"] == [json.loads(line)["space"] for line in lines]
    result = run("search", "logging")
    assert (2, "") == (result.exit_code, result.stdout)
    assert "choose one by --space NAME or by its PATHs: logs, reviews" in result.stderr
    for arguments in (("--space", "logs"), ("docs/observability",)):
        assert "logs" == json.loads(run("search", "logging", "--json", *arguments).stdout)["space"]


@pytest.mark.parametrize("command", [("index",), ("search", "x"), ("status",), ("repair",)])
def test_an_unknown_space_is_wrong_usage(run, workspace, command):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    result = run(*command, "--space", "log")
    assert 2 == result.exit_code
    assert "no space is called 'log'; did you mean 'logs'?" in result.stderr
    assert not (workspace / ".ragloom").exists()


def test_a_declared_space_has_sources_of_its_own(run, workspace):
    (workspace / "ragloom.yaml").write_text(DECLARED)
    result = run("index", "docs", "--space", "logs")
    assert 2 == result.exit_code
    assert "give --space or PATHs, not both" in result.stderr


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden"])
def test_a_space_is_named_as_a_folder_can_be(run, workspace, name):
    result = run("index", "docs", "--space", name)
    assert 1 == result.exit_code
    assert "cannot name a space" in result.stderr
    assert [workspace] == list(workspace.parent.iterdir())


@pytest.mark.parametrize("command", [("index",), ("search", "logging"), ("context", "logging")])
def test_other_paths_that_hold_nothing_empty_no_index(run, workspace, command):
    run("index", "docs", "--space", "kb")
    (workspace / "empty").mkdir()
    (workspace / "empty" / ".env").write_text("KEY=1\n")

    result = run(*command, "empty", "--space", "kb")

    assert (1, "") == (result.exit_code, result.stdout)
    assert "error: empty: there is no file to index; 'kb' stays as it is\n" == result.stderr
    assert 15 == json.loads(run("index", "--space", "kb", "--json").stdout)["files"]["unchanged"]


def test_the_same_paths_may_hold_nothing_any_more(run, workspace):
    run("index", "docs", "--space", "kb")
    shutil.rmtree(workspace / "docs")
    (workspace / "docs").mkdir()

    assert "kb: 0 files (15 removed)" in run("index", "docs", "--space", "kb").stdout
    assert "kb: 0 files (nothing changed)" in run("index", "--space", "kb").stdout
    assert 0 == run("index", "docs").exit_code

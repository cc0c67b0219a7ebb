import json
import os
import signal

import pytest

from ragloom import RagloomError

FILES = ["added", "updated", "unchanged", "removed", "failed"]
CHUNKS = ["total", "embedded", "reused", "removed", "truncated", "pending"]


def report(result):
    assert 0 == result.exit_code, result.stderr
    return json.loads(result.stdout)


def counts(found):
    return [found["files"][key] for key in FILES[:4]]


def test_json_has_the_documented_keys_and_counts(run, workspace):
    first = report(run("index", "docs", "--json"))
    assert ["space", "files", "chunks", "warnings", "unread", "seconds", "generation"] == list(
        first
    )
    assert (FILES, CHUNKS) == (list(first["files"]), list(first["chunks"]))
    assert ("docs", [15, 0, 0, 0], 1) == (first["space"], counts(first), first["generation"])
    assert first["chunks"]["total"] == first["chunks"]["embedded"] + first["chunks"]["reused"]
    (workspace / "docs" / "observability" / "pitfalls.md").write_text("# Pitfalls\n\nNone.\n")
    (workspace / "docs" / "observability" / "alerting.md").unlink()
    second = report(run("index", "docs", "--json"))
    assert ([0, 1, 13, 1], 1, 2) == (
        counts(second),
        second["chunks"]["embedded"],
        second["generation"],
    )


def test_people_get_one_line(run):
    first = run("index", "docs").stdout
    assert first.startswith("docs: 15 files (15 added), ")
    assert 1 == first.count("\n")
    assert "docs: 15 files (nothing changed), " in run("index", "docs").stdout


def test_quiet_says_nothing_and_json_still_speaks(run):
    result = run("index", "docs", "-q")
    assert (0, "", "") == (result.exit_code, result.stdout, result.stderr)
    assert [0, 0, 15, 0] == counts(report(run("index", "docs", "-q", "--json")))


def test_full_reads_every_file_again_and_embeds_none(run):
    run("index", "docs")
    again = report(run("index", "docs", "--full", "--json"))
    assert ([0, 15, 0, 0], 0) == (counts(again), again["chunks"]["embedded"])


def test_a_file_that_fails_is_named_and_the_others_are_indexed(run, unreadable):
    result = run("index", "docs", "--json")
    found = report(result)
    assert [0, 0, 0] == counts(found)[1:]
    assert 15 == found["files"]["added"]
    (failed,) = found["files"]["failed"]
    assert ("docs/caf\udce9.md", True) == (failed["path"], bool(failed["error"]))
    assert f"warning: {unreadable}: not indexed: its name is not valid UTF-8" in result.stderr
    assert "warning: 1 file not indexed\n" in result.stderr
    assert 1 == run("index", "docs", "--strict").exit_code


def test_it_is_an_error_when_no_file_could_be_indexed(run, workspace, unreadable):
    for folder in ("observability", "code-reviews"):
        (workspace / "docs" / folder).rename(workspace / folder)
    result = run("index", "docs")
    assert 1 == result.exit_code
    assert result.stdout.startswith("docs: 0 files (1 failed), 0 chunks, ")


def test_what_is_odd_is_a_warning_and_many_are_cut_short(run, workspace):
    for number in range(25):
        (workspace / "docs" / f"{number:02}.pem").write_text("secret")
    result = run("index", "docs")
    assert 20 == result.stderr.count("looks like a secret")
    assert "warning: and 6 more: --verbose shows them" in result.stderr
    assert 25 == run("index", "docs", "-v").stderr.count("looks like a secret")
    assert "" == run("index", "docs", "-q").stderr


@pytest.mark.parametrize("arguments", [("nosuch",), ("docs", "nosuch")])
def test_a_missing_folder_is_one_line_and_leaves_nothing_behind(run, workspace, arguments):
    result = run("index", *arguments)
    assert (1, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("error: nosuch: there is no such file or folder")
    assert not (workspace / ".ragloom").exists()


def test_another_store_may_be_named(run):
    assert [15, 0, 0, 0] == counts(report(run("index", "docs", "--store", "file", "--json")))
    (status,) = json.loads(run("status", "--json").stdout)
    assert 15 == status["files"]


def test_a_workspace_that_cannot_be_written_is_one_line(run, workspace):
    (workspace / ".ragloom").write_text("in the way")
    result = run("index", "docs")
    assert (1, "") == (result.exit_code, result.stdout)
    assert result.stderr.startswith("error: ")
    assert 1 == result.stderr.count("\n")


def test_an_address_needs_a_runner_that_has_one(cli, monkeypatch):
    monkeypatch.setenv("RAGLOOM_RUNNER_ADDRESS", "elsewhere")
    result = cli("index", "--address", "auto")
    assert 2 == result.exit_code
    assert "--address needs a cluster's --runner" in result.stderr
    assert "elsewhere" == os.environ["RAGLOOM_RUNNER_ADDRESS"]


@pytest.fixture
def hearing_sigint():
    """A shell starts what runs in the background deaf to SIGINT, and so the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hearing_sigint")
def test_ctrl_c_is_one_whatever_a_module_makes_of_it(run, workspace, monkeypatch):
    def imports(space, **_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RagloomError("numpy failed to import") from None

    monkeypatch.setattr("ragloom.space.Space.index", imports)
    done = run("index", "docs")
    assert (130, "interrupted: nothing is indexed yet") == (done.exit_code, done.stderr.strip())
    assert signal.default_int_handler is signal.getsignal(signal.SIGINT)

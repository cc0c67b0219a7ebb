"""``ragloom trust``: what is shown, granted, listed, revoked, and asked for again."""

from __future__ import annotations

import json
import os
import pty
import stat
import subprocess
import sys

import pytest

from ragloom import UntrustedError, Workspace
from ragloom.config import user_folder


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def notes(workspace):
    """A folder beside the workspace."""
    folder = workspace.parent / "notes"
    folder.mkdir()
    (folder / "penguins.md").write_text("# Penguins\n\nThey huddle.\n", "utf-8")
    return folder


@pytest.fixture
def settings(workspace, notes):
    """Write ``ragloom.yaml``; by default it asks for a folder outside."""

    def write(text="sources: [docs, ../notes]\naudit: {path: ../audit.jsonl}\n"):
        (workspace / "ragloom.yaml").write_text(text, "utf-8")

    write()
    return write


def permissions(run):
    return json.loads(run("trust", "--json").stdout)["permissions"]


def test_without_a_terminal_nothing_is_granted_and_all_is_shown(run, settings, workspace):
    result = run("trust")

    assert 1 == result.exit_code
    notes, log = workspace.parent / "notes", workspace.parent / "audit.jsonl"
    first, second = result.stdout.splitlines()
    assert f"ragloom.yaml:1\tsources\t../notes -> {notes}\ta path outside the workspace\t" == first
    to_write = "a path to write outside .ragloom/"
    assert f"ragloom.yaml:2\taudit.path\t../audit.jsonl -> {log}\t{to_write}\t" == second
    assert "ragloom trust --yes" in result.stderr
    assert not user_folder("state").exists()
    assert 1 == run("search", "penguins").exit_code


def test_what_is_granted_is_used(run, settings, workspace):
    granted = run("trust", "--yes")
    assert (0, f"{workspace}: trusted\n") == (granted.exit_code, granted.stderr)

    assert "notes/penguins.md" in run("search", "penguins", "--mode", "lexical").stdout
    assert (workspace.parent / "audit.jsonl").is_file()
    assert 0 == run("trust").exit_code
    assert all(one["granted"] for one in permissions(run))
    assert Workspace.open(workspace).settings.defaults.sources == ("docs", "../notes")


def test_grants_are_the_users_alone(run, settings):
    run("trust", "--yes")

    (file,) = user_folder("state").rglob("*.json")
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    assert [stat.S_IMODE(up.stat().st_mode) for up in list(file.parents)[:2]] == [0o700, 0o700]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("sources: [docs, ../notes]\naudit: {path: ../audit.jsonl, keep: 0}\n", "audit.keep"),
        ("sources: [docs, ../notes]\naudit: {path: ../other.jsonl}\n", "audit.path"),
        ("sources: [docs, ../notes]\naudit: {path: ../audit.jsonl}\ntop_k: 3\n", "top_k"),
        ("sources: [docs, ../notes, ..]\naudit: {path: ../audit.jsonl}\n", "sources.2"),
        ("sources: [../notes]\naudit: {path: ../audit.jsonl}\n", "sources.0, sources.1"),
    ],
)
def test_a_change_asks_again_and_is_named(run, settings, text, changed):
    run("trust", "--yes")
    settings(text)

    result = run("search", "penguins")

    assert 1 == result.exit_code
    assert f"; changed since it was trusted: {changed}: read its settings" in result.stderr
    assert 0 == run("trust", "--yes").exit_code
    assert 0 == run("search", "penguins").exit_code


def test_what_says_the_same_otherwise_needs_no_new_trust(run, settings):
    run("trust", "--yes")
    settings("# a comment\naudit:\n  path: ../audit.jsonl\nsources:\n  - docs\n  - ../notes\n")

    assert 0 == run("search", "penguins").exit_code


def test_a_link_that_leads_elsewhere_asks_again(run, settings, workspace, notes):
    (workspace / "linked").symlink_to(notes)
    settings("sources: [linked]\n")
    run("trust", "--yes")
    assert 0 == run("index").exit_code
    (workspace / "linked").unlink()
    (workspace / "linked").symlink_to("/etc")

    result = run("index")

    assert 1 == result.exit_code
    assert "'linked' is a link to outside" in result.stderr
    assert "it leads elsewhere than when it was trusted" in result.stderr


def test_a_link_that_changes_while_a_program_runs_is_seen(settings, workspace, notes, host):
    (workspace / "inner").mkdir()
    (workspace / "inner" / "a.md").write_text("alpha", "utf-8")
    settings("sources: [inner]\n")
    space = Workspace.open(workspace, host=host).space()
    space.index()
    (workspace / "inner" / "a.md").unlink()
    (workspace / "inner").rmdir()
    (workspace / "inner").symlink_to(notes)

    with pytest.raises(UntrustedError, match="'inner' is a link to outside"):
        space.index()


def test_a_list_and_its_revocation(run, settings, workspace):
    run("trust", "--yes")

    (listed,) = json.loads(run("trust", "--list", "--json").stdout)
    assert (str(workspace), "ragloom.yaml") == (listed["folder"], listed["file"])
    assert ["sources: ../notes", "audit.path: ../audit.jsonl"] == listed["permissions"]
    assert 2 == len(run("trust", "--list").stdout.splitlines())
    assert f"{workspace}: trust revoked\n" == run("trust", "--revoke").stderr
    assert 1 == run("search", "penguins").exit_code
    assert [] == json.loads(run("trust", "--list", "--json").stdout)
    again = json.loads(run("trust", str(workspace), "--revoke", "--json").stdout)
    assert {"folder": str(workspace), "revoked": False} == again


def test_trust_of_one_folder_is_none_of_its_copy(run, settings, workspace, notes):
    import shutil

    run("trust", "--yes")
    copy = workspace.parent / "copy"
    shutil.copytree(workspace, copy)

    assert 1 == run("-C", str(copy), "search", "penguins").exit_code


def test_no_password_is_shown_or_kept(run, settings, workspace):
    settings(
        "store: {name: milvus, uri: 'http://root:hunter2@127.0.0.1:9'}\n"
        "knowledge: {database: 'postgresql://u:hunter2@h/x?password=hunter2'}\n"
    )
    host = None  # the plugins that are installed
    said = [run(*words.split(), plugins=host) for words in ("search x", "trust", "trust --json")]
    run("trust", "--yes", plugins=host)
    said += [run("trust", "--list", plugins=host), run("trust", plugins=host)]

    assert "hunter2" not in "".join(result.stdout + result.stderr for result in said)
    assert [] == [f for f in user_folder("state").rglob("*.json") if b"hunter2" in f.read_bytes()]


@pytest.mark.parametrize("value", ["1", "true", "YES"])
def test_the_variable_trusts_for_as_long_as_it_is_set(run, settings, monkeypatch, value):
    monkeypatch.setenv("RAGLOOM_TRUST", value)
    assert 0 == run("search", "penguins").exit_code
    monkeypatch.setenv("RAGLOOM_TRUST", "0")
    assert 1 == run("search", "penguins").exit_code
    assert not user_folder("state").exists()


def test_python_may_vouch_itself(settings, workspace, host):
    assert Workspace.open(workspace, host=host, trusted=True).space().index().added


def test_a_state_folder_inside_the_workspace_could_be_forged(run, settings, workspace, monkeypatch):
    run("trust", "--yes")
    (workspace / "state").mkdir()
    (workspace.parent / "state").rename(workspace / "state" / "x")
    monkeypatch.setenv("XDG_STATE_HOME", str(workspace / "state" / "x"))

    assert 1 == run("search", "penguins").exit_code
    result = run("trust", "--yes")
    assert 1 == result.exit_code
    assert "where trust could be forged" in result.stderr


def test_a_settings_file_of_the_user_needs_no_trust_and_one_of_the_clone_does(
    run, settings, workspace
):
    settings("top_k: 3\n")
    own = workspace.parent / "own.yaml"
    own.write_text(f"sources: [{workspace.parent / 'notes'}]\n", "utf-8")
    (workspace / "ci.yaml").write_text("sources: [../notes]\n", "utf-8")

    assert 0 == run("--config", str(own), "index").exit_code
    assert 1 == run("--config", "ci.yaml", "index").exit_code
    (workspace.parent / ".git").mkdir()  # so that both belong to one repository
    assert 1 == run("--config", str(own), "index").exit_code


def test_what_the_user_names_himself_needs_no_ceremony(run, workspace, notes):
    assert 0 == run("index", "../notes").exit_code

    for arguments in ("search penguins", "index", "context penguins", "status --json", "explain x"):
        result = run(*arguments.split())
        assert 0 == result.exit_code, result.stderr
    assert "penguins.md" in run("search", "penguins").stdout
    assert 0 == run("trust").exit_code

    (record,) = workspace.rglob("space.json")
    record.write_text('{"sources": ["../../../../etc"]}', "utf-8")
    forged = run("search", "penguins")
    assert 1 == forged.exit_code
    assert f"{record}:1: sources: " in forged.stderr
    assert 0 == run("index", "../notes").exit_code  # writes it again
    assert 0 == run("search", "penguins").exit_code


def test_a_record_of_another_users_clone_is_asked_for(run, workspace, notes, monkeypatch, tmp_path):
    run("index", "../notes")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))

    assert 1 == run("search", "penguins").exit_code
    assert 0 == run("trust", "--yes").exit_code
    assert 0 == run("search", "penguins").exit_code


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_on_a_terminal_it_asks(settings, workspace, answer, code):
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "ragloom", "trust"]
    with subprocess.Popen(command, stdin=follower, stderr=follower, stdout=subprocess.PIPE) as run:
        os.close(follower)
        os.write(leader, f"{answer}\n".encode())
        shown, _ = run.communicate(timeout=60)
    os.close(leader)

    assert code == run.returncode
    assert b"audit.path\t../audit.jsonl" in shown
    assert (code == 0) == user_folder("state").exists()

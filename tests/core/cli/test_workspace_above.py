"""A command in a folder below a workspace uses that workspace, as git uses its repository."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ragloom import ConfigError
from ragloom.config.project import workspace_above, workspace_folder


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A workspace with an index, and a folder deep in it to stand in."""
    monkeypatch.delenv("RAGLOOM_WORKSPACE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / "project"
    deep = root / "docs" / "deep"
    deep.mkdir(parents=True)
    (root / "docs" / "keys.md").write_text("# Keys\n\nRotate the signing keys every week.\n")
    (deep / "locks.md").write_text("# Locks\n\nA lock is held for thirty seconds.\n")
    run("index", cwd=root)
    return root


def run(*arguments, cwd, expected=0, **variables):
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", *arguments],
        cwd=cwd,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert expected == done.returncode, done.stderr
    return done


def test_a_search_from_below_answers_from_the_index_above(project):
    deep = project / "docs" / "deep"
    found = run("search", "rotate the signing keys", cwd=deep)
    assert found.stdout.startswith("../keys.md:")
    assert f"workspace {project}\n" in found.stderr
    assert not (deep / ".ragloom").exists()
    here = run("search", "lock", "locks.md", cwd=deep)
    assert here.stdout.startswith("locks.md:")
    assert not (deep / ".ragloom").exists()
    status = run("status", "--json", cwd=deep)
    assert '"default"' in status.stdout


def test_no_second_index_is_made_without_a_word(project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("# Caches\n\nThe cache is warm.\n")
    new = run("search", "cache warm", str(other), cwd=project)
    assert "of these paths, which are not in 'default'" in new.stderr
    again = run("search", "cache warm", str(other), cwd=project)
    assert "of these paths" not in again.stderr


def test_in_the_workspace_itself_nothing_is_said(project):
    assert "workspace" not in run("search", "rotate the signing keys", cwd=project).stderr


def test_an_option_and_the_variable_name_another_one(project, tmp_path):
    deep = project / "docs" / "deep"
    own = run("-C", ".", "search", "lock held", cwd=deep)
    assert own.stdout.startswith("locks.md:")
    assert (deep / ".ragloom").is_dir()
    elsewhere = run("search", "rotate the keys", cwd=tmp_path, RAGLOOM_WORKSPACE=str(project))
    assert elsewhere.stdout.startswith("project/docs/keys.md:")
    wrong = run("search", "x", cwd=tmp_path, expected=1, RAGLOOM_WORKSPACE="nowhere")
    assert wrong.stderr == "error: RAGLOOM_WORKSPACE=nowhere: there is no such folder\n"


def test_the_nearest_counts_and_the_search_ends_at_home(project, tmp_path):
    deep = project / "docs" / "deep"
    assert project == workspace_above(deep)
    (project / "docs" / "ragloom.yml").write_text("top_k: 3\n")
    assert project / "docs" == workspace_above(deep)
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / ".ragloom").mkdir()
    assert workspace_above(home / "notes") is None
    assert home == workspace_above(home)


def test_a_link_or_a_file_in_its_place_is_no_state(tmp_path):
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a" / ".ragloom").symlink_to(tmp_path / "elsewhere")
    assert workspace_above(below) is None
    (below / ".ragloom").write_text("")
    assert workspace_above(below) is None


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away"
)
def test_a_workspace_of_another_user_is_not_used(project, caplog):
    deep = project / "docs" / "deep"
    (project / "ragloom.yaml").write_text("top_k: 3\n")
    os.chown(project / "ragloom.yaml", 12345, 12345)
    assert workspace_above(deep) is None
    assert f"{project}: a workspace of another user" in caplog.text
    assert project == workspace_above(project)


def test_both_spellings_are_read_and_both_at_once_refused(project):
    (project / "ragloom.yml").write_text("top_k: 1\n")
    shown = run("config", "--json", cwd=project / "docs")
    assert '"ragloom.yml:1"' in shown.stdout
    (project / "ragloom.yaml").write_text("top_k: 2\n")
    refused = run("search", "keys", cwd=project, expected=1)
    assert "ragloom.yml, too: keep one of them" in refused.stderr


def test_a_variable_that_names_no_folder(tmp_path):
    with pytest.raises(ConfigError, match="RAGLOOM_WORKSPACE="):
        workspace_folder({"RAGLOOM_WORKSPACE": str(tmp_path / "none")})

"""What ``ragloom doctor`` finds, and the fix that it names."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [standard]")

from click.testing import CliRunner

from ragloom.cli import cli


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragloom.yaml").write_text(
        "store: sqlite\nspaces: {docs: {sources: [docs]}}\n", "utf-8"
    )
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# Berths\n\nShips moor at the quay.\n", "utf-8")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(cli, [*arguments])


def found(*arguments):
    """What was found, by area and name, and the exit code."""
    done = run("doctor", "--json", *arguments)
    return {(one["area"], one["name"]): one for one in json.loads(done.stdout)}, done.exit_code


def test_a_whole_index_has_nothing_to_fix(project):
    assert 0 == run("index").exit_code
    told, code = found()
    assert 0 == code
    wrong = {
        key: one
        for key, one in told.items()
        if one["state"] == "failed" or key[0].startswith("space")
    }
    assert {"ok"} == {one["state"] for one in wrong.values()}
    assert "384 dimensions" in told["space docs", "model"]["said"]
    assert "1 chunk of 1 file" in told["space docs", "index"]["said"]
    assert "sqlite, 1 chunk" == told["space docs", "store"]["said"]
    assert told["settings", "settings"]["said"].endswith("ragloom.yaml")
    assert "can be written" in told["permissions", "state folder"]["said"]
    assert "free" in told["environment", "disk"]["said"]


def test_it_changes_nothing_and_says_what_is_missing(project):
    told, code = found()
    assert 0 == code
    assert "nothing is indexed yet" == told["space docs", "index"]["said"]
    assert "ragloom index" == told["space docs", "index"]["fix"]
    assert not (project / ".ragloom").exists()


def test_changed_files_and_a_lost_store_are_warnings_with_their_fix(project):
    run("index")
    (project / "docs" / "b.md").write_text("# Radio\n\nCall on channel 12.\n", "utf-8")
    (project / "docs" / "a.md").unlink()
    shutil.rmtree(project / ".ragloom" / "spaces" / "docs" / "store")
    told, code = found("--space", "docs")
    assert 0 == code
    index, store = told["space docs", "index"], told["space docs", "store"]
    assert ("warning", "ragloom index --space docs") == (index["state"], index["fix"])
    assert "1 not indexed, 0 changed, 1 deleted" in index["said"]
    assert ("warning", "ragloom repair --space docs") == (store["state"], store["fix"])


def test_a_file_that_cannot_be_indexed_is_not_called_new(project):
    (project / "docs" / "b.ipynb").write_text("{", "utf-8")
    assert "b.ipynb: not indexed: not a notebook" in run("index").stderr
    assert "1 not indexed" in run("status").stdout
    index = found("--space", "docs")[0]["space docs", "index"]
    assert ("warning", "ragloom index --space docs") == (index["state"], index["fix"])
    assert index["said"].endswith("deleted; the run names those that cannot be indexed")


def test_a_missing_source_is_to_be_corrected_and_nothing_repaired(project):
    run("index")
    place = f"{project / 'ragloom.yaml'}:2: docs: there is no such file or folder"
    (project / "docs").rename(project / "guide")
    for _ in ("with an index", "without"):
        told, code = found()
        index = told["space docs", "index"]
        assert (1, "failed", True) == (code, index["state"], index["said"].startswith(place))
        assert "correct what the message names, or make it" == index["fix"]
        shutil.rmtree(project / ".ragloom", ignore_errors=True)


def test_where_the_files_are_on_another_machine_none_is_missed(project):
    run("index")
    settings = project / "ragloom.yaml"
    settings.write_text(f"check_files: false\n{settings.read_text('utf-8')}", "utf-8")
    shutil.rmtree(project / "docs")
    told, code = found()
    assert (0, "ok") == (code, told["space docs", "index"]["state"])


def test_a_damaged_index_failed_and_is_to_be_repaired(project):
    run("index")
    generation = next((project / ".ragloom" / "spaces" / "docs").glob("*/meta.json")).parent
    damaged = max(
        (path for path in generation.rglob("*") if path.is_file()),
        key=lambda path: (path.suffix == ".json", path.stat().st_size),
    )
    damaged.write_bytes(b"{" + damaged.read_bytes()[1:-1] + b"?")
    told, code = found()
    assert 1 == code
    assert "failed" == told["space docs", "index"]["state"]
    assert "ragloom repair" == told["space docs", "index"]["fix"]


def test_a_wrong_setting_is_named_and_ends_the_look(project):
    (project / "ragloom.yaml").write_text("top_k: many\n", "utf-8")
    told, code = found()
    assert 1 == code
    assert "ragloom.yaml:1" in told["settings", "settings"]["said"]
    assert [] == [key for key in told if key[0].startswith("space")]


def test_what_is_not_trusted_is_named(project, monkeypatch):
    monkeypatch.delenv("RAGLOOM_TRUST", raising=False)
    (project / "ragloom.yaml").write_text("spaces: {docs: {sources: [/etc]}}\n", "utf-8")
    told, code = found()
    assert 1 == code
    assert "ragloom trust" == told["permissions", "trust"]["fix"]
    assert ("failed", "") != (
        told["permissions", "trust"]["state"],
        told["permissions", "trust"]["said"],
    )


def test_a_missing_package_is_named_with_its_pip_line(project, monkeypatch):
    import importlib.util

    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    assert importlib.util.find_spec is not None
    told, code = found()
    assert 1 == code
    assert "pip install 'ragloom[onnx]'" == told["space docs", "model"]["fix"]


def test_a_terminal_shows_the_fix_below_what_was_found(project, monkeypatch):
    from ragloom.cli import doctor

    monkeypatch.setattr(doctor, "is_terminal", lambda: True)
    lines = run("doctor").stdout.splitlines()
    assert "environment" == lines[0]
    at = next(at for at, line in enumerate(lines) if "nothing is indexed yet" in line)
    assert lines[at].startswith("  warning")
    assert "fix: ragloom index" == lines[at + 1].strip()


def test_a_state_folder_that_cannot_be_read_is_a_finding(project, monkeypatch):
    listed = Path.iterdir

    def refuse(folder):
        if folder.name == "spaces":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", refuse)  # whoever runs the tests may read everything
    (project / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")
    told, code = found()
    assert 1 == code
    assert told["permissions", "indexes"]["said"].endswith(
        "spaces: cannot be read: Permission denied"
    )
    assert str(project / ".ragloom") in told["permissions", "indexes"]["fix"]
    assert "ok" == told["settings", "settings"]["state"]

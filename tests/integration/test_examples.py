"""Packages of strangers, from the scaffold and the examples: built, installed, tested and used.

Each goes into a fresh virtual environment with whatever it depends on, from the package registry.
"""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("uv", reason="makes an environment in a twentieth of pip's time")
pytestmark = pytest.mark.slow

EXAMPLES = ["chroma", "openai", "pgvector", "qdrant"]
KINDS = ["chunker", "embedder", "formatter", "loader", "reranker", "settings", "store"]
SETTINGS = {
    "RAGLOOM_CHUNKER": "my-chunker",
    "RAGLOOM_EMBEDDER": "my-embedder",
    "RAGLOOM_MIN_RELEVANCE": "0",  # the scaffold's embedder hashes words
    "RAGLOOM_RERANKER": "my-reranker",
    "RAGLOOM_STORE": "my-store",
}
PAGE = """\
Title: Rotating the keys
Status: accepted

The signing keys are rotated on the first Monday of every month by the duty engineer.

The office parrot eats sunflower seeds and a slice of apple at noon.
"""


def clean():
    """The environment without what points into the one that runs these tests."""
    dropped = {"PYTHONPATH", "VIRTUAL_ENV", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"}
    kept = {key: value for key, value in os.environ.items() if key not in dropped}
    return {"PIP_DEFAULT_TIMEOUT": "60", **kept}


def call(*command, cwd, **settings):
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**clean(), **settings},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


def environment(folder, wheels):
    """The interpreter of a fresh environment into which the wheels were installed."""
    uv = (sys.executable, "-m", "uv", "--quiet")
    call(*uv, "venv", "--python", sys.executable, folder / "venv", cwd=folder)
    python = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    call(*uv, "pip", "install", "--python", python, *wheels, cwd=folder)
    return python


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_installed_tested_and_used(
    name, root, wheel, build_wheel, run_pytest, tmp_path
):
    """The example's own tests index and search with it, too: tests/test_command_line.py."""
    project = shutil.copytree(root / "examples" / "plugins" / f"ragloom-{name}", tmp_path / name)
    build_wheel(project, tmp_path)
    (built,) = tmp_path.glob("ragloom_*.whl")
    python = environment(tmp_path, [wheel, f"{built}[test]"])

    tests = shutil.copytree(project / "tests", tmp_path / "elsewhere" / "tests")
    done = run_pytest("-q", "tests", cwd=tests.parent, python=python)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    assert " passed" in done.stdout.splitlines()[-1]

    listed = json.loads(call(python, "-m", "ragloom", "plugins", "--json", cwd=tests.parent))
    (plugin,) = (one for one in listed if one["distribution"] == f"ragloom-{name}")
    assert plugin["status"] == "loaded"
    shutil.rmtree(tmp_path / "venv")


@pytest.fixture(scope="module")
def scaffolds(wheel, build_wheel, tmp_path_factory):
    """A fresh environment with a plugin of every kind, each as the scaffold wrote it."""
    folder = tmp_path_factory.mktemp("scaffolds")
    for kind in KINDS:
        command = (sys.executable, "-m", "ragloom", "plugins", "new", f"my-{kind}", "--kind", kind)
        call(*command, cwd=folder)
        build_wheel(folder / f"ragloom-my-{kind}", folder)
    wheels = [f"{wheel}[testing]", *sorted(folder.glob("ragloom_my_*.whl"))]
    yield folder, environment(folder, wheels)
    shutil.rmtree(folder / "venv")


@pytest.mark.parametrize("kind", KINDS)
def test_a_scaffold_passes_its_own_tests(kind, scaffolds, run_pytest):
    folder, python = scaffolds
    tests = shutil.copytree(folder / f"ragloom-my-{kind}" / "tests", folder / kind / "tests")
    done = run_pytest("-q", "tests", cwd=tests.parent, python=python)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    last = done.stdout.splitlines()[-1]
    assert " passed" in last
    assert "skipped" not in last


@pytest.mark.parametrize("kind", ["formatter", "store"])
def test_a_scaffold_is_checked_without_a_test_file(kind, scaffolds, tmp_path):
    _, python = scaffolds
    command = (python, "-m", "ragloom", "plugins", "check", f"ragloom-my-{kind}")
    assert " passed" in call(*command, cwd=tmp_path).splitlines()[-1]


def test_a_scaffold_of_every_kind_indexes_and_searches(scaffolds, tmp_path):
    _, python = scaffolds
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.my-loader").write_text(PAGE, "utf-8")

    def ragloom(*arguments):
        return call(python, "-m", "ragloom", *arguments, cwd=tmp_path, **SETTINGS)

    assert json.loads(ragloom("index", "docs", "--json"))["files"]["added"] == 1
    asked = ("search", "when are the signing keys rotated?", "docs", "--json")
    hit = json.loads(ragloom(*asked))["hits"][0]
    assert hit["path"] == "docs/keys.my-loader"
    assert hit["start_line"] >= 3
    assert hit["metadata"] == {"title": "Rotating the keys", "status": "accepted"}
    shown = ragloom("context", "when are the signing keys rotated?", "--format", "my-formatter")
    assert "---- 1. docs/keys.my-loader:" in shown

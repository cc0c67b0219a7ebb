"""PostgreSQL with pgvector, used from the command line as anybody would."""

import json
import os
import subprocess
import sys
import uuid

import pytest

KEYS = """\
# Rotating the keys

The signing keys are rotated on the first Monday of every month by the duty engineer.
"""
PARROT = """\
# Feeding the parrot

The office parrot eats sunflower seeds and a slice of apple at noon.
"""


@pytest.fixture
def ragloom(tmp_path):
    """Runs a command in a workspace with two pages, and gives its JSON."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "keys.md").write_text(KEYS, "utf-8")
    (docs / "parrot.md").write_text(PARROT, "utf-8")

    def run(*arguments, **settings):
        done = subprocess.run(
            [sys.executable, "-m", "ragloom", *arguments, "--json"],
            cwd=tmp_path,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


def index_and_search(ragloom, **settings):
    report = ragloom("index", "docs", **settings)
    assert report["files"]["added"] == 2
    assert report["files"]["failed"] == []
    found = ragloom("search", "when are the signing keys rotated?", "docs", **settings)
    assert found["hits"][0]["path"] == "docs/keys.md"
    assert ragloom("index", "docs", **settings)["files"]["unchanged"] == 2


def test_server(ragloom, server):
    prefix = f"tests_{uuid.uuid4().hex[:8]}"
    index_and_search(
        ragloom,
        RAGLOOM_STORE="pgvector",
        RAGLOOM_STORE_URL=server,
        RAGLOOM_STORE_TABLE=prefix,
    )

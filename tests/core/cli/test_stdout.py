"""Stdout is for results: whatever prints while a plugin is imported or made goes to stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PLUGIN = """
import os, subprocess, sys
from ragloom import CommandSpec, Provider, hookimpl
from ragloom.testing.fakes import HashingEmbedder, HashingOptions

print("printed at import")
sys.stdout.write("written at import\\n")
os.write(1, b"to the descriptor at import\\n")
subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)


def make(options):
    print("printed when made")
    os.write(1, b"to the descriptor when made\\n")
    return HashingEmbedder(HashingOptions())


@hookimpl
def ragloom_embedders():
    return [Provider(name="loud", summary="Loud.", create=make)]
"""
SAID = (
    "printed at import",
    "written at import",
    "to the descriptor at import",
    "from a child",
    "printed when made",
    "to the descriptor when made",
)


@pytest.fixture
def loud(tmp_path):
    """The environment of a process in which a plugin prints in every way."""
    packages = tmp_path / "packages"
    metadata = packages / "ragloom_loud-1.dist-info"
    metadata.mkdir(parents=True)
    (packages / "loud_plugin.py").write_text(PLUGIN, "utf-8")
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ragloom-loud\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[ragloom]\nloud = loud_plugin\n")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "keys.md").write_text("# Keys\n\nRotate the signing keys.\n", "utf-8")
    path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH", "")]))
    return os.environ | {"PYTHONPATH": path, "RAGLOOM_EMBEDDER": "loud"}


def run(*arguments, cwd, env):
    return subprocess.run(
        [sys.executable, "-m", "ragloom", *arguments],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )


def test_json_is_all_that_is_on_stdout(loud, tmp_path):
    found = run("search", "signing keys", "--json", "--min-relevance", "0", cwd=tmp_path, env=loud)
    assert json.loads(found.stdout)["hits"][0]["path"] == "docs/keys.md"
    for said in SAID:
        assert said in found.stderr


def test_help_stays_on_stdout(loud, tmp_path):
    assert "Usage: ragloom" in run("--help", cwd=tmp_path, env=loud).stdout


def test_a_closed_stdout_is_no_error(loud, tmp_path):
    command = ["sh", "-c", f"{sys.executable} -m ragloom search keys --json >&-"]
    done = subprocess.run(command, cwd=tmp_path, env=loud, capture_output=True, check=False)
    assert 0 == done.returncode


def test_the_protocol_is_all_that_is_on_stdout(loud, tmp_path):
    pytest.importorskip("mcp")
    import anyio
    from mcp import Client, StdioServerParameters

    run("index", cwd=tmp_path, env=loud)
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "ragloom", "mcp"], cwd=tmp_path, env=loud
    )

    async def talk():
        with anyio.fail_after(60):
            async with Client(server) as client:
                found = await client.call_tool("list_spaces", {})
                assert "default" in found.content[0].text

    anyio.run(talk)

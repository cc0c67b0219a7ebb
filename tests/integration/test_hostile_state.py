"""A clone whose state folder holds links: no command of any plugin changes what they point to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from ragloom import PluginHost
from ragloom.cli import Session, cli

for needed in ("onnxruntime", "milvus_lite", "sqlalchemy", "pyromark"):
    pytest.importorskip(needed)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")

OWN = b"alias ls='ls --color'\n"
LINKS = {
    ".ragloom": "",
    ".ragloom/spaces": "",
    ".ragloom/spaces/docs/lock": "own",
    ".ragloom/audit.jsonl": "own",
    ".ragloom/audit.jsonl.lock": "own",
    ".ragloom/knowledge": "",
    ".ragloom/knowledge/lessons": "",
    ".ragloom/knowledge/lessons.db": "own",
    ".ragloom/agents/spaces/agent-writer": "",
    ".ragloom/librarian/CURRENT": "own",
    ".ragloom/templates/changes.json": "own",
    ".ragloom/eval": "",
}
COMMANDS = (
    ("index", "docs"),
    ("search", "alpha", "docs"),
    ("search", "alpha", "--no-refresh"),
    ("context", "alpha", "docs"),
    ("explain", "alpha"),
    ("status",),
    ("verify",),
    ("repair",),
    ("drop", "docs"),
    ("knowledge", "list"),
    ("knowledge", "query", "alpha"),
    ("knowledge", "checkpoint", "--project", "p"),
    ("agents", "index"),
    ("agents", "search", "writer", "alpha"),
    ("agents", "prompt", "writer"),
    ("librarian", "rebuild"),
    ("librarian", "query", "alpha"),
    ("templates", "index"),
    ("templates", "match", "alpha"),
    ("templates", "add", "docs/a.md"),
)


@pytest.mark.parametrize("link", LINKS)
def test_no_command_follows_a_link(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str
) -> None:
    home, clone = tmp_path / "home", tmp_path / "clone"
    home.mkdir()
    (home / "own").write_bytes(OWN)
    (clone / "docs").mkdir(parents=True)
    (clone / "docs" / "a.md").write_text("# Alpha\n\nalpha storage\n", "utf-8")
    (clone / "agents.yaml").write_text(
        "agents:\n- id: writer\n  docs: {sources: [docs/a.md]}\n", "utf-8"
    )
    (clone / link).parent.mkdir(parents=True, exist_ok=True)
    (clone / link).symlink_to(home / LINKS[link])
    monkeypatch.chdir(clone)
    monkeypatch.setenv("HOME", str(home))
    host = PluginHost.discover()
    outputs = []

    for command in COMMANDS:
        result = CliRunner().invoke(cli, command, obj=Session(plugins=host))
        outputs.append((command, result.exit_code, result.output))

    assert {"own": OWN} == {path.name: path.read_bytes() for path in home.iterdir()}
    assert [] == [one for one in outputs if one[1] != 1 or "is a link" not in one[2]]

"""Attaching ragloom to coding agents: every file comes back byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragloom_install.clients import CLIENTS

COMMENTED = """{
  // who may be asked
  "servers": {
    "github": {"type": "http", "url": "https://example.com/mcp"}, // theirs
    /* old */
  },
  "inputs": [],
}
"""
CONFIGS = {
    "claude-code": (
        ".mcp.json",
        {
            "others": '{\n    "mcpServers": {\n        "db": {\n            "command": "db"\n        }\n'
            '    },\n    "z": 1\n}',
            "compact": '{"mcpServers":{"a":{"command":"x"}},"b":[1,2]}',
            "without": '{\n\t"theme": "dark"\n}\n',
            "null list": '{"mcpServers": {}}\n',
            "windows": '{\r\n  "mcpServers": {\r\n    "a": {"command": "x"}\r\n  }\r\n}\r\n',
            "mark": '\ufeff{"mcpServers": {"a": {"command": "é"}}}\n',
            "empty": "",
            "blank": "\n\n",
            "missing": None,
        },
    ),
    "codex": (
        ".codex/config.toml",
        {
            "others": '# mine\nmodel = "gpt-5"\n\n[mcp_servers.db]  # theirs\ncommand = "db"\n\n'
            '[profiles.fast]\nmodel = "x"\n',
            "no end": "[mcp_servers.a]\ncommand = 'x'",
            "windows": 'model = "x"\r\n[mcp_servers.a]\r\ncommand = "b"\r\n',
            "empty": "",
            "missing": None,
        },
    ),
    "cursor": (".cursor/mcp.json", {"empty object": "{}", "missing": None}),
    "vscode": (".vscode/mcp.json", {"commented": COMMENTED, "missing": None}),
    "opencode": (
        "opencode.jsonc",
        {"commented": '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n}\n'},
    ),
    "gemini": (
        ".gemini/settings.json",
        {"others": '{"mcpServers": {"a": {}}, "ui": {}}', "missing": None},
    ),
}
CASES = [
    (name, path, kind, text)
    for name, (path, kinds) in CONFIGS.items()
    for kind, text in kinds.items()
]


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("RAGLOOM_WORKSPACE", raising=False)
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "keys.md").write_text("# Keys\n\nRotate the signing keys every week.\n")
    return root


def ragloom(*arguments, cwd, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", *arguments],
        cwd=cwd,
        env=os.environ
        | {"HOME": str(cwd.parent / "home"), "XDG_STATE_HOME": str(cwd.parent / "state")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert code == done.returncode, done.stderr
    return done


def tree(root):
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("name", "path", "kind", "text"), CASES, ids=[f"{one[0]}-{one[2]}" for one in CASES]
)
def test_install_twice_and_uninstall_gives_every_byte_back(name, path, kind, text, project):
    assert kind
    if text is not None:
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes(text.encode())
    (project / "AGENTS.md").write_text("# For agents\n\nBe kind.")
    before, folders = tree(project), sorted(one for one in project.rglob("*") if one.is_dir())
    ragloom("install", name, "--yes", cwd=project)
    once = tree(project)
    client = CLIENTS[name]
    assert client.project.skills + "/ragloom/SKILL.md" in once
    assert b"ragloom:begin" in once[client.project.instructions]
    again = ragloom("install", name, "--yes", cwd=project)
    assert "nothing to change" in again.stderr
    assert once == tree(project)
    ragloom("uninstall", "--yes", cwd=project)
    assert before == tree(project)
    left = sorted(one for one in project.rglob("*") if one.is_dir())
    assert folders == [one for one in left if one.name != ".ragloom"]


def entry_of(project, name):
    client = CLIENTS[name]
    path = project / client.project.servers[0]
    if path.suffix == ".toml":
        import tomllib

        found = tomllib.loads(path.read_text())
    else:
        from ragloom_install.jsonc import read

        found = read(path.read_text())
    for key in client.key:
        found = found[key]
    return found


def test_all_agents_at_once_and_one_of_them_taken_away(project):
    ragloom("install", *CLIENTS, "--yes", cwd=project)
    assert ["-C", "${workspaceFolder}", "mcp"] == entry_of(project, "cursor")["args"][-3:]
    assert entry_of(project, "opencode")["command"][-1] == "mcp"
    ragloom("uninstall", "codex", "--yes", cwd=project)
    assert not (project / ".codex").exists()
    assert (project / ".agents/skills/ragloom/SKILL.md").exists()  # the others use it, too
    assert "ragloom:begin" in (project / "AGENTS.md").read_text()
    ragloom("uninstall", "--yes", cwd=project)
    assert ["docs/keys.md"] == [name for name in tree(project) if not name.startswith(".ragloom")]


def test_a_file_changed_since_keeps_the_changes_and_loses_only_what_is_ours(project):
    (project / ".mcp.json").write_text('{\n  "mcpServers": {\n    "a": {"command": "x"}\n  }\n}\n')
    (project / "CLAUDE.md").write_text("Be kind.\n")
    ragloom("install", "claude-code", "--yes", cwd=project)
    servers = json.loads((project / ".mcp.json").read_text())
    servers["mcpServers"]["b"] = {"command": "y"}
    (project / ".mcp.json").write_text(json.dumps(servers, indent=2) + "\n")
    text = (project / "CLAUDE.md").read_text()
    (project / "CLAUDE.md").write_text(f"# Mine\n\n{text}\nAnd more.\n")
    skill = project / ".claude/skills/ragloom/SKILL.md"
    skill.write_text(skill.read_text() + "\nMine, too.\n")
    ragloom("uninstall", "--yes", cwd=project)
    assert {"a", "b"} == set(json.loads((project / ".mcp.json").read_text())["mcpServers"])
    left = (project / "CLAUDE.md").read_text()
    assert "ragloom" not in left
    assert left.startswith("# Mine\n\nBe kind.\n")
    assert left.endswith("\nAnd more.\n")
    assert skill.read_text().endswith("\nMine, too.\n")


def test_nobody_to_ask_and_a_dry_run_write_nothing(project):
    (project / ".mcp.json").write_text("{}\n")
    before = tree(project)
    asked = ragloom("install", cwd=project, code=1)
    assert "--yes writes it" in asked.stderr
    assert '+    "ragloom": {' in asked.stderr
    offered = ragloom("install", "--dry-run", cwd=project)
    assert '+    "ragloom": {' in offered.stdout
    assert "+" not in offered.stderr
    shown = ragloom("install", "--dry-run", "--json", cwd=project)
    changes = json.loads(shown.stdout)["changes"]
    assert [".mcp.json", ".claude/skills/ragloom/SKILL.md", "CLAUDE.md"] == [
        one["path"] for one in changes
    ]
    assert before == tree(project)


@pytest.mark.parametrize(
    ("name", "path", "text", "said"),
    [
        ("claude-code", ".mcp.json", '{"mcpServers": [\n', "line 2: it ends early"),
        ("claude-code", ".mcp.json", '{"mcpServers": 7}', "mcpServers is not an object"),
        ("claude-code", ".mcp.json", "[]", "the file is not an object"),
        ("gemini", ".gemini/settings.json", '{\n "a" 1}', "line 2: not JSON at '1}'"),
        ("codex", ".codex/config.toml", "model = \n", "line 1"),
        ("codex", ".codex/config.toml", "mcp_servers = {a = {command = 'x'}}\n", "cannot be added"),
    ],
)
def test_a_file_that_cannot_be_understood_is_left_alone(name, path, text, said, project):
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    (project / path).write_text(text)
    before = tree(project)
    refused = ragloom("install", name, "--yes", cwd=project, code=1)
    assert f"{path}: " in refused.stderr
    assert said in refused.stderr
    assert "Traceback" not in refused.stderr
    assert before == tree(project)


def test_a_link_out_of_the_project_is_not_followed(project, tmp_path):
    (tmp_path / "theirs.md").write_text("x\n")
    (project / "CLAUDE.md").symlink_to(tmp_path / "theirs.md")
    refused = ragloom("install", "claude-code", "--yes", cwd=project, code=1)
    assert "leads out of the project" in refused.stderr
    assert (tmp_path / "theirs.md").read_text() == "x\n"


def test_another_entry_of_that_name_is_replaced_and_comes_back(project):
    text = '{\n  "mcpServers": {\n    "ragloom": {"command": "old"},\n    "b": {}\n  }\n}\n'
    (project / ".mcp.json").write_text(text)
    ragloom("install", "claude-code", "--yes", "--command", "uvx 'ragloom[mcp]' mcp", cwd=project)
    assert {"command": "uvx", "args": ["ragloom[mcp]", "mcp"]} == entry_of(project, "claude-code")
    ragloom("uninstall", "--yes", cwd=project)
    assert text == (project / ".mcp.json").read_text()


def test_in_the_home_folder(project):
    home = project.parent / "home"
    (home / ".codex").mkdir(parents=True)
    (home / ".codex" / "config.toml").write_text('model = "x"\n')
    before = tree(home)
    ragloom("install", "--user", "--yes", cwd=project)
    assert "mcp_servers.ragloom" in (home / ".codex" / "config.toml").read_text()
    assert (home / ".agents/skills/ragloom/SKILL.md").exists()
    ragloom("uninstall", "--user", "--yes", cwd=project)
    assert before == tree(home)


def test_without_any_agent_it_names_those_there_are(project):
    assert "claude-code, codex" in ragloom("install", "--yes", cwd=project, code=1).stderr


@pytest.mark.slow
def test_the_skill_passes_the_reference_validator(project):
    validator = pytest.importorskip("skills_ref")
    ragloom("install", "claude-code", "codex", "--yes", cwd=project)
    for folder in (".claude/skills", ".agents/skills"):
        assert [] == validator.validate(project / folder / "ragloom")


@pytest.mark.parametrize("name", list(CLIENTS))
def test_the_installed_server_answers_and_notices_a_change(name, project):
    pytest.importorskip("mcp")
    import anyio
    from mcp import Client, StdioServerParameters

    ragloom("install", name, "--yes", cwd=project)
    entry = entry_of(project, name)
    given = entry["command"] if name == "opencode" else [entry["command"], *entry["args"]]
    command, *words = [str(project) if one == "${workspaceFolder}" else one for one in given]
    if command == "ragloom":
        command, words = sys.executable, ["-m", "ragloom", *words]
    server = StdioServerParameters(
        command=command,
        args=words,
        cwd=Path.cwd() if str(project) in words else project,
        env=dict(os.environ) | {"XDG_CONFIG_HOME": str(project.parent / "none")},
    )

    async def answer(client, query):
        for _ in range(300):
            found = await client.call_tool("rag_search", {"query": query})
            if hits := (found.structured_content or {}).get("hits"):
                return hits
            await anyio.sleep(0.3)  # it may still read the files
        raise TimeoutError(found)

    async def run():
        with anyio.fail_after(120):
            async with Client(server) as client:
                hits = await answer(client, "rotate the signing keys")
                assert "docs/keys.md" == hits[0]["path"]
                (project / "docs" / "locks.md").write_text(
                    "# Locks\n\nA mutex is held for a minute.\n"
                )
                hits = await answer(client, "how long is a mutex held")
                assert "docs/locks.md" == hits[0]["path"]

    anyio.run(run)

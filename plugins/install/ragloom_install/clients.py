"""The coding agents that ragloom attaches itself to: their files, and what is written there.

The files are those that each agent documents for a project, and for all projects of a user.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragloom import Json

SERVER = "ragloom"
"""The name of the MCP server, and of the skill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The files of an agent, relative to the project or to the user's home.

    Attributes:
        signs: Any of them tells that the agent is used there.
        servers: The settings that name MCP servers; the first that is there, or else the first.
        skills: The folder of its skills; most agents read one that they have in common.
        instructions: What it reads at each start; empty for nothing.
    """

    signs: Sequence[str]
    servers: Sequence[str]
    skills: str = ".agents/skills"
    instructions: str = "AGENTS.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A coding agent.

    Attributes:
        name: On the command line.
        title: For people.
        key: The path of the server in its settings.
        project: Its files in a project.
        user: Its files in the user's home.
        entry: What names the server, given the words of the command.
    """

    name: str
    title: str
    key: Sequence[str]
    project: Files
    user: Files
    entry: Callable[[Sequence[str]], Mapping[str, Json]]


def _plain(command: Sequence[str]) -> Mapping[str, Json]:
    return {"command": command[0], "args": list(command[1:])}


def _of_a_folder(command: Sequence[str]) -> Mapping[str, Json]:
    """For editors, which may start a server elsewhere, and know the folder by a variable."""
    words = list(command[1:])
    return {
        "type": "stdio",
        "command": command[0],
        "args": [*words[:-1], "-C", "${workspaceFolder}", words[-1]],
    }


def _in_one_list(command: Sequence[str]) -> Mapping[str, Json]:
    return {"type": "local", "command": list(command), "enabled": True}


def _code_folder() -> str:
    """Where VS Code keeps the settings of its user, relative to the home folder."""
    if sys.platform == "darwin":
        return "Library/Application Support/Code/User"
    if os.name == "nt":
        return "AppData/Roaming/Code/User"
    return ".config/Code/User"


CLIENTS: Mapping[str, Client] = {
    client.name: client
    for client in (
        Client(
            name="claude-code",
            title="Claude Code",
            key=("mcpServers", SERVER),
            project=Files(
                signs=(".claude", "CLAUDE.md", ".mcp.json"),
                servers=(".mcp.json",),
                skills=".claude/skills",
                instructions="CLAUDE.md",
            ),
            user=Files(
                signs=(".claude", ".claude.json"),
                servers=(".claude.json",),
                skills=".claude/skills",
                instructions=".claude/CLAUDE.md",
            ),
            entry=_plain,
        ),
        Client(
            name="codex",
            title="Codex",
            key=("mcp_servers", SERVER),
            project=Files(
                signs=(".codex",),
                servers=(".codex/config.toml",),
            ),
            user=Files(
                signs=(".codex",),
                servers=(".codex/config.toml",),
                instructions=".codex/AGENTS.md",
            ),
            entry=_plain,
        ),
        Client(
            name="cursor",
            title="Cursor",
            key=("mcpServers", SERVER),
            project=Files(
                signs=(".cursor", ".cursorrules"),
                servers=(".cursor/mcp.json",),
            ),
            user=Files(
                signs=(".cursor",),
                servers=(".cursor/mcp.json",),
                instructions="",
            ),
            entry=_of_a_folder,
        ),
        Client(
            name="vscode",
            title="VS Code",
            key=("servers", SERVER),
            project=Files(
                signs=(".vscode",),
                servers=(".vscode/mcp.json",),
            ),
            user=Files(
                signs=(_code_folder(),),
                servers=(f"{_code_folder()}/mcp.json",),
                instructions="",
            ),
            entry=_of_a_folder,
        ),
        Client(
            name="opencode",
            title="OpenCode",
            key=("mcp", SERVER),
            project=Files(
                signs=("opencode.json", "opencode.jsonc", ".opencode"),
                servers=("opencode.json", "opencode.jsonc"),
            ),
            user=Files(
                signs=(".config/opencode",),
                servers=(".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"),
                instructions=".config/opencode/AGENTS.md",
            ),
            entry=_in_one_list,
        ),
        Client(
            name="gemini",
            title="Gemini CLI",
            key=("mcpServers", SERVER),
            project=Files(
                signs=(".gemini", "GEMINI.md"),
                servers=(".gemini/settings.json",),
                instructions="GEMINI.md",
            ),
            user=Files(
                signs=(".gemini",),
                servers=(".gemini/settings.json",),
                instructions=".gemini/GEMINI.md",
            ),
            entry=_plain,
        ),
    )
}
"""Every agent by its name."""


def used_in(root: Path, home: Path | None) -> Sequence[Client]:
    """The agents whose files are in the project; or else those that its user has."""
    found = [one for one in CLIENTS.values() if _any(root, one.project.signs)]
    if not found and home is not None:
        found = [one for one in CLIENTS.values() if _any(home, one.user.signs)]
    return found


def _any(folder: Path, names: Sequence[str]) -> bool:
    return any((folder / name).exists() for name in names)

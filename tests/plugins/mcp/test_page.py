"""The client settings that docs/mcp.md shows start this server."""

from __future__ import annotations

import json
import re

import pytest

from ragloom_mcp.cli import serve


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "mcp.md").read_text("utf-8")


def test_every_client_starts_the_server_with_options_that_it_has(page):
    settings = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    servers = [
        server
        for setting in settings
        for server in (setting.get("mcpServers") or setting["servers"]).values()
    ]
    known = {option for parameter in serve.params for option in parameter.opts}

    assert len(servers) == 4
    for server in servers:
        if "url" in server:
            assert server["url"] == "http://127.0.0.1:8765/mcp"
            continue
        arguments = server["args"][server["args"].index("mcp") + 1 :]
        assert server["command"] == "ragloom"
        assert {argument for argument in arguments if argument.startswith("-")} <= known


@pytest.mark.parametrize("client", ["Claude Code", "Cursor", "VS Code"])
def test_each_client_has_a_section(client, page):
    assert f"### {client}\n" in page

"""Templates over MCP: the official client finds one, lists them as prompts, and fills one."""

from __future__ import annotations

import os
import sys

import pytest

pytest.importorskip("mcp")
pytest.importorskip("onnxruntime")

import anyio
from mcp import Client, MCPError, StdioServerParameters

SKILL = "---\nname: weave\ndescription: Weave a basket from willow\nlicense: MIT\n---\nCut the willow.\n"
PROMPT = (
    "---\nname: Summary\ndescription: Summarise a talk\n---\nSummarise in {{language}}: {{input}}\n"
)


@pytest.fixture
def library(project):
    for path, text in {"weave/SKILL.md": SKILL, "summary.md": PROMPT}.items():
        file = project / "data" / "templates" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return project


def talk(project, conversation, *arguments):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragloom", "-C", str(project), "mcp", *arguments],
        env=dict(os.environ) | {"XDG_CONFIG_HOME": str(project / "home")},
    )

    async def run():
        with anyio.fail_after(120):
            async with Client(server) as client:
                await conversation(client)

    anyio.run(run)


def test_one_connection_finds_lists_fills_and_follows(library):
    async def conversation(client):
        assert "find_template" in [tool.name for tool in (await client.list_tools()).tools]
        prompts = {one.name: one for one in (await client.list_prompts()).prompts}
        assert ["summary", "weave"] == sorted(prompts)
        assert "Weave a basket from willow" == prompts["weave"].description
        assert ["language", "problem"] == [one.name for one in prompts["summary"].arguments]

        filled = await client.get_prompt("summary", {"language": "German", "problem": "A talk."})
        assert "Summarise in German: A talk." == filled.messages[0].content.text
        skill = (await client.get_prompt("weave", {"problem": "A chair."})).messages[0].content.text
        folder = library / "data" / "templates" / "weave"
        assert skill.startswith(f"The files that this skill names are in the folder {folder}.\n")
        assert skill.endswith("Cut the willow.\n\nA chair.")

        found = await client.call_tool(
            "find_template", {"problem": "weave a basket of willow rods"}
        )
        assert not found.is_error
        (best, *_) = found.structured_content["templates"]
        assert ("weave", False) == (best["id"], best["fallback"])
        assert "Cut the willow." in found.content[0].text
        nothing = await client.call_tool("find_template", {"problem": "zzzqqq xyzzy"})
        assert nothing.content[0].text.startswith("no template fits: this is the fallback")

        new = library / "data" / "templates" / "knit.md"
        new.write_text(
            "---\nname: Knit\ndescription: Knit a woollen sock\n---\nCast on.\n", "utf-8"
        )
        found = await client.call_tool("find_template", {"problem": "knit a woollen sock"})
        assert "knit" == found.structured_content["templates"][0]["id"]
        assert "knit" in [one.name for one in (await client.list_prompts()).prompts]

    talk(library, conversation)


def test_what_is_wrong_is_said(library):
    async def conversation(client):
        with pytest.raises(MCPError, match="unknown template 'weav'; did you mean 'weave'"):
            await client.get_prompt("weav")
        with pytest.raises(MCPError, match="unknown argument 'colour'"):
            await client.get_prompt("weave", {"colour": "red"})
        assert (await client.call_tool("find_template", {})).is_error

    talk(library, conversation)


def test_a_server_of_one_space_has_no_templates(library, workspace):
    async def conversation(client):
        assert "find_template" not in [tool.name for tool in (await client.list_tools()).tools]

    talk(library, conversation, "--space", "docs", "--no-watch")

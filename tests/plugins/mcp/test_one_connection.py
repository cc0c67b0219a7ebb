"""Lessons and templates, walked by the official client in one connection to a real process."""

from __future__ import annotations

import os
import sys

import pytest

pytest.importorskip("mcp")
pytest.importorskip("sqlalchemy")
pytest.importorskip("onnxruntime")

import anyio
from mcp import Client, StdioServerParameters

FAILURE = "The migration of the orders table times out"
ERROR = "canceling statement due to statement timeout"
TEMPLATE = (
    "---\nname: Migration\ndescription: Plan a database migration without downtime\n---\n"
    "Plan in steps: {{input}}\n"
)


def test_query_capture_outcome_template_and_prompt(project):
    (project / "ragloom.yaml").write_text("knowledge: {tools: true}\n", "utf-8")
    template = project / "data" / "templates" / "migration.md"
    template.parent.mkdir(parents=True, exist_ok=True)
    template.write_text(TEMPLATE, "utf-8")
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragloom", "-C", str(project), "mcp"],
        env=dict(os.environ) | {"XDG_CONFIG_HOME": str(project / "home")},
    )

    async def walk(client):
        captured = await client.call_tool(
            "lesson_capture",
            {
                "failure_description": FAILURE,
                "error_message": ERROR,
                "solution_steps": "Create the index concurrently",
            },
        )
        lesson = captured.structured_content["id"]
        assert "unverified" in captured.content[0].text

        query = {"failure": FAILURE, "error": ERROR}
        before = await client.call_tool("lesson_query", query)
        assert [] == before.structured_content["patterns"]  # staged, until somebody has verified it

        for arguments in (["verify", lesson], ["checkpoint", "--project", project.name]):
            command = [sys.executable, "-m", "ragloom", "-C", str(project), "knowledge", *arguments]
            assert 0 == (await anyio.run_process(command, env=server.env)).returncode

        after = await client.call_tool("lesson_query", query)
        assert [lesson] == [one["id"] for one in after.structured_content["patterns"]]
        told = await client.call_tool("lesson_outcome", {"id": lesson, "success": True})
        assert told.structured_content["id"] == lesson
        assert told.structured_content["successes"] == told.structured_content["uses"]

        problem = "plan a database migration without downtime"
        found = await client.call_tool("find_template", {"problem": problem})
        best = found.structured_content["templates"][0]
        assert ("migration", False) == (best["id"], best["fallback"])
        filled = await client.get_prompt(best["id"], {"problem": "orders"})
        assert "Plan in steps: orders" == filled.messages[0].content.text

    async def run():
        with anyio.fail_after(120):
            async with Client(server) as client:
                await walk(client)

    anyio.run(run)

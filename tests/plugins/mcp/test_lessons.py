"""The tools for lessons, walked by the SDK's own client in one connection to a real process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("mcp")
pytest.importorskip("sqlalchemy")

import anyio
from mcp import Client, StdioServerParameters

from ragloom import Workspace
from ragloom_knowledge import KnowledgeBase
from ragloom_mcp.lesson_tools import lesson_tools
from ragloom_mcp.server import make_server
from ragloom_mcp.shelf import workspace_shelf

FAILURE = "The migration of the orders table times out"
ERROR = "canceling statement due to statement timeout"
NAMES = ["lesson_query", "lesson_capture", "lesson_outcome"]


@pytest.fixture
def lessons(workspace, project, plugins) -> tuple[Path, str]:
    """A workspace whose lessons are offered, and the id of the one that it has."""
    assert workspace
    settings = project / "ragloom.yaml"
    settings.write_text(settings.read_text("utf-8") + "knowledge: {tools: true}\n", "utf-8")
    with KnowledgeBase.open(project, host=plugins) as base:
        captured = base.capture_failure_solution(
            "shop",
            "backend",
            FAILURE,
            error_message=ERROR,
            solution_steps="Create the index concurrently",
        )
        base.process_checkpoint("shop")
    return project, captured.id


def talk(server: object, conversation: Callable[[Client], object]) -> None:
    async def run() -> None:
        with anyio.fail_after(120):
            async with Client(server) as client:
                await conversation(client)

    anyio.run(run)


def parameters(project: Path, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragloom", "-C", str(project), "mcp", "--no-watch", *arguments],
        env=dict(os.environ) | {"XDG_CONFIG_HOME": str(project / "home")},
    )


def test_query_outcome_and_capture_in_one_connection(lessons, plugins):
    project, lesson_id = lessons
    staged: list[str] = []

    async def conversation(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert NAMES == [name for name in tools if name.startswith("lesson_")]
        assert all(tools[name].output_schema for name in NAMES)  # the client validates by them
        assert [True, False, False] == [tools[name].annotations.read_only_hint for name in NAMES]

        found = await client.call_tool("lesson_query", {"failure": FAILURE, "error": ERROR})
        assert found.content[0].text.startswith("[ORCHESTRATOR CONTEXT: Historical Knowledge]")
        (pattern,) = found.structured_content["patterns"]
        assert lesson_id == pattern["id"]

        told = await client.call_tool("lesson_outcome", {"id": pattern["id"], "success": True})
        assert {"id": lesson_id, "successes": 2, "uses": 2} == told.structured_content

        lesson = {
            "failure_description": "The cache is cold after each deploy",
            "solution_steps": "Warm it up with ghp_0123456789abcdefghijABCDEFGHIJ012345",
        }
        captured = await client.call_tool("lesson_capture", lesson)
        assert ["solution_steps"] == captured.structured_content["redacted"]
        assert "unverified" in captured.content[0].text
        staged.append(captured.structured_content["id"])

        nothing = await client.call_tool("lesson_query", {"task": "Bake an apple pie"})
        assert not nothing.is_error
        assert [] == nothing.structured_content["patterns"]
        assert nothing.content[0].text.startswith("no relevant match")

        again = await client.call_tool("lesson_query", {"failure": FAILURE, "error": ERROR})
        assert "2 of 2 successes" in again.content[0].text
        assert "docs" in (await client.call_tool("list_spaces", {})).content[0].text
        assert "knowledge" not in (await client.call_tool("list_spaces", {})).content[0].text

    talk(parameters(project), conversation)
    with KnowledgeBase.open(project, host=plugins) as base:
        lesson = base.lesson(staged[0])
        assert (False, False, project.name) == (
            lesson.success_verified,
            lesson.embedded,
            lesson.project,
        )


def test_what_is_wrong_is_said_to_the_model(lessons, plugins):
    project, _ = lessons
    workspace = Workspace.open(project, host=plugins)

    async def conversation(client):
        for name, arguments, said in (
            ("lesson_query", {}, "give task, or failure and error"),
            ("lesson_query", {"task": "x", "failure": "y"}, "give task, or failure and error"),
            ("lesson_query", {"task": "x", "agent_type": "nobody"}, "available: backend"),
            ("lesson_outcome", {"id": "x", "success": True}, "unknown lesson 'x'"),
            ("lesson_outcome", {"id": "x"}, "'success' is a required property"),
            ("lesson_capture", {"failure_description": "x"}, "'solution_steps' is a required"),
        ):
            found = await client.call_tool(name, arguments)
            assert said in found.content[0].text, found
            assert found.is_error == (said != "available: backend")

    shelf = workspace_shelf(workspace)
    talk(make_server(shelf, more=lesson_tools(workspace)), conversation)


def test_they_are_off_until_a_setting_turns_them_on_and_for_whole_workspaces_only(
    workspace, lessons
):
    assert {} == lesson_tools(workspace)  # opened before the setting was written
    project, _ = lessons

    async def conversation(client):
        assert 3 == len((await client.list_tools()).tools)

    talk(parameters(project, "--space", "docs"), conversation)

"""The server as clients see it: the SDK's own client, in this process and over a real one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import Client, MCPError, StdioServerParameters

from ragloom_mcp.server import listen, make_server
from ragloom_mcp.shelf import space_shelf, workspace_shelf
from ragloom_mcp.tools import TOOLS

FOUND = re.compile(r"--- Result 1 \(score: (0\.\d{3}|1\.000), source: docs/s3\.md\) ---\n")


def parameters(project: Path, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragloom", "-C", str(project), "mcp", *arguments],
        env=dict(os.environ) | {"XDG_CONFIG_HOME": str(project / "home")},
    )


def talk(server: object, conversation: Callable[[Client], object], mode: str = "auto") -> None:
    async def run() -> None:
        with anyio.fail_after(60):
            async with Client(server, mode=mode) as client:
                await conversation(client)

    anyio.run(run)


def test_the_tools_say_what_they_take_and_change_nothing(workspace):
    async def conversation(client):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["rag_search", "list_spaces", "read_source"]
        search, listing, reading = tools
        assert search.input_schema["required"] == ["query"]
        assert set(search.input_schema["properties"]) == {"query", "top_k", "space"}
        assert listing.input_schema["properties"] == {}
        assert reading.input_schema["required"] == ["path"]
        for tool in tools:
            assert tool.annotations.read_only_hint is True
            assert tool.input_schema == TOOLS[tool.name].schema

    talk(make_server(workspace_shelf(workspace)), conversation)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_search_list_and_read(mode, workspace, project):
    async def conversation(client):
        found = await client.call_tool("rag_search", {"query": "copy a bucket", "space": "docs"})
        assert not found.is_error
        assert FOUND.match(found.content[0].text)
        hit = found.structured_content["hits"][0]
        lines = {"start_line": hit["start_line"], "end_line": hit["end_line"]}
        read = await client.call_tool(
            "read_source", {"path": hit["path"], "space": "docs", **lines}
        )
        assert hit["text"] in read.content[0].text
        assert read.structured_content["changed"] is False
        listed = await client.call_tool("list_spaces", {})
        assert [row["name"] for row in listed.structured_content["spaces"]] == ["docs", "runbooks"]
        assert listed.content[0].text.splitlines()[0] == "docs: 2 files, 2 chunks"

    talk(make_server(workspace_shelf(workspace)), conversation, mode)


def test_nothing_relevant_is_an_answer(workspace):
    async def conversation(client):
        found = await client.call_tool("rag_search", {"query": "a recipe for apple pie"})
        assert not found.is_error
        assert found.content[0].text == "No relevant documentation found for your query."
        assert found.structured_content["hits"] == []
        assert "nothing is relevant enough" in found.structured_content["reason"]

    talk(make_server(space_shelf(workspace, "docs")), conversation)


WRONG = [
    ("rag_search", {}, "rag_search: 'query' is a required property"),
    ("rag_search", {"query": 3}, "rag_search: query: 3 is not of type 'string'"),
    ("rag_search", {"query": ""}, "rag_search: query: '' should be non-empty"),
    ("rag_search", {"query": "a", "top_k": 0}, "rag_search: top_k: 0 is less than the minimum"),
    ("rag_search", {"query": "a", "top_k": "3"}, "rag_search: top_k: '3' is not of type 'integer'"),
    ("rag_search", {"query": "a", "limit": 3}, "rag_search: Additional properties"),
    ("rag_search", {"query": "a"}, "there are several spaces, name one: docs, runbooks"),
    ("rag_search", {"query": "a", "space": "x"}, "no space is called 'x'"),
    ("read_source", {"path": "../a", "space": "docs"}, "'../a' is not an indexed file of 'docs'"),
    ("read_source", {"path": "docs/s3.md", "start_line": 0}, "read_source: start_line: 0 is less"),
    ("list_spaces", {"all": True}, "list_spaces: Additional properties"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), WRONG)
def test_wrong_arguments_are_errors_that_the_model_can_read(tool, arguments, message, workspace):
    async def conversation(client):
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error
        assert answer.content[0].text.startswith(message)

    talk(make_server(workspace_shelf(workspace)), conversation)


def test_an_unknown_tool_is_an_error_of_the_protocol(workspace):
    async def conversation(client):
        with pytest.raises(MCPError, match="there is no tool 'rag_write'") as caught:
            await client.call_tool("rag_write", {"query": "a"})
        assert caught.value.code == -32602

    talk(make_server(workspace_shelf(workspace)), conversation)


def test_a_space_without_an_index_says_what_to_do(project, plugins):
    from ragloom import Workspace

    async def conversation(client):
        answer = await client.call_tool("rag_search", {"query": "a"})
        assert answer.is_error
        assert "run 'ragloom index'" in answer.content[0].text
        listed = await client.call_tool("list_spaces", {})
        assert listed.content[0].text == "docs: not indexed yet"

    shelf = space_shelf(Workspace.open(project, host=plugins), "docs")
    talk(make_server(shelf), conversation)


def test_a_call_that_takes_too_long_is_given_up(workspace, monkeypatch):
    import time

    async def conversation(client):
        answer = await client.call_tool("rag_search", {"query": "a", "space": "docs"})
        assert answer.is_error
        assert answer.content[0].text == "rag_search gave no answer within 0.05 s"

    shelf = workspace_shelf(workspace)
    monkeypatch.setattr(
        shelf.space("docs"), "search", lambda *_arguments, **_options: time.sleep(0.3)
    )
    talk(make_server(shelf, timeout=0.05), conversation)


def test_a_real_server_sees_what_another_process_indexes(workspace, project):
    """Done-when 3: started as a subprocess, it answers from a generation published meanwhile."""
    query = {"query": "who may approve a deployment on a friday?"}

    async def conversation(client):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["rag_search", "list_spaces", "read_source"]
        before = await client.call_tool("rag_search", query)
        assert before.content[0].text == "No relevant documentation found for your query."

        (project / "docs" / "deploy.md").write_text(
            "# Deployments\n\nOn a Friday only the duty engineer may approve a deployment.\n",
            "utf-8",
        )
        index = await anyio.run_process(
            [sys.executable, "-m", "ragloom", "-C", str(project), "index", "--space", "docs"]
        )
        assert index.returncode == 0
        after = await client.call_tool("rag_search", query)
        assert "source: docs/deploy.md" in after.content[0].text
        generations = [answer.structured_content["generation"] for answer in (before, after)]
        assert generations == [1, 2]

        wrong = await client.call_tool("rag_search", {"query": 3})
        assert wrong.is_error
        with pytest.raises(MCPError) as caught:
            await client.call_tool("nothing", {})
        assert caught.value.code == -32602

    talk(parameters(project, "--space", "docs"), conversation)


def test_an_agent_is_served_and_indexed_first(project):
    async def conversation(client):
        found = await client.call_tool("rag_search", {"query": "copy a bucket"})
        assert FOUND.match(found.content[0].text)
        hidden = await client.call_tool("read_source", {"path": "docs/ec2.md"})
        assert hidden.is_error

    talk(parameters(project, "--agent", "storage", "--index"), conversation)


PRINTS = """
import sys
from ragloom import Space
from ragloom.cli import main

search = Space.search

def noisy(self, *arguments, **options):
    print("this must not reach the protocol")
    sys.stdout.flush()
    import os
    os.write(1, b"nor this\\n")
    return search(self, *arguments, **options)

Space.search = noisy
main()
"""


def test_nothing_but_the_protocol_is_on_stdout(workspace, project):
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", PRINTS, "-C", str(project), "mcp", "--space", "docs"],
        env=dict(os.environ),
    )

    async def conversation(client):
        for _ in range(3):
            found = await client.call_tool("rag_search", {"query": "copy a bucket"})
            assert FOUND.match(found.content[0].text)

    talk(server, conversation)


def test_over_http_on_loopback(workspace, project):
    command = [sys.executable, "-m", "ragloom", "-C", str(project), "mcp", "--space", "docs"]
    with subprocess.Popen(
        [*command, "--http", "--port", "0"], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            url = next(line for line in process.stderr if "http://" in line).split()[-1]
            assert url.startswith("http://127.0.0.1:")

            async def conversation(client):
                found = await client.call_tool("rag_search", {"query": "copy a bucket"})
                assert FOUND.match(found.content[0].text)

            talk(url, conversation)
            assert refused(url, host="evil.example") == 421
        finally:
            process.terminate()


def refused(url: str, *, host: str) -> int:
    """The status of a request whose Host is not this machine, as a rebound name would send it."""
    from http.client import HTTPConnection
    from urllib.parse import urlsplit

    connection = HTTPConnection(urlsplit(url).netloc)
    connection.request("POST", "/mcp", b"{}", {"Host": host, "Content-Type": "application/json"})
    return connection.getresponse().status


def test_the_listener_is_on_loopback_alone():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"

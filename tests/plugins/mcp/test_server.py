"""The server as clients see it: the SDK's own client, in this process and over a real one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import Client, MCPError, StdioServerParameters

from ragloom import SpaceGroup
from ragloom_mcp.access import listen
from ragloom_mcp.server import make_server
from ragloom_mcp.shelf import space_shelf, workspace_shelf
from ragloom_mcp.tools import TOOLS

FOUND = re.compile(
    r"--- Result 1 \(score: (0\.\d{3}|1\.000), source: docs/s3\.md:1-\d(?: \| Buckets)?\) ---\n"
)


def parameters(project: Path, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragloom", "-C", str(project), "mcp", *arguments],
        env=dict(os.environ) | {"XDG_CONFIG_HOME": str(project / "home")},
    )


def talk(server: object, conversation: Callable[[Client], object], mode: str = "auto") -> None:
    async def run() -> None:
        with anyio.fail_after(120):
            async with Client(server, mode=mode) as client:
                await conversation(client)

    anyio.run(run)


def test_the_tools_say_what_they_take_and_change_nothing(workspace):
    async def conversation(client):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["rag_search", "list_spaces", "read_source"]
        search, listing, reading = tools
        assert search.input_schema["required"] == ["query"]
        assert set(search.input_schema["properties"]) == {
            *("query", "top_k", "space", "path", "where", "mode"),
        }
        assert listing.input_schema["properties"] == {}
        assert reading.input_schema["required"] == ["path"]
        for tool in tools:
            assert tool.annotations.read_only_hint is True
            assert tool.input_schema == TOOLS[tool.name].schema
            assert tool.output_schema == TOOLS[tool.name].gives

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
        first, second = found.content[0].text.splitlines()
        assert first == "No relevant documentation found for your query."
        structured = found.structured_content
        assert structured["hits"] == []
        assert structured["reason"] == second
        assert "no relevant match" in second
        path = structured["closest"]["path"]
        assert f"closest: {path}:{structured['closest']['start_line']}" in second
        assert second.endswith(f"rephrase the query, or read {path}")
        read = await client.call_tool("read_source", {"path": path})
        assert not read.is_error

    talk(make_server(space_shelf(workspace, "docs")), conversation)


def test_without_a_space_all_are_asked(workspace):
    async def conversation(client):
        places = set()
        for query in ("how to copy a bucket", "how to restart the gateway"):
            found = (await client.call_tool("rag_search", {"query": query})).structured_content
            assert found["space"] == "docs, runbooks"
            places |= {(hit["space"], hit["path"]) for hit in found["hits"]}
        assert places == {("docs", "docs/s3.md"), ("runbooks", "ops/restart.md")}
        read = await client.call_tool("read_source", {"path": "ops/restart.md"})
        text, end = (item.text for item in read.content)
        assert text.startswith("# Restart\n")
        lines = read.structured_content["lines"]
        assert end == f"--- end of ops/restart.md:1-{lines}, of {lines} lines ---"
        assert read.structured_content["text"] == text

    talk(make_server(workspace_shelf(workspace)), conversation)


WRONG = [
    ("rag_search", {}, "rag_search: 'query' is a required property"),
    ("rag_search", {"query": 3}, "rag_search: query: 3 is not of type 'string'"),
    ("rag_search", {"query": ""}, "rag_search: query: '' should be non-empty"),
    ("rag_search", {"query": "a", "top_k": 0}, "rag_search: top_k: 0 is less than the minimum"),
    ("rag_search", {"query": "a", "top_k": "3"}, "rag_search: top_k: '3' is not of type 'integer'"),
    ("rag_search", {"query": "a", "limit": 3}, "rag_search: Additional properties"),
    ("read_source", {"path": "../a"}, "'../a' is not an indexed file of any space"),
    ("rag_search", {"query": "a", "space": "x"}, "unknown space 'x'"),
    ("read_source", {"path": "../a", "space": "docs"}, "'../a' is not an indexed file of 'docs'"),
    ("read_source", {"path": "docs/s3.md", "start_line": 0}, "read_source: start_line: 0 is less"),
    ("list_spaces", {"all": True}, "list_spaces: Additional properties"),
    ("read_source", {"path": "docs/s3.md", "end_line": 1.5}, "read_source: end_line: 1.5 is not"),
    (
        "read_source",
        {"path": "docs/s3.md", "space": "docs", "start_line": 1e300},
        "read_source: start_line: 1e+300 is greater than the maximum",
    ),
    ("rag_search", {"query": ["x" * 100_000]}, "rag_search: query: ['xxx"),
    ("rag_search", {"query": 10**3000}, "rag_search: query: 1000"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), WRONG)
def test_wrong_arguments_are_errors_that_the_model_can_read(tool, arguments, message, workspace):
    async def conversation(client):
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error
        assert answer.content[0].text.startswith(message)
        assert len(answer.content[0].text) < 500
        assert "\n" not in answer.content[0].text

    talk(make_server(workspace_shelf(workspace)), conversation)


@pytest.mark.parametrize(
    ("tool", "arguments", "same"),
    [
        (
            "read_source",
            {"path": "docs/s3.md", "start_line": 1.0, "end_line": 3.0},
            {"end_line": 3},
        ),
        ("rag_search", {"query": "copy a bucket", "top_k": 1.0}, {"space": "docs"}),
    ],
)
def test_a_whole_number_may_be_written_with_a_point(tool, arguments, same, workspace):
    async def conversation(client):
        answer = await client.call_tool(tool, {**arguments, "space": "docs"})
        assert not answer.is_error, answer.content
        assert same.items() <= answer.structured_content.items()

    talk(make_server(workspace_shelf(workspace)), conversation)


def test_what_nobody_foresaw_is_told_to_the_model_and_logged(workspace, monkeypatch, caplog):
    def fail(*_arguments, **_options):
        raise TypeError("two\nlines")

    async def conversation(client):
        answer = await client.call_tool("rag_search", {"query": "a", "space": "docs"})
        assert answer.is_error
        assert answer.content[0].text == "rag_search failed: TypeError: two lines"

    shelf = workspace_shelf(workspace)
    monkeypatch.setattr("ragloom.SpaceGroup.search", fail)
    talk(make_server(shelf), conversation)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "rag_search failed: TypeError: two lines"
    ]


def test_an_unknown_tool_is_an_error_of_the_protocol(workspace):
    async def conversation(client):
        with pytest.raises(MCPError, match="unknown tool 'rag_write'") as caught:
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
    over, ended = threading.Event(), threading.Event()

    def search(*_arguments, **_options):
        over.wait(60)
        ended.set()

    async def conversation(client):
        answer = await client.call_tool("rag_search", {"query": "a", "space": "docs"})
        assert answer.is_error
        assert answer.content[0].text == "rag_search gave no answer within 0.05 s"

    shelf = workspace_shelf(workspace)
    monkeypatch.setattr("ragloom.SpaceGroup.search", search)
    try:
        talk(make_server(shelf, timeout=0.05), conversation)
        assert not ended.is_set()  # it was given up while it went on
    finally:
        over.set()


def test_a_call_that_is_stuck_keeps_no_other_waiting(workspace, monkeypatch):
    over = threading.Event()

    search = SpaceGroup.search

    def stuck(*arguments, **options):
        over.wait(60)
        return search(*arguments, **options)

    async def conversation(client):
        query = {"query": "copy a bucket", "space": "docs"}
        given_up = await client.call_tool("rag_search", query)
        assert given_up.content[0].text == "rag_search gave no answer within 3 s"
        for _ in range(3):  # at once, and nobody waits for its turn afterwards
            refused = await client.call_tool("rag_search", query)
            assert refused.is_error
            assert refused.content[0].text.startswith("an earlier search has not ended yet")
        read = await client.call_tool("read_source", {"path": "docs/s3.md", "space": "docs"})
        assert not read.is_error  # it needs no model
        assert not (await client.call_tool("list_spaces", {})).is_error
        over.set()
        for _ in range(6000):
            answer = await client.call_tool("rag_search", query)
            if not answer.is_error:
                break
            await anyio.sleep(0.01)
        assert FOUND.match(answer.content[0].text)

    shelf = workspace_shelf(workspace)
    monkeypatch.setattr("ragloom.SpaceGroup.search", stuck)
    try:
        talk(make_server(shelf, timeout=3), conversation)  # the others answer in it
    finally:
        over.set()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"},
    },
}
CALL = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"rag_search",'
UNREADABLE = [
    (CALL % 7 + '"arguments":{"query":"x\\ud800"}}}', 7, -32700),
    (CALL % '"a"' + '"arguments":{"query":"a","top_k":' + "1" * 5000 + "}}}", "a", -32700),
    (CALL % 8 + '"arguments":{"query":' + "[" * 100_000 + "]" * 100_000 + "}}}", None, -32700),
    ("{not JSON", None, -32700),
    ('"a"', None, -32600),
    ("[]", None, -32600),
    ('{"jsonrpc":"2.0","id":9,"method":5}', None, -32600),
    ('{"jsonrpc":"2.0","id":true,"method":"a","params":{"query":"x\\ud800"}}', None, -32700),
]


def test_a_line_that_is_no_message_is_answered(workspace, project):
    """A client that waits for the answer to what it sent does not wait for ever."""
    command = [sys.executable, "-m", "ragloom", "-C", str(project), "mcp", "--space", "docs"]
    last = '{"jsonrpc":"2.0","id":99,"method":"ping"}'
    sent = [json.dumps(INITIALIZE), *(line for line, _, _ in UNREADABLE), "", last]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        print(*sent, sep="\n", file=process.stdin, flush=True)
        answers = [json.loads(process.stdout.readline()) for _ in range(len(UNREADABLE) + 2)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.stderr.read() == ""

    refused = [answer for answer in answers if "error" in answer]
    expected = [(given, code) for _, given, code in UNREADABLE]
    assert [(answer["id"], answer["error"]["code"]) for answer in refused] == expected
    assert all(len(answer["error"]["message"]) < 200 for answer in refused)
    assert {answer["id"] for answer in answers if "result" in answer} == {1, 99}
    assert process.returncode == 0


def test_a_real_server_sees_what_another_process_indexes(workspace, project):
    """Done-when 3: started as a subprocess, it answers from a generation published meanwhile."""
    query = {"query": "who may approve a deployment on a friday?"}

    async def conversation(client):
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["rag_search", "list_spaces", "read_source"]
        before = await client.call_tool("rag_search", query)
        assert before.content[0].text.startswith("No relevant documentation found for your query.")

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

    talk(parameters(project, "--space", "docs", "--no-watch"), conversation)


def test_without_watching_a_server_answers_from_the_last_index(workspace, project):
    async def conversation(client):
        (project / "docs" / "new.md").write_text("# Zebras\n\nZebras graze.\n", "utf-8")
        await anyio.sleep(2.5)  # two looks of a server that watches
        listed = await client.call_tool("list_spaces", {})
        assert [1, 1] == [row["generation"] for row in listed.structured_content["spaces"]]

    talk(parameters(project, "--no-watch"), conversation)


def test_a_server_answers_from_what_was_written_since_it_started(project):
    query = {"query": "who may approve a deployment on a friday?", "space": "docs"}

    async def answered(client):
        while True:  # until the limit of the conversation
            answer = await client.call_tool("rag_search", query)
            if not answer.is_error and "source: docs/deploy.md" in answer.content[0].text:
                return
            await anyio.sleep(0.05)

    async def conversation(client):
        await client.list_tools()
        (project / "docs" / "deploy.md").write_text(
            "# Deployments\n\nOn a Friday only the duty engineer may approve a deployment.\n",
            "utf-8",
        )
        await answered(client)

    talk(parameters(project), conversation)


def test_a_space_that_cannot_be_indexed_keeps_no_other_from_being_served(project):
    (project / "ops" / "restart.md").unlink()
    (project / "ops").rmdir()

    async def conversation(client):
        found = await client.call_tool("rag_search", {"query": "copy a bucket", "space": "docs"})
        assert FOUND.match(found.content[0].text)

    talk(parameters(project, "--index"), conversation)


def test_an_agent_is_served_and_indexed_first(project):
    with (project / "agents.yaml").open("a", encoding="utf-8") as agents:
        agents.write("  - {id: broken, docs: {base_dir: nowhere, sources: [docs]}}\n")

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

    connection = HTTPConnection(urlsplit(url).netloc, timeout=60)
    connection.request("POST", "/mcp", b"{}", {"Host": host, "Content-Type": "application/json"})
    return connection.getresponse().status


def test_the_listener_is_on_loopback_alone():
    with listen(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_copies_and_more_of_a_file_are_named_in_both_answers(workspace, project):
    sections = (f"## Queue {n}\n\nQueue {n} is drained by the worker.\n\n" for n in range(5))
    (project / "docs" / "queues.md").write_text("".join(sections), "utf-8")
    for name in "ab":
        path = project / "docs" / f"{name}.md"
        path.write_text("# Topics\n\nA topic is drained by a subscriber.\n", "utf-8")
    workspace.space("docs").index()

    async def conversation(client):
        found = await client.call_tool("rag_search", {"query": "queue drained", "top_k": 4})
        hits = found.structured_content["hits"]
        of_file = [hit for hit in hits if hit["path"] == "docs/queues.md"]
        assert [0, 0, 2] == [len(hit["more_in_file"]) for hit in of_file]
        lines = ", ".join(
            f"{one['start_line']}-{one['end_line']}" for one in of_file[-1]["more_in_file"]
        )
        assert f"--- 2 more in this file: lines {lines} ---" in found.content[0].text
        found = await client.call_tool("rag_search", {"query": "topic drained by subscriber"})
        best = found.structured_content["hits"][0]
        (copy,) = best["copies"]
        assert {"docs/a.md", "docs/b.md"} == {best["path"], copy["path"]}
        assert f"--- same text: {copy['path']}:1 ---" in found.content[0].text
        assert "" == found.structured_content["searched_for"]
        assert found.structured_content["closest"] is None
        found = await client.call_tool("rag_search", {"query": "topic drained by subscrriber"})
        assert "topic drained by subscriber" == found.structured_content["searched_for"]
        assert "topic drained by subscriber" in found.content[0].text

    talk(make_server(space_shelf(workspace, "docs")), conversation)

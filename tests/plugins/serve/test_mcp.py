"""The Python SDK's client asks a team's server, with its token, in the current and the earlier protocol."""

from __future__ import annotations

import pytest

pytest.importorskip("mcp")

import anyio
from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from .conftest import running

TOKEN = "0123456789abcdef0123456789abcdef"  # noqa: S105


def talk(url, conversation, mode="auto", **headers):
    async def run():
        with anyio.fail_after(120):
            async with (
                create_mcp_http_client(headers=headers) as http,
                Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
            ):
                await conversation(client)

    anyio.run(run)


@pytest.fixture(scope="module")
def guarded(project):
    with running(project, RAGLOOM_SERVE_TOKEN=TOKEN) as address:
        yield address


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_tools_filters_and_resources(mode, guarded):
    async def conversation(client):
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert ["rag_search", "list_spaces", "read_source"] == names
        arguments = {"query": "copy a bucket", "path": "docs", "where": "status=accepted"}
        found = (await client.call_tool("rag_search", arguments)).structured_content
        assert ["docs/s3.md"] == [hit["path"] for hit in found["hits"]]
        read = await client.call_tool("read_source", {"path": "restart.md"})
        assert "ops/restart.md" == read.structured_content["path"]
        assert 3 == len((await client.list_resources()).resources)
        (content,) = (await client.read_resource("ragloom:///ops/ops/restart.md")).contents
        assert content.text.startswith("# Restart\n")

    talk(guarded, conversation, mode, Authorization=f"Bearer {TOKEN}")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer " + "0" * 32},
        {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"},
        {"Authorization": f"Bearer {TOKEN}", "Origin": "https://evil.example"},
    ],
)
def test_who_is_refused_reaches_no_tool(headers, guarded):
    reached = []

    async def conversation(client):
        reached.append(await client.list_tools())

    with pytest.raises(BaseException) as caught:  # noqa: PT011 - a group of what the SDK makes of it
        talk(guarded, conversation, **headers)
    assert [] == reached
    assert not isinstance(caught.value, TimeoutError | KeyboardInterrupt)

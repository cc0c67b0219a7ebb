"""Filters, near paths, resources and the first index, through the SDK's own client."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")
pytest.importorskip("onnxruntime")

import anyio
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters

from ragloom import Workspace
from ragloom_mcp.server import make_server
from ragloom_mcp.shelf import space_shelf, workspace_shelf
from ragloom_mcp.tools import TOOLS


def talk(server, conversation):
    async def run():
        with anyio.fail_after(120):
            async with Client(server) as client:
                await conversation(client)

    anyio.run(run)


@pytest.fixture
def served(workspace):
    return make_server(workspace_shelf(workspace))


def test_what_every_tool_gives_is_what_it_promises(served):
    calls = [
        ("rag_search", {"query": "copy a bucket"}),
        ("rag_search", {"query": "a recipe for apple pie"}),
        ("list_spaces", {}),
        ("read_source", {"path": "docs/s3.md"}),
    ]

    async def conversation(client):
        for tool in (await client.list_tools()).tools:
            Draft202012Validator.check_schema(tool.output_schema)
        for name, arguments in calls:
            given = await client.call_tool(name, arguments)
            Draft202012Validator(TOOLS[name].gives).validate(given.structured_content)

    talk(served, conversation)


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"path": "docs"}, {"docs/s3.md", "docs/ec2.md"}),
        ({"path": "./docs/"}, {"docs/s3.md", "docs/ec2.md"}),
        ({"path": "docs/s3.md"}, {"docs/s3.md"}),
        ({"path": ["ops", "docs/s3.md"]}, {"docs/s3.md", "ops/restart.md"}),
        ({"path": '["ops", "docs/s3.md"]'}, {"docs/s3.md", "ops/restart.md"}),
        ({"path": "."}, {"docs/s3.md", "docs/ec2.md", "ops/restart.md"}),
        ({"where": "status=draft"}, {"docs/draft.md"}),
        ({"where": ["status=draft", "path under docs"]}, {"docs/draft.md"}),
        ({"where": "status=draft", "path": "ops"}, set()),
        ({"mode": "lexical", "path": "docs"}, {"docs/s3.md", "docs/ec2.md"}),
    ],
)
def test_filters(arguments, paths, workspace, project, plugins):
    settings = project / "ragloom.yaml"
    settings.write_text("min_relevance: 0\n" + settings.read_text("utf-8"), "utf-8")
    served = make_server(workspace_shelf(Workspace.open(project, host=plugins)))
    if "where" in arguments:
        draft = "---\nstatus: draft\n---\nThe gateway is started with aws.\n"
        (project / "docs" / "draft.md").write_text(draft, "utf-8")
        workspace.space("docs").index()

    async def conversation(client):
        given = await client.call_tool(
            "rag_search", {"query": "aws bucket gateway machine", "top_k": 9, **arguments}
        )
        found = given.structured_content["hits"]
        assert paths == {hit["path"] for hit in found}, given.content

    talk(served, conversation)


def test_an_absolute_path_is_one_of_the_project(served, project):
    async def conversation(client):
        for path in (str(project / "docs"), (project / "docs").as_uri()):
            given = await client.call_tool("rag_search", {"query": "copy a bucket", "path": path})
            assert "docs/s3.md" == given.structured_content["hits"][0]["path"]

    talk(served, conversation)


WRONG = [
    ({"path": "dosc"}, "no indexed file is 'dosc' or lies below it; did you mean 'docs'?"),
    ({"path": "../docs"}, "no indexed file is '../docs' or lies below it"),
    ({"path": []}, ""),
    ({"path": 3}, "rag_search: path: 3 is not"),
    ({"where": "status"}, "cannot read the condition 'status', column 7"),
    ({"mode": "semantic"}, "rag_search: mode: 'semantic' is not one of ['hybrid', 'rrf'"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG)
def test_filters_that_are_wrong(arguments, said, served):
    async def conversation(client):
        given = await client.call_tool("rag_search", {"query": "copy a bucket", **arguments})
        assert bool(said) == given.is_error
        assert not said or said in given.content[0].text

    talk(served, conversation)


@pytest.mark.parametrize(
    ("named", "path", "lines"),
    [
        ("docs/s3.md", "docs/s3.md", (1, 5)),
        ("./docs/s3.md", "docs/s3.md", (1, 5)),
        ("docs/../docs/s3.md", "docs/s3.md", (1, 5)),
        ("s3.md", "docs/s3.md", (1, 5)),
        ("/docs/s3.md", "docs/s3.md", (1, 5)),
        ("DOCS/S3.md", "docs/s3.md", (1, 5)),
        ("restart.md", "ops/restart.md", (1, 3)),
        ("docs/s3.md:3-4", "docs/s3.md", (3, 4)),
        ("s3.md:3", "docs/s3.md", (3, 3)),
    ],
)
def test_near_paths_are_taken(named, path, lines, served):
    async def conversation(client):
        given = await client.call_tool("read_source", {"path": named})
        found = given.structured_content
        assert (path, *lines) == (found["path"], found["start_line"], found["end_line"])

    talk(served, conversation)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (
            "docs/s4.md",
            "'docs/s4.md' is not an indexed file of any space; did you mean 'docs/s3.md'",
        ),
        ("documentation/s3.md", "did you mean 'docs/s3.md'"),
        ("md", "'md' is not an indexed file of any space"),
        ("../secrets.md", "'../secrets.md' is not an indexed file of any space"),
        ("", "'' is not an indexed file of any space"),
    ],
)
def test_others_are_refused_and_the_nearest_offered(named, said, served):
    async def conversation(client):
        given = await client.call_tool("read_source", {"path": named})
        assert given.is_error
        assert said in given.content[0].text.replace("nearest: ", "did you mean ")

    talk(served, conversation)


def test_one_ending_of_several_files_names_them(workspace, project, served):
    (project / "ops" / "s3.md").write_text("# S3 operations\n", "utf-8")
    workspace.space("runbooks").index()

    async def conversation(client):
        given = await client.call_tool("read_source", {"path": "s3.md"})
        assert "several files end in 's3.md': 'docs/s3.md', 'ops/s3.md'" == given.content[0].text

    talk(served, conversation)


def test_files_are_resources(workspace, project, served):
    odd = "docs/50 % größer#1.md"
    (project / odd).write_text("# Odd\n\nAn odd name.\n", "utf-8")
    workspace.space("docs").index()

    async def conversation(client):
        listed = {one.name: one for one in (await client.list_resources()).resources}
        assert {odd, "docs/ec2.md", "docs/s3.md", "ops/restart.md"} == set(listed)
        for path, one in listed.items():
            (content,) = (await client.read_resource(one.uri)).contents
            assert (project / path).read_text("utf-8") == content.text
            assert "text/markdown" == content.mime_type
        templates = (await client.list_resource_templates()).resource_templates
        assert ["ragloom:///{space}/{+path}"] == [one.uri_template for one in templates]
        (content,) = (await client.read_resource("ragloom:///docs/docs/s3.md")).contents
        assert content.text.startswith("# Buckets\n")
        for uri, said in (
            ("ragloom:///docs/../ragloom.yaml", "not an indexed file"),
            ("ragloom:///doc/docs/s3.md", "unknown space 'doc'"),
            ("file:///etc/passwd", "unknown space"),
        ):
            with pytest.raises(MCPError, match=said):
                await client.read_resource(uri)

    talk(served, conversation)


def test_resources_come_in_pages(workspace, project):
    for number in range(1100):
        (project / "docs" / f"note-{number}.md").write_text(f"Note {number}.\n", "utf-8")
    workspace.space("docs").index(seconds=0)

    async def conversation(client):
        names, cursor, pages = [], None, 0
        while True:
            page = await client.list_resources(cursor=cursor)
            names += [one.name for one in page.resources]
            pages += 1
            if (cursor := page.next_cursor) is None:
                break
        assert (3, 1102, 1102) == (pages, len(names), len(set(names)))

    talk(make_server(space_shelf(workspace, "docs")), conversation)


def started(project: Path, *arguments: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "ragloom", "-C", str(project), "mcp", *arguments],
        env=dict(os.environ) | {"XDG_CONFIG_HOME": str(project / "home")},
    )


def test_started_where_nothing_is_indexed_it_answers_by_words_within_seconds(tmp_path):
    for number in range(1500):
        text = f"# Note {number}\n\n" + f"The valve {number} is opened by hand before noon. " * 40
        (tmp_path / f"note-{number}.md").write_text(text, "utf-8")
    (tmp_path / "okapi.md").write_text("# Okapis\n\nAn okapi hides in the forest.\n", "utf-8")
    (tmp_path / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")

    async def conversation(client):
        started_at = anyio.current_time()
        given = await client.call_tool("rag_search", {"query": "where does the okapi hide?"})
        while given.is_error and "is being indexed" in given.content[0].text:
            given = await client.call_tool("rag_search", {"query": "where does the okapi hide?"})
        assert anyio.current_time() - started_at < 60
        found = given.structured_content
        assert ("default", "okapi.md") == (found["space"], found["hits"][0]["path"])
        assert found["pending"] > 0
        assert "without an embedding yet, compared by words alone" in given.content[1].text

    talk(started(tmp_path), conversation)


def test_a_space_that_cannot_be_indexed_says_why(tmp_path):
    (tmp_path / "ragloom.yaml").write_text("spaces: {docs: {sources: [nowhere]}}\n", "utf-8")

    async def conversation(client):
        given = await client.call_tool("rag_search", {"query": "anything"})
        assert given.is_error
        assert "docs: not indexed: " in given.content[0].text
        assert "nowhere" in given.content[0].text
        listed = await client.call_tool("list_spaces", {})
        assert "nowhere" in listed.content[0].text

    talk(started(tmp_path), conversation)


def test_a_home_folder_is_not_indexed_without_a_word(tmp_path, monkeypatch, plugins):
    monkeypatch.setenv("HOME", str(tmp_path))
    workspace = Workspace.open(tmp_path, host=plugins)
    assert [] == workspace_shelf(workspace, indexing=True).names()


def test_an_index_without_its_files_is_read_from_its_chunks(workspace, project, plugins):
    assert workspace
    text = (project / "docs" / "s3.md").read_text("utf-8")
    for path in ("docs/s3.md", "docs/ec2.md"):
        (project / path).unlink()
    settings = project / "ragloom.yaml"
    settings.write_text("check_files: false\n" + settings.read_text("utf-8"), "utf-8")
    away = Workspace.open(project, host=plugins)

    async def conversation(client):
        given = await client.call_tool("rag_search", {"query": "copy a bucket"})
        found = given.structured_content
        assert (False, "docs/s3.md") == (found["checked"], found["hits"][0]["path"])
        assert 64 == len(found["hits"][0]["content_hash"])
        assert "no file on this machine was compared" in given.content[1].text
        read = (await client.call_tool("read_source", {"path": "s3.md"})).structured_content
        assert (text.rstrip("\n"), True) == (read["text"].rstrip("\n"), read["from_index"])

    talk(make_server(space_shelf(away, "docs")), conversation)

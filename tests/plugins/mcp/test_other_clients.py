"""The official inspector and the TypeScript SDK, over stdio and HTTP: every tool, resource and prompt."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

pytest.importorskip("mcp")
pytest.importorskip("onnxruntime")

from .test_access import TOKEN, served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed"),
]
PACKAGES = ["@modelcontextprotocol/inspector-cli@0.15", "@modelcontextprotocol/sdk@1"]
PROMPT = (
    "---\nname: Summary\ndescription: Summarise a talk\n---\nSummarise in {{language}}: {{input}}\n"
)
CALLS = [
    {"name": "rag_search", "arguments": {"query": "copy a bucket", "top_k": 1}},
    {"name": "rag_search", "arguments": {"query": "copy a bucket", "path": ["ops"]}},
    {"name": "rag_search", "arguments": {"query": "copy a bucket", "where": "path under docs"}},
    {"name": "rag_search", "arguments": {"query": "bucket", "mode": "lexical", "space": "docs"}},
    {"name": "list_spaces", "arguments": {}},
    {"name": "read_source", "arguments": {"path": "s3.md:3"}},
    {"name": "find_template", "arguments": {"problem": "summarise a talk"}},
]


@pytest.fixture(scope="module")
def node(tmp_path_factory, root):
    """A folder with both packages, from the npm registry."""
    folder = tmp_path_factory.mktemp("node")
    npm = shutil.which("npm")
    quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
    brief = ["--fetch-retries=1", "--fetch-timeout=20000", "--ignore-scripts"]
    try:
        # Where the registry does not answer, an installation waits for minutes before it says so.
        view = [npm, "view", PACKAGES[0], "version", "--fetch-retries=0", "--fetch-timeout=15000"]
        subprocess.run(view, check=True, timeout=30, stdout=subprocess.DEVNULL)
        subprocess.run([npm, "install", *quiet, *brief, *PACKAGES], check=True, timeout=90)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        pytest.skip(f"the packages cannot be had from the npm registry here: {error}")
    shutil.copy(root / "tests" / "plugins" / "mcp" / "client.mjs", folder)
    return folder


@pytest.fixture
def library(workspace, project):
    assert workspace
    file = project / "data" / "templates" / "summary.md"
    file.parent.mkdir(parents=True)
    file.write_text(PROMPT, "utf-8")
    return project


def answered(node, server):
    given = {"calls": CALLS, "prompt": {"name": "summary", "arguments": {"language": "German"}}}
    done = subprocess.run(
        [shutil.which("node"), str(node / "client.mjs"), json.dumps(server | given)],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    return json.loads(done.stdout)


def stdio(project):
    return ["-m", "ragloom", "-C", str(project), "mcp", "--no-watch"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_typescript_sdk(transport, node, library):
    if transport == "stdio":
        answers = answered(node, {"command": sys.executable, "args": stdio(library)})
    else:
        with served(library, token=TOKEN) as (url, _):
            answers = answered(node, {"url": url, "token": TOKEN})
    assert "error" not in answers, answers
    names = ["rag_search", "list_spaces", "read_source", "find_template"]
    assert names == [tool["name"] for tool in answers["tools"]]
    assert all("outputSchema" in tool for tool in answers["tools"])
    found, of_ops, below, lexical, spaces, read, template = answers["calls"]
    assert "docs/s3.md" == found["structuredContent"]["hits"][0]["path"]
    assert [] == of_ops["structuredContent"]["hits"]
    assert "docs/s3.md" == below["structuredContent"]["hits"][0]["path"]
    assert "docs/s3.md" == lexical["structuredContent"]["hits"][0]["path"]
    assert ["docs", "runbooks"] == [one["name"] for one in spaces["structuredContent"]["spaces"]]
    assert "Copy a bucket with aws s3 cp.\n" == read["structuredContent"]["text"]
    assert "summary" == template["structuredContent"]["templates"][0]["id"]
    assert 3 == len(answers["resources"])
    (content,) = answers["read"]["contents"]
    path = answers["resources"][0]["name"]
    assert (library / path).read_text("utf-8") == content["text"]
    assert ["summary"] == [one["name"] for one in answers["prompts"]]
    assert "Summarise in German" in answers["filled"]["messages"][0]["content"]["text"]


def test_a_wrong_token_is_refused(node, library):
    with served(library, token=TOKEN) as (url, _):
        for token in ("", "0" * 32):
            assert '"code": 401' in answered(node, {"url": url, "token": token})["error"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_inspector(transport, node, library):
    program = node / "node_modules" / ".bin" / "mcp-inspector-cli"

    def inspect(*target: str) -> None:
        def call(method: str, *arguments: str) -> dict:
            done = subprocess.run(
                [program, "--cli", *target, "--method", method, *arguments],
                capture_output=True,
                text=True,
                check=False,
                timeout=200,
                env=dict(os.environ),
            )
            assert 0 == done.returncode, done.stderr
            return json.loads(done.stdout)

        assert 4 == len(call("tools/list")["tools"])
        for one in CALLS:
            arguments = [
                part
                for key, value in one["arguments"].items()
                for text in [value if isinstance(value, str) else json.dumps(value)]
                for part in ("--tool-arg", f"{key}={text}")
            ]
            given = call("tools/call", "--tool-name", one["name"], *arguments)
            assert not given.get("isError"), given
        assert 3 == len(call("resources/list")["resources"])
        assert call("resources/templates/list")["resourceTemplates"]
        (content,) = call("resources/read", "--uri", "ragloom:///docs/docs/s3.md")["contents"]
        assert content["text"].startswith("# Buckets\n")
        assert ["summary"] == [one["name"] for one in call("prompts/list")["prompts"]]
        filled = call("prompts/get", "--prompt-name", "summary", "--prompt-args", "language=German")
        assert "Summarise in German" in filled["messages"][0]["content"]["text"]

    if transport == "stdio":
        inspect(sys.executable, *stdio(library))
    else:
        with served(library) as (url, _):
            inspect(url, "--transport", "http")

"""From generated documents to an answered tool call, and again after a restart."""

import re

import pytest

from ragloom import PluginHost

pytest.importorskip("onnxruntime")

CONFIG = """\
rag: {store: %s, path: .ragloom/agents.db}
agents:
  - id: awscli
    system_prompt: You help with the AWS command line.
    docs: {strategy: rag, sources: ["docs/ref/*.md"]}
"""
COMMANDS = {
    "s3": "Copy objects between buckets with aws s3 cp, and whole folders with --recursive.",
    "ec2": "Start virtual machines with aws ec2 run-instances and stop them with stop-instances.",
    "iam": "Create users with aws iam create-user and attach a policy with attach-user-policy.",
    "logs": "Follow a log group with aws logs tail, and filter its events with --filter-pattern.",
}


def generate(write, version: int, **changed: str) -> None:
    """What a script would write from a tool's help, every file anew."""
    for name, text in (COMMANDS | changed).items():
        write(f"docs/ref/{name}.md", f"# aws {name}\n\n{text}\n")
    assert version


def model(prompt: str, tools: list[dict[str, object]]) -> dict[str, object]:
    """A model that does as its prompt says: it calls the tool that it was offered."""
    assert "rag_search" in prompt
    (tool,) = tools
    function = tool["function"]
    query = {function["parameters"]["required"][0]: "How do I copy a bucket?"}
    return {"name": function["name"], "arguments": query}


@pytest.mark.parametrize("store", ["sqlite", "memory"])
def test_the_whole_walk(store, write, open_agents, project):
    plugins = PluginHost.discover()
    write("agents.yaml", CONFIG % store)
    generate(write, 1)

    agents = open_agents(plugins=plugins)
    assert agents.start()["awscli"].embedded == len(COMMANDS)
    tool = agents.tool("awscli")
    call = model(agents.prompt("awscli").text, [tool.openai()])
    assert call["name"] == tool.name
    answer = tool.call(call["arguments"])
    header = r"--- Result 1 \(score: 0\.\d{3}, source: docs/ref/s3\.md:1(-\d+)?\) ---\n"
    assert re.match(header, answer.text)
    assert COMMANDS["s3"] in answer.text

    # The tool was upgraded: two pages say something new, one is gone, one came, all were rewritten.
    new = "Copy buckets with aws s3 sync, which skips objects that are already there."
    generate(write, 2, s3=new, eks="Make a cluster with aws eks create-cluster.")
    (project / "docs" / "ref" / "iam.md").unlink()
    restarted = open_agents(plugins=plugins)
    stale = restarted.tool("awscli").call(call["arguments"])
    assert COMMANDS["s3"] not in stale.text

    report = restarted.start()["awscli"]
    assert (report.embedded, report.unchanged) == (2, 2)
    assert report.added == ("docs/ref/eks.md",)
    assert report.updated == ("docs/ref/s3.md",)
    assert report.removed == ("docs/ref/iam.md",)
    assert new in restarted.tool("awscli").call(call["arguments"]).text

    assert open_agents(plugins=plugins).start()["awscli"].embedded == 0

"""The examples in the help of every command, run in their order with the real model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("onnxruntime")

from ragloom_knowledge.cli import knowledge

if TYPE_CHECKING:
    import click

LESSON = {
    "kind": "failure_solution",
    "project": "shop",
    "agent_type": "backend",
    "failure_description": "The cache is cold after each deploy",
    "solution_steps": "Warm it up before the switch",
    "success_verified": True,
}
EVENT = {"tool_name": "Bash", "error": "canceling statement due to statement timeout"}
_ATTEMPTS = 5  # on a busy machine
LATER = ("prune", "remove")  # what they delete is no longer there for others


def examples(command: click.Command) -> list[str]:
    """The commands of a help text, with what goes on in the next line."""
    text = (command.epilog or "").replace("\b\nExamples:\n", "").replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.slow
def test_every_example_returns_what_it_says(tmp_path):
    (tmp_path / "lessons.jsonl").write_text(json.dumps(LESSON) + "\n", "utf-8")
    (tmp_path / "event.json").write_text(json.dumps(EVENT), "utf-8")
    (tmp_path / "ragloom.yaml").write_text("store: sqlite\n", "utf-8")
    ids: list[str] = []

    def run(line: str) -> str:
        done = subprocess.run(
            ["/bin/bash", "-c", f'ragloom() {{ "{sys.executable}" -m ragloom "$@"; }}; {line}'],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
            env=os.environ | {"NO_COLOR": "1"},
        )
        assert 0 == done.returncode, (line, done.stderr)
        return done.stdout

    capture, checkpoint, context, outcome = examples(knowledge)
    ids.append(run(capture).split("\t")[0])
    assert "1 lesson processed" in run(checkpoint)
    assert "Lock less" in run(context)
    assert "2 successes of 2 uses" in run(outcome.replace("ID", ids[0]))
    found = json.loads(run(examples(knowledge.commands["query"])[0]))
    assert ids == [one["id"] for one in found]
    commands = sorted(knowledge.commands.items(), key=lambda item: (item[0] in LATER, item[0]))
    shown = {}
    for name, command in commands:
        assert examples(command), name
        for line in examples(command):
            if name == "capture":
                answer = run(line).strip()
                ids.append(json.loads(answer)["id"] if "{" in answer else answer.split("\t")[0])
                continue
            line = line.replace("BY", ids[1])  # noqa: PLW2901
            for _ in range(_ATTEMPTS if name == "hook" else 1):
                if said := run(line.replace("ID", ids[0])):  # a hook has three seconds
                    break
            shown[line] = said
    for line, said in shown.items():
        if any(f" {name} " in line for name in ("context", "failure", "hook", "query", "show")):
            assert "Lock less" in said, line

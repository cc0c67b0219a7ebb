"""``ragloom knowledge`` alone, in fresh processes, with the real model and the default store."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("milvus_lite")

LESSONS = [
    {
        "kind": "failure_solution",
        "agent_type": "backend",
        "failure_description": "The database migration of the orders table times out",
        "error_message": "canceling statement due to statement timeout",
        "solution_steps": "Create the index concurrently and migrate in small batches",
        "success_verified": True,
    },
    {
        "kind": "gate_rejection",
        "agent_type": "frontend",
        "gate_type": "design review",
        "human_feedback": "The login form does not say which field is wrong",
        "revision_approach": "Show an error message below each field of the login form",
    },
    {
        "kind": "gate_approval",
        "agent_type": "architect",
        "gate_type": "architecture review",
        "approved_approach": "Payment service with hexagonal ports, one adapter for each bank",
    },
]


@pytest.fixture
def ragloom(project):
    (project / "ragloom.yaml").unlink()

    def run(*arguments, given="", code=0):
        done = subprocess.run(
            [sys.executable, "-m", "ragloom", "knowledge", *arguments],
            input=given,
            capture_output=True,
            text=True,
            cwd=project,
            check=False,
            env=os.environ | {"NO_COLOR": "1"},
        )
        assert code == done.returncode, done.stderr
        return done.stdout if code == 0 else done.stderr

    return run


@pytest.mark.slow
def test_what_one_project_learns_reaches_the_next(ragloom, project):
    lines = "".join(json.dumps({**lesson, "project": "one"}) + "\n" for lesson in LESSONS)
    captured = [json.loads(line) for line in ragloom("capture", "--json", given=lines).splitlines()]
    failure, rejection, approval = [one["id"] for one in captured]
    done = json.loads(ragloom("checkpoint", "--project", "one", "--kind", "manual", "--json"))
    assert 3 == done["processed"]
    asked = {
        failure: "Write the database migration of the orders table",
        rejection: "Build a login form that says which field is wrong",
        approval: "Design the architecture of a payment service with adapters for banks",
    }
    for lesson_id, task in asked.items():
        made = json.loads(ragloom("context", task, "--json"))
        assert [lesson_id] == made["patterns"], made
        assert "[ORCHESTRATOR CONTEXT: Historical Knowledge]" in made["text"]
    (found,) = json.loads(ragloom("query", asked[failure], "--agent-type", "backend", "--json"))
    assert [
        "id", "kind", "problem", "solution", "when_to_try", "successes", "uses", "relevance",
        "wordings", "conflicts",
    ] == list(found)  # fmt: skip
    assert [] == json.loads(ragloom("query", asked[failure], "--agent-type", "qa", "--json"))
    error = "canceling statement due to statement timeout"
    (same,) = json.loads(ragloom("failure", error, "--json"))
    assert failure == same["id"]
    counted = json.loads(ragloom("outcome", failure, "--success", "--json"))
    assert {"id": failure, "successes": 2, "uses": 2} == counted
    assert 3 == len(ragloom("list").splitlines())
    assert json.loads(ragloom("pin", failure, "--json"))["pinned"]
    assert "2" == ragloom("prune", "--older-than", "0", "--dry-run").split()[0]
    folder = str(project / "exported")
    assert {"exported": 3} == json.loads(ragloom("export", folder, "--json"))
    before = ragloom("show", failure, "--json")
    assert 2 == json.loads(ragloom("prune", "--older-than", "0", "--json"))["count"]
    assert {"imported": 3} == json.loads(ragloom("import", folder, "--json"))
    assert before == ragloom("show", failure, "--json")
    assert {"id": failure} == json.loads(ragloom("remove", failure, "--json"))
    assert "unknown lesson" in ragloom("show", failure, code=1)


def test_an_export_that_cannot_be_written_opens_no_database(ragloom, project):
    (project / "file").touch()
    assert "'file/exported' cannot be written: " in ragloom("export", "file/exported", code=2)
    assert not (project / ".ragloom").exists()


def test_what_is_wrong_is_said_in_one_line_and_nothing_is_staged(ragloom):
    given = json.dumps({**LESSONS[0], "project": "one"}) + '\n{"kind": "rumour"}\n'
    assert "line 2: kind" in ragloom("capture", "--json", given=given, code=1)
    assert [] == json.loads(ragloom("list", "--json"))
    assert "unknown lesson" in ragloom("outcome", "x", "--success", code=1)
    assert "--kind" in ragloom("capture", code=2)

"""A database that refuses, says nothing, or is started again: the agent gets its task, and in time."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

import pytest

from ragloom import ConfigError, StoreError, Workspace
from ragloom_knowledge import Task
from ragloom_knowledge.tools import lesson_tools

pytest.importorskip("pg8000")

SECONDS = 3.0
TASK = Task(description="Migrate the orders table")


@pytest.fixture
def silent():
    """The address of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = Event()
        held = []

        def accept():
            server.settimeout(0.1)
            while not over.is_set():
                try:
                    held.append(server.accept())
                except TimeoutError:
                    continue

        thread = Thread(target=accept)
        thread.start()
        yield f"postgresql://u:p@127.0.0.1:{server.getsockname()[1]}/x"
        over.set()
        thread.join()
        for connection, _ in held:
            connection.close()


@pytest.fixture
def refused():
    """The address of a port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return f"postgresql://u:p@127.0.0.1:{port}/x"


@pytest.fixture(params=["silent", "refused"])
def gone(request):
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://127.0.0.1/x", "no user in it: postgresql://USER@HOST/NAME"),
        ("postgresql+pg8000:///x", "no user in it: postgresql://USER@HOST/NAME"),
        ("mysql://u@127.0.0.1/x", "SQLite and PostgreSQL are supported, not 'mysql'"),
        ("lessons.db", "not a URL such as 'sqlite:///lessons.db'"),
    ],
)
def test_a_url_that_is_none_of_a_database_is_a_wrong_setting(open_knowledge, url, said):
    with pytest.raises(ConfigError, match=f"knowledge.database: {said}"):
        open_knowledge(url)


def test_the_task_comes_back_with_the_reason_in_time(gone, open_knowledge):
    begun = time.monotonic()
    base = open_knowledge(gone)
    made = base.context_for_task(TASK)
    assert time.monotonic() - begun < SECONDS
    assert (TASK.description, ()) == (made.text, made.patterns)
    assert "the database of lessons, postgresql+pg8000://u:***@127.0.0.1" in made.reason
    with pytest.raises(StoreError):
        base.query_for_failure("It fails")


def test_a_shell_that_completes_names_waits_no_longer(gone, project):
    environ = {
        "RAGLOOM_KNOWLEDGE_DATABASE": gone,
        "_RAGLOOM_COMPLETE": "bash_complete",
        "COMP_WORDS": "ragloom knowledge show ",
        "COMP_CWORD": "3",
    }
    begun = time.monotonic()
    done = subprocess.run(
        [Path(sys.executable).with_name("ragloom")],
        capture_output=True,
        text=True,
        cwd=project,
        env=os.environ | environ,
        check=False,
        timeout=60,
    )
    assert time.monotonic() - begun < SECONDS
    assert (0, "") == (done.returncode, done.stdout.strip())


def test_the_command_ends_well_and_in_time(gone, project):
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", "knowledge", "context", TASK.description, "--json"],
        capture_output=True,
        text=True,
        cwd=project,
        check=False,
        env=os.environ | {"RAGLOOM_KNOWLEDGE_DATABASE": gone, "RAGLOOM_EMBEDDER": "onnx"},
        timeout=30,
    )
    assert 0 == done.returncode, done.stderr
    answer = json.loads(done.stdout)
    assert TASK.description == answer["text"]
    assert "the database of lessons" in answer["reason"]
    assert "Traceback" not in done.stderr
    assert time.monotonic() - begun < 2 * SECONDS  # with the start of a process on a busy machine


def test_the_reason_is_said_once(refused, project, open_knowledge, caplog):
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", "knowledge", "context", TASK.description],
        capture_output=True,
        text=True,
        cwd=project,
        check=False,
        env=os.environ | {"RAGLOOM_KNOWLEDGE_DATABASE": refused},
        timeout=30,
    )
    assert (0, f"{TASK.description}\n") == (done.returncode, done.stdout)
    assert 1 == done.stderr.count("the database of lessons") == done.stderr.count("\n")
    base = open_knowledge(refused)
    assert "the database of lessons" in base.context_for_task(TASK).reason
    assert [] == caplog.messages
    assert TASK.description == base.build_context_for_task(TASK)  # has no room for a reason
    (message,) = caplog.messages
    assert message.startswith("no lessons: the database of lessons")


def test_a_hook_says_nothing_and_ends_well(gone, project):
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", "knowledge", "hook", "prompt-submitted"],
        input=json.dumps({"prompt": "Migrate the orders table"}),
        capture_output=True,
        text=True,
        cwd=project,
        check=False,
        env=os.environ | {"RAGLOOM_KNOWLEDGE_DATABASE": gone},
        timeout=30,
    )
    assert (0, "") == (done.returncode, done.stdout), done.stderr


def add(project, settings):
    with (project / "ragloom.yaml").open("a", encoding="utf-8") as file:
        file.write(settings)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("lesson_query", {"task": TASK.description}),
        ("lesson_capture", {"failure_description": "It fails", "solution_steps": "Retry"}),
        ("lesson_outcome", {"id": "x", "success": True}),
    ],
)
def test_a_tool_does_not_wait_for_a_silent_database(
    silent, project, monkeypatch, host, name, arguments
):
    monkeypatch.setenv("RAGLOOM_KNOWLEDGE_DATABASE", silent)
    add(project, "knowledge: {tools: true, timeout: 0.2}\n")
    tools = {one.name: one for one in lesson_tools(Workspace.open(project, host=host))}
    with pytest.raises(StoreError, match=r"lessons, postgresql.*: no answer within 0\.2 s"):
        tools[name].run(arguments)


def test_a_page_does_not_wait_for_a_silent_database(silent, project, monkeypatch, host):
    collected = pytest.importorskip("ragloom_web.collected")
    monkeypatch.setenv("RAGLOOM_KNOWLEDGE_DATABASE", silent)
    add(project, "knowledge: {timeout: 0.2}\n")
    shown = collected.lessons(Workspace.open(project, host=host))
    assert [] == shown["lessons"]
    assert "no answer within 0.2 s" in shown["note"]


def test_an_event_loop_goes_on_meanwhile(silent, open_knowledge):
    base = open_knowledge(silent)
    ticks = []

    async def tick():
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.05)

    async def both():
        ticking = asyncio.create_task(tick())
        made = await base.acontext_for_task(TASK)
        assert TASK.description == await base.abuild_context_for_task(TASK)
        ticking.cancel()
        return made

    made = asyncio.run(both())
    assert "no answer within" in made.reason
    assert max(after - before for before, after in pairwise(ticks)) < 1


def test_every_asynchronous_method_does_what_its_namesake_does(knowledge):
    from ragloom_knowledge.capturing import new_lesson

    texts = {
        "project": "one",
        "agent_type": "backend",
        "failure_description": "The migration times out",
        "solution_steps": "Migrate in batches",
    }
    lesson = new_lesson("failure_solution", texts, verified=True)

    async def story():
        captured = await knowledge.acapture(lesson)
        (again,) = await knowledge.acapture_all([lesson])
        assert (captured.id, True) == (again.id, again.merged)
        assert 1 == (await knowledge.aprocess_checkpoint("one")).processed
        (found,) = await knowledge.aquery_for_task("The migration times out")
        (failed,) = await knowledge.aquery_for_failure("The migration times out")
        assert captured.id == found.id == failed.id
        return await knowledge.areport_outcome(found.id, success=False)

    assert (2, 3) == ((done := asyncio.run(story())).successes, done.uses)


@pytest.mark.server
def test_nothing_captured_is_lost_where_the_server_is_started_again(
    postgres_server, postgres_url, restart_postgres, open_knowledge
):
    assert postgres_server
    base = open_knowledge(postgres_url)

    def capture(number):
        word = "".join(chr(97 + int(digit)) for digit in str(number))
        return base.capture_failure_solution(
            "one", "backend", f"The service {word} fails", solution_steps=f"Restart {word}"
        )

    kept = [capture(number).id for number in range(5)]
    base.process_checkpoint("one")
    restart_postgres()
    for number in range(5, 10):
        try:
            kept.append(capture(number).id)
        except StoreError:  # said so: whoever captured it tries again
            kept.append(capture(number).id)
    begun = time.monotonic()
    assert base.context_for_task(Task(description="The service a fails")).patterns
    assert time.monotonic() - begun < SECONDS
    assert sorted(kept) == [lesson.id for lesson in base.lessons()]

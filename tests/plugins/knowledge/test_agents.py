"""Coding agents: their hooks over recorded events, and lessons as instructions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragloom_knowledge import LessonError
from ragloom_knowledge.hooks import block_for_event
from ragloom_knowledge.promotion import promoted

EVENTS = Path(__file__).parents[2] / "data" / "agent_events"
FAILURE = "The migration of the orders table times out"
ERROR = "canceling statement due to statement timeout"
FIX = "Create the index concurrently and migrate in batches"


@pytest.fixture
def lesson(knowledge) -> str:
    captured = knowledge.capture_failure_solution(
        "one",
        "backend",
        FAILURE,
        error_message=ERROR,
        solution_steps=FIX,
        applies_to="Write the migration that adds a column to the orders table",
    )
    knowledge.process_checkpoint("one")
    return captured.id


def event(name: str, **changed: object) -> bytes:
    recorded = json.loads((EVENTS / f"{name}.json").read_text("utf-8"))
    return json.dumps(recorded | changed).encode()


def test_a_prompt_gets_the_block_and_nothing_else(knowledge, lesson):
    block = block_for_event(knowledge, "UserPromptSubmit", event("prompt_submitted"))
    assert block.startswith("[ORCHESTRATOR CONTEXT: Historical Knowledge]\n")
    assert block.endswith("[END CONTEXT]\n")
    assert f"- Id: {lesson}" in block


@pytest.mark.parametrize("name", ["tool_failed", "tool_failed_response"])
def test_a_tool_that_failed_gets_what_resolved_it(knowledge, lesson, name):
    kind = "PostToolUseFailure" if name == "tool_failed" else "PostToolUse"
    assert lesson in block_for_event(knowledge, kind, event(name))


@pytest.mark.parametrize(
    "trace", ["{error}\n{frames}", "{frames}\n{error}", "{error} {words}", "{words} {error}"]
)
def test_an_error_is_found_at_either_end_of_a_long_report(knowledge, lesson, trace):
    frames = "\n".join(
        f"    at handler{line} (/srv/app/handler.js:{line}:7)" for line in range(200)
    )
    report = trace.format(error=ERROR, frames=frames, words="visited " * 900)
    given = event("tool_failed", error=report)
    assert lesson in block_for_event(knowledge, "PostToolUseFailure", given)


def test_a_tool_that_worked_gets_nothing(knowledge, lesson):
    worked = event("tool_failed_response", tool_response={"stdout": ERROR, "exit_code": 0})
    assert "" == block_for_event(knowledge, "PostToolUse", worked)
    assert lesson


def test_a_subagent_gets_what_fits_its_last_words(knowledge, lesson, tmp_path):
    assert lesson in block_for_event(knowledge, "SubagentStop", event("subagent_stopped"))
    transcript = tmp_path / "transcript.jsonl"
    said = {"role": "assistant", "content": [{"type": "text", "text": f"I stop: {ERROR}"}]}
    lines = ({"type": "user", "message": {"role": "user", "content": "x"}}, {"message": said})
    transcript.write_text("\n".join(map(json.dumps, lines)) + "\n{half", "utf-8")
    given = event("subagent_stopped", last_assistant_message="", transcript_path=str(transcript))
    assert lesson in block_for_event(knowledge, "SubagentStop", given)
    # What it says when it stops again, after it was given something: more would keep it from ending.
    assert "" == block_for_event(
        knowledge, "SubagentStop", event("subagent_stopped", stop_hook_active=True)
    )
    given = event("subagent_stopped", last_assistant_message="", transcript_path="/nowhere")
    assert "" == block_for_event(knowledge, "SubagentStop", given)


@pytest.mark.parametrize("content", [b"[]", b"{}", b'{"prompt": 7}', b'{"prompt": "  "}', b"null"])
@pytest.mark.parametrize(
    "kind", ["UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStop"]
)
def test_an_event_that_says_nothing_gets_nothing(knowledge, kind, content):
    assert "" == block_for_event(knowledge, kind, content)


@pytest.mark.parametrize("given", ["", "no JSON", "{}", '{"prompt": "Bake a cake"}', "\x00"])
def test_the_command_is_silent_and_its_code_is_always_0(project, given):
    done = run(project, "hook", "prompt-submitted", given=given)
    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("arguments", [[], ["SessionStart"], ["prompt"], ["tool-failed", "--jsn"]])
def test_a_wrong_call_in_a_settings_file_never_stops_the_agent(project, arguments):
    done = run(project, "hook", *arguments, given="{}")
    assert (0, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("warning: ")
    assert (arguments or [""])[-1] in done.stderr


def test_the_command_prints_the_block_or_the_json_of_claude_code(project, lesson, url, knowledge):
    knowledge.close()
    environ = {"RAGLOOM_KNOWLEDGE_DATABASE": url}
    given = event("prompt_submitted").decode()
    plain = run(project, "hook", "prompt-submitted", given=given, **environ)
    # The embedder of the tests is no installed plugin: the command finds none, and says nothing.
    assert (0, "") == (plain.returncode, plain.stdout)
    assert lesson


def run(project, *arguments, given="", **environ):
    return subprocess.run(
        [sys.executable, "-m", "ragloom", "knowledge", *arguments],
        input=given,
        capture_output=True,
        text=True,
        cwd=project,
        check=False,
        env=os.environ | {"NO_COLOR": "1"} | environ,
        timeout=60,
    )


def prove(knowledge, lesson_id):
    for _ in range(3):
        knowledge.report_outcome(lesson_id, success=True)


def test_proven_lessons_become_a_section_and_the_rest_of_the_page_stays(
    knowledge, lesson, tmp_path
):
    page = tmp_path / "AGENTS.md"
    page.write_text("# Agents\n\nUse tabs.\n", "utf-8")
    assert "" == promoted(knowledge, page=page).diff  # one success proves nothing
    prove(knowledge, lesson)
    change = promoted(knowledge, page=page)
    assert (lesson,) == change.lessons
    assert f"+- **{FAILURE}.** {FIX}. (worked 4 of 4 times)\n" in change.diff
    assert "# Agents\n\nUse tabs.\n" == page.read_text("utf-8")
    change.write()
    text = page.read_text("utf-8")
    assert text.startswith("# Agents\n\nUse tabs.\n\n<!-- ragloom lessons")
    page.write_text(text + "\nMore.\n", "utf-8")
    assert "" == promoted(knowledge, page=page).diff
    knowledge.report_outcome(lesson, success=True)
    promoted(knowledge, page=page).write()
    assert "worked 5 of 5 times" in page.read_text("utf-8")
    assert page.read_text("utf-8").endswith("<!-- end of ragloom lessons -->\n\nMore.\n")
    knowledge.remove(lesson)
    promoted(knowledge, page=page).write()
    assert "# Agents\n\nUse tabs.\n\n\nMore.\n" == page.read_text("utf-8")


def test_a_skill_has_a_folder_of_its_own(knowledge, lesson, tmp_path):
    prove(knowledge, lesson)
    change = promoted(knowledge, skill=tmp_path / "skills" / "Our Lessons")
    change.write()
    text = (tmp_path / "skills" / "Our Lessons" / "SKILL.md").read_text("utf-8")
    assert text.startswith("---\nname: our-lessons\ndescription: ")
    assert FIX in text


def test_a_page_that_is_no_text_is_named(knowledge, tmp_path):
    page = tmp_path / "AGENTS.md"
    page.write_bytes("Größe\n".encode("latin-1"))
    with pytest.raises(LessonError, match=r"AGENTS\.md: not UTF-8 at byte 2"):
        promoted(knowledge, page=page)


def test_what_failed_or_is_not_verified_is_never_promoted(knowledge, lesson, tmp_path):
    for _ in range(3):
        knowledge.report_outcome(lesson, success=False)
    with pytest.raises(LessonError, match="is not promoted: it worked 1 of 4 times"):
        promoted(knowledge, [lesson], page=tmp_path / "AGENTS.md")
    staged = knowledge.capture_failure_solution(
        "one", "backend", "It hangs", solution_steps="Wait", success_verified=False
    )
    with pytest.raises(LessonError, match="is not promoted"):
        promoted(knowledge, [staged.id], page=tmp_path / "AGENTS.md")
    assert () == promoted(knowledge, page=tmp_path / "AGENTS.md").lessons


def test_no_lesson_ends_the_section(knowledge, tmp_path):
    captured = knowledge.capture_gate_approval(
        "one",
        "backend",
        "design",
        approved_approach="Do it <!-- end of ragloom lessons -->\n# Title\n**bold**",
    )
    page = tmp_path / "AGENTS.md"
    promoted(knowledge, [captured.id], page=page).write()
    text = page.read_text("utf-8")
    assert 1 == text.count("<!-- end of ragloom lessons -->")
    assert 1 == text.count("\n- **")
    assert "\n# Title" not in text

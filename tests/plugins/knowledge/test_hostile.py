"""What the command line is given, and what it shows of lessons that somebody else wrote."""

from __future__ import annotations

import json
import logging

import pytest
from click.testing import CliRunner

from ragloom.cli import Session
from ragloom.cli import cli as program
from ragloom_knowledge import Task

FAILURE = {
    "project": "one",
    "agent_type": "a",
    "failure_description": "It leaks",
    "solution_steps": "Mend",
}
LESSON = {"kind": "failure_solution", **FAILURE, "success_verified": True}
GOOD = json.dumps(LESSON).encode()


@pytest.fixture
def run(project, host, monkeypatch):
    monkeypatch.chdir(project)
    log = logging.getLogger("ragloom")
    before = log.handlers, log.level

    def invoke(*arguments, given=b""):
        try:
            runner = CliRunner(mix_stderr=False)
        except TypeError:  # click 8.2 keeps them apart by itself
            runner = CliRunner()
        return runner.invoke(
            program, ["knowledge", *arguments], input=given, obj=Session(plugins=host)
        )

    yield invoke
    log.handlers, level = before
    log.setLevel(level)


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"kind":' * 100_000,
        b"9" * 5000,
        b'{"kind": ' + b"9" * 5000 + b"}",
        b'{"kind": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"kind": "failure_solution", "project": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"kind": "failure_solution", "' + b"x" * 5000 + b'": 1}',
        b"\xff\xfe{\0}\0",
        b"\xe9",
        b"NaN",
        b'{"kind": NaN}',
        b"\x1b]0;owned\x07",
        b'{"kind": "\\ud800"}',
        GOOD.replace(b'"one"', b'"' + b"x" * 201 + b'"'),
        GOOD.replace(b'"one"', b'"\\u0000\\ud800"').replace(b'"Mend"', b'""'),
    ],
    ids=lambda line: repr(line[:30]),
)
def test_a_line_that_cannot_be_read_is_one_line_that_names_it(run, line):
    done = run("capture", "--json", given=GOOD + b"\n\n" + line + b"\n")
    assert (1, "") == (done.exit_code, done.stdout)
    assert done.stderr.startswith("error: line 3: "), done.stderr[:300]
    assert 1 == done.stderr.count("\n")
    assert len(done.stderr) < 500
    assert "[]\n" == run("list", "--json").stdout


@pytest.mark.parametrize(
    "given",
    [
        b"\xef\xbb\xbf" + GOOD,
        b"\xef\xbb\xbf\r\n" + GOOD + b"\r\n",
        GOOD + b"\n\xef\xbb\xbf" + GOOD + b"\n",
        GOOD.replace(b"It leaks", "Es läuft aus: €".encode()),
    ],
)
def test_a_byte_order_mark_and_other_line_ends_are_read(run, given):
    done = run("capture", "--json", given=given)
    assert 0 == done.exit_code, done.stderr
    (lesson,) = json.loads(run("list", "--json").stdout)
    assert lesson["failure_description"] in ("It leaks", "Es läuft aus: €")


@pytest.mark.parametrize("days", ["800000", "999999999", "99999999999", "9" * 5000])
def test_an_age_too_great_is_no_failure_of_ours(run, days):
    run("capture", "--json", given=GOOD)
    done = run("prune", "--older-than", days)
    assert done.exit_code in (0, 2), done.stderr[:300]
    assert done.stderr.count("\n") <= 1
    assert 1 == len(json.loads(run("list", "--json").stdout))


def test_no_lesson_steers_the_terminal(run, monkeypatch):
    """Every command that shows a lesson, at a terminal."""
    monkeypatch.setattr("ragloom.cli._output.is_terminal", lambda: True)
    nasty = "It\x1b[2J leaks\x9b31m \x07\x08\x7f\u202e\u2066 memory"
    texts = {**FAILURE, "failure_description": nasty, "error_message": nasty, "solution_steps": nasty,
             "technology": nasty, "task_type": nasty, "project": nasty, "agent_type": nasty}  # fmt: skip
    given = json.dumps({**LESSON, **texts}).encode()
    lesson_id = run("capture", "--json", given=given).stdout.split('"')[3]
    assert 0 == run("checkpoint", "--project", nasty).exit_code
    commands = [
        ("list",), ("list", "--project", nasty), ("show", lesson_id), ("query", nasty), ("failure", nasty),
        ("context", "It leaks memory"), ("pin", lesson_id), ("outcome", lesson_id, "--success"),
        ("show", nasty), ("checkpoint", "--project", nasty * 20), ("import", nasty), ("prune", "--dry-run"),
        ("remove", nasty), ("remove", lesson_id),
    ]  # fmt: skip
    for command in commands:
        done = run(*command)
        for shown in (done.stdout, done.stderr):
            unsafe = [char for char in shown if char in "\x1b\x9b\x07\x08\x7f\u202e\u2066"]
            assert [] == unsafe, (command, shown)
        if command[0] in ("list", "show", "query", "failure", "context") and command[1:] != (
            nasty,
        ):
            assert "memory" in done.stdout, (command, done.stdout, done.stderr)


SECRETS = {
    "PEM": "-----BEGIN RSA PRIVATE KEY-----\n"
    + "\n".join(["Mq7" * 21] * 4)
    + "\n-----END RSA PRIVATE KEY-----",
    "GitHub": "ghp" + "_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgHiJ",
    "URL": "postgresql://shop:pw" + "77@db/orders",
    "Stripe": "sk" + "_live_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8",
}
HIDDEN = {"PEM": "Mq7Mq7", "GitHub": "aBcDeFgH", "URL": "pw77", "Stripe": "Ab1Cd2Ef3"}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_in_a_lesson_is_removed_and_the_caller_told(knowledge, name, tmp_path):
    secret, hidden = SECRETS[name], HIDDEN[name]
    failure = knowledge.capture_failure_solution(
        "shop",
        "tester",
        f"The deployment stops as the key is refused: {secret} is what it used",
        error_message="denied",
        solution_steps=f"Rotate the key, and put {secret} into the vault",
    )
    assert failure.redacted == ("failure_description", "solution_steps")
    rejection = knowledge.capture_gate_rejection(
        "shop",
        "writer",
        "design",
        human_feedback=f"It shows {secret}",
        revision_approach="Leave it out",
    )
    assert rejection.redacted == ("human_feedback",)
    approval = knowledge.capture_gate_approval(
        "shop", "writer", "plan", approved_approach=f"Deploy with {secret} in steps"
    )
    assert approval.redacted == ("approved_approach",)
    knowledge.process_checkpoint("shop", "manual")
    task = Task(description="refused key of the deployment")
    shown = repr(knowledge.lessons()) + knowledge.build_context_for_task(task)
    assert hidden not in shown
    assert "The deployment stops as the key is refused" in shown
    assert "***" in shown
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert hidden.encode() not in written
    plain = knowledge.capture_gate_approval("shop", "writer", "plan", approved_approach="In steps")
    assert plain.redacted == ()


def test_capture_warns_of_a_secret_and_names_the_field(run):
    lesson = {**LESSON, "solution_steps": f"Use {SECRETS['GitHub']} once more"}
    result = run("capture", "--json", given=json.dumps(lesson).encode())
    assert json.loads(result.stdout)["redacted"] == ["solution_steps"]
    assert "secrets were removed from solution_steps" in result.stderr
    assert HIDDEN["GitHub"] not in result.stdout + result.stderr
    assert HIDDEN["GitHub"] not in run("list", "--json").stdout

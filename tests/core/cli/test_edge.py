import os
import subprocess
import sys

import click
import pytest

from ragloom import ConfigError
from ragloom.cli._edge import run_to_exit_code
from ragloom.cli._session import Session

BUG = "(this is a bug in ragloom, please report it; run with --traceback to see where)"


def raising(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ConfigError("a\nb"), 1, "error: a b"),
        (click.UsageError("wrong."), 2, "error: wrong"),
        (click.ClickException("no"), 1, "error: no"),
        (PermissionError(13, "Permission denied", "state"), 1, "error: state: Permission denied"),
        (KeyboardInterrupt(), 130, "interrupted: the last index stays in use"),
        (click.Abort(), 130, "interrupted: the last index stays in use"),
        (
            KeyError("x"),
            70,
            f"error: KeyError: 'x' {BUG}",
        ),
        (
            AssertionError(),
            70,
            f"error: AssertionError {BUG}",
        ),
    ],
)
def test_a_failure_is_one_line_and_a_code(error, code, line, capsys):
    assert code == run_to_exit_code(raising(error), Session())
    assert ("", f"{line}\n") == capsys.readouterr()


@pytest.mark.parametrize("error", [KeyError("x"), ConfigError("x")])
def test_the_traceback_is_shown_when_asked_for(error, capsys):
    run_to_exit_code(raising(error), Session(traceback=True))
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_what_a_command_returns_is_the_code():
    assert [0, 0, 3] == [
        run_to_exit_code(lambda value=value: value, Session()) for value in (None, "x", 3)
    ]


def test_an_error_cannot_steer_the_terminal(capsys):
    run_to_exit_code(raising(ConfigError("bad \x1b[31mfile")), Session())
    assert "error: bad ␛[31mfile\n" == capsys.readouterr().err


@pytest.mark.parametrize("error", [BrokenPipeError(), SystemExit(1)])
def test_a_reader_that_has_gone_is_no_failure(error, capfd, monkeypatch, tmp_path):
    with (tmp_path / "out").open("w") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert 0 == run_to_exit_code(raising(error), Session())
        os.write(stream.fileno(), b"goes nowhere")
    assert "" == (tmp_path / "out").read_text()
    assert "" == capfd.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="a shell there closes no streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("command", "code"), [("--version", 0), ("config", 0), ("status", 0), ("nosuch", 2)]
)
def test_streams_that_are_closed_are_no_error(tmp_path, closed, command, code):
    program = f'exec "$0" -m ragloom {command} -C "$1" {closed}'
    started = ["/bin/sh", "-c", program, sys.executable, str(tmp_path)]
    ended = subprocess.run(started, check=False, capture_output=True, text=True)
    assert (code, False) == (ended.returncode, "Error: " in ended.stderr)


@pytest.mark.skipif(os.name == "nt", reason="a shell there closes no streams")
def test_what_is_written_instead_of_a_closed_stream_gets_nothing_of_it(tmp_path):
    program = (
        "from ragloom.cli._edge import open_closed_streams\n"
        "open_closed_streams()\n"
        "import os, sys\n"
        "kept = open(sys.argv[1], 'w')\n"
        "os.write(1, b'result'); os.write(2, b'warning'); print('more')\n"
        "kept.write('kept'); kept.close()\n"
    )
    kept = tmp_path / "kept"
    shell = 'exec "$0" -c "$1" "$2" <&- >&- 2>&-'
    subprocess.run(["/bin/sh", "-c", shell, sys.executable, program, str(kept)], check=True)
    assert "kept" == kept.read_text("utf-8")


@pytest.mark.parametrize("command", ["search", "context", "explain"])
def test_an_unknown_option_may_be_a_query(run, command):
    run("index", "docs")
    hint = " A QUERY that begins with '-' follows '--' (see "
    for query in ("--no-cache", "-x flag"):
        result = run(command, query)
        assert (2, "") == (result.exit_code, result.stdout)
        assert hint in result.stderr
        assert 0 == run(command, "--", query).exit_code
    assert "QUERY" not in run("index", "--no-cache").stderr

import os
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
        (KeyboardInterrupt(), 130, "interrupted: the last index goes on answering"),
        (click.Abort(), 130, "interrupted: the last index goes on answering"),
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

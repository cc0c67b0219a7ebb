import io

import pytest

from ragloom.cli import _progress
from ragloom.cli._progress import progress
from ragloom.cli._session import Session


class Clock:
    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


def test_without_a_terminal_a_line_now_and_then(monkeypatch, capsys):
    clock = Clock()
    monkeypatch.setattr(_progress, "time", clock)
    with progress(Session(), "docs") as meter:
        for done in range(0, 501, 100):
            clock.now += 4
            meter("chunks", done, 500)
    out, err = capsys.readouterr()
    assert "" == out
    assert [
        "docs: embedding chunks: 200 of 500, 25/s, 12 s left",
        "docs: embedding chunks: 500 of 500, 25/s, 0 s left",
    ] == err.splitlines()


@pytest.mark.parametrize(
    ("stage", "total", "line"),
    [
        ("bytes", 50_000_000, "docs: reading files: 9.5 MB of 47.7 MB, 488.3 kB/s, 80 s left"),
        ("chunks", 50, "docs: embedding chunks: 10 of 50, 0.5/s, 80 s left"),
        ("store", 5_000, "docs: writing chunks: 1000 of 5000, 50/s, 80 s left"),
    ],
)
def test_rate_and_time_left_are_in_the_unit_of_the_stage(monkeypatch, capsys, stage, total, line):
    clock = Clock()
    monkeypatch.setattr(_progress, "time", clock)
    with progress(Session(), "docs") as meter:
        meter(stage, 0, total)
        clock.now += 20
        meter(stage, total // 5, total)
    assert [line.replace("80 s", "1 min")] == capsys.readouterr().err.splitlines()


def test_a_bar_shows_bytes_as_such(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(_progress, "_PATIENCE", 3600)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress(Session(colored=False), "docs") as meter:
        meter("bytes", 3_000_000, 9_000_000)
        meter._show()
    assert "docs: reading files" in terminal.getvalue()
    assert "2.9 MB/8.6 MB" in terminal.getvalue()


def test_quiet_shows_nothing(monkeypatch, capsys):
    clock = Clock()
    monkeypatch.setattr(_progress, "time", clock)
    with progress(Session(verbosity=-1), "docs") as meter:
        clock.now += 100
        meter("chunks", 100, 500)
    assert ("", "") == capsys.readouterr()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_run_shorter_than_a_second_shows_no_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    assert 1 == _progress._PATIENCE
    monkeypatch.setattr(_progress, "_PATIENCE", 3600)  # this run is shorter, whatever the machine
    with progress(Session(), "docs") as meter:
        meter("files", 1, 1)
    assert "" == terminal.getvalue()


def test_a_run_whose_first_step_comes_late_shows_a_bar_from_then_on(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(_progress, "_PATIENCE", 3600)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress(Session(colored=False), "docs") as meter:
        meter._show()  # it waits for another run, or walks through many folders
        assert "" == terminal.getvalue()
        meter("files", 3, 10)
    assert "docs: reading files" in terminal.getvalue()
    assert "3/10" in terminal.getvalue()


def test_a_longer_one_shows_stage_count_and_rate(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(_progress, "_PATIENCE", 3600)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with progress(Session(colored=False), "docs") as meter:
        meter("files", 10, 10)
        meter._show()
        meter("chunks", 100, 500)
        meter("chunks", 200, 500)
    shown = terminal.getvalue()
    assert "docs: reading files" in shown
    assert "docs: embedding chunks" in shown
    assert "200/500" in shown
    assert "left" in shown

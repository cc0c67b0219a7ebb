import io

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

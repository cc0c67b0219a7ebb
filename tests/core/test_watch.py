"""A watch says what changed, and goes on whatever goes wrong."""

from __future__ import annotations

import subprocess
import sys
import time
from functools import partial

import pytest

from ragloom import ConfigError, SourceError
from ragloom.reports import IndexReport
from ragloom.watch import watch_spaces


@pytest.fixture
def watched(make_space):
    """Makes an edit between every two looks; what the watch yielded."""

    def run(*edits, spaces=lambda: [make_space()]):
        coming = iter(edits)

        def wait(seconds):
            assert seconds >= 1
            edit = next(coming, None)
            return edit is None or edit()

        return list(watch_spaces(spaces, lambda space: space.index(), wait=wait))

    return run


def changes(found):
    return [
        (name, report.added, report.updated, report.removed)
        for name, report in found
        if isinstance(report, IndexReport)
    ]


def nothing():
    """Between two looks."""


def edit(path, text):
    path.write_text(text)


def move(path, to):
    path.rename(to)


def test_what_changed_is_yielded_and_nothing_else(watched, files):
    page = files / "page.md"
    page.write_text("# One\n\nText.\n")
    found = watched(
        nothing,
        partial(edit, page, "# One\n\nOther text.\n"),
        nothing,
        page.unlink,
        nothing,
    )
    name = "notes"
    assert [
        (name, ("page.md",), (), ()),
        (name, (), ("page.md",), ()),
        (name, (), (), ("page.md",)),
    ] == changes(found)


def test_a_file_that_fails_is_told_once_and_again_when_it_is_well(watched, files):
    page = files / "page.md"
    page.write_bytes(b"\0\1\2" * 100)
    found = watched(nothing, nothing, partial(edit, page, "# Well\n\nText.\n"), nothing)
    assert [1, 0] == [len(report.failed) for _, report in found]
    assert [("notes", ("page.md",), (), ())] == changes(found)[1:]


def test_an_error_is_told_once_and_the_watch_goes_on(watched, files, make_space):
    folder = files / "docs"
    folder.mkdir()
    (folder / "page.md").write_text("# One\n\nText.\n")
    away = files / "away"
    found = watched(
        partial(move, folder, away),
        nothing,
        partial(move, away, folder),
        nothing,
        spaces=lambda: [make_space(sources=("docs",))],
    )
    assert [IndexReport, SourceError, IndexReport] == [type(item) for _, item in found]
    assert [("notes", ("docs/page.md",), (), ()), ("notes", (), (), ())] == changes(found)


def test_settings_that_are_wrong_for_a_while_do_not_end_it(watched, files, make_space):
    (files / "page.md").write_text("# One\n\nText.\n")
    wrong = []

    def spaces():
        if wrong:
            raise ConfigError(wrong[0])
        return [make_space()]

    found = watched(lambda: wrong.append("a wrong key"), nothing, wrong.clear, spaces=spaces)
    assert [("notes", IndexReport), ("", ConfigError)] == [
        (name, type(item)) for name, item in found
    ]


def test_one_space_that_fails_does_not_keep_others_from_being_indexed(watched, files, make_space):
    (files / "page.md").write_text("# One\n\nText.\n")

    def spaces():
        gone = make_space(sources=("gone",))
        gone.name = "gone"
        return [gone, make_space()]

    found = watched(nothing, spaces=spaces)
    assert [("gone", SourceError), ("notes", IndexReport)] == [
        (name, type(item)) for name, item in found
    ]


def computing(seconds):
    """Use so much processor time, however busy the machine is."""
    over = time.thread_time() + seconds
    while time.thread_time() < over:
        pass


def computing_elsewhere(seconds):
    code = f"import time\nwhile time.process_time() < {seconds}: pass"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("look", "least", "most"),
    [
        (lambda: (computing(0.04), time.sleep(0.3)), 2.0, 6.0),  # a busy machine, not 14 s and more
        (lambda: time.sleep(1.0), 1.0, 5.0),  # a slow disk, not 50 s
        (lambda: computing(0.4), 10.0, 10.0),  # costly looks, not 20 s
        (lambda: computing_elsewhere(0.4), 10.0, 10.0),  # a file that its loader's process fails on
        (lambda: None, 1.0, 5.0),
    ],
)
def test_the_pause_follows_from_processor_time_and_is_some_seconds(
    files, make_space, look, least, most
):
    (files / "page.md").write_text("# One\n\nText.\n")
    make_space().index()
    pauses = []

    def index(space):
        look()
        return space.index()

    def wait(seconds):
        pauses.append(seconds)
        return len(pauses) == 2

    assert [] == list(watch_spaces(lambda: [make_space()], index, wait=wait))
    assert least <= pauses[1] <= most  # the first look imports modules


def test_after_a_change_the_next_look_comes_at_once(files, make_space):
    def index(space):
        computing(0.1)
        return space.index()

    pauses = []
    (files / "page.md").write_text("# One\n\nText.\n")
    list(watch_spaces(lambda: [make_space()], index, wait=lambda s: pauses.append(s) or True))
    assert [1.0] == pauses

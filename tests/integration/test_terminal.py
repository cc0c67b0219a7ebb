"""A real terminal: the README's commands look there as the README shows, and nothing is wider than it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import time

import pytest

TMUX = shutil.which("tmux")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(TMUX is None, reason="needs tmux: apt-get install tmux"),
]
LOG = 'ragloom search "How do I log errors?" examples/docs'
BAKE = 'ragloom search "How do I bake bread?" examples/docs'
DROPPED = ("COLUMNS", "LINES", "NO_COLOR", "TMUX", "VISUAL", "EDITOR", "TERM_PROGRAM")
EXPLAIN = 'ragloom explain "How do I log errors?" examples/docs -k 3'


@pytest.fixture(scope="module")
def project(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("terminal")
    shutil.copytree(root / "examples" / "docs", folder / "examples" / "docs")
    command = [sys.executable, "-m", "ragloom", "index", "examples/docs"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


def shown(project, command, columns):
    """What a terminal of that width shows of a command: its lines, as they are wrapped."""
    socket = str(project / f"tmux-{columns}")
    words = [sys.executable, "-m", *shlex.split(command)]
    script = f"{shlex.join(words)}; echo END-$?; sleep 60"
    kept = {key: value for key, value in os.environ.items() if key not in DROPPED}
    kept |= {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    size = ["-x", str(columns), "-y", "100"]
    start = [TMUX, "-S", socket, "-f", "/dev/null", "new-session", "-d", *size]
    subprocess.run([*start, script], cwd=project, env=kept, check=True)
    capture = [TMUX, "-S", socket, "capture-pane", "-p"]
    try:
        deadline = time.monotonic() + 60
        while "END-" not in (text := subprocess.check_output(capture, text=True)):
            assert time.monotonic() < deadline, text
            time.sleep(0.1)
    finally:
        subprocess.run([TMUX, "-S", socket, "kill-server"], check=False)
    assert "END-0" in text
    return text.partition("END-")[0].rstrip().splitlines()


@pytest.fixture(scope="module")
def readme(root):
    """The lines that the README shows of the search that finds, and of the one that does not."""
    text = (root / "README.md").read_text("utf-8")
    block = text.partition("```text\n")[2].partition("```")[0]
    found, _, nothing = block.partition(f"…\n$ {BAKE}\n")
    assert f".venv/bin/{LOG}" in text
    return found.splitlines(), nothing.strip()


def test_a_search_looks_as_the_readme_shows_it(project, readme):
    expected, _ = readme
    assert len(expected) > 8
    assert expected == shown(project, LOG, 100)[: len(expected)]


def test_a_narrow_terminal_shows_the_same_hits_in_its_width(project, readme):
    lines = shown(project, LOG, 80)
    assert readme[0][:2] == lines[:2]
    wide = " ".join(line.partition("│ ")[2] for line in readme[0])
    narrow = " ".join(line.partition("│ ")[2] for line in lines[:14])
    assert wide[-200:] in narrow
    rows = [line for line in lines if "│" in line]
    assert len(rows) > 20
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize("columns", [80, 100])
def test_no_hit_says_why(project, readme, columns):
    assert (
        readme[1] == "".join(f"{line:<{columns}}" for line in shown(project, BAKE, columns)).strip()
    )


@pytest.mark.parametrize("columns", [80, 100])
def test_explain_has_two_lines_a_hit(project, columns):
    lines = shown(project, EXPLAIN, columns)
    hits = [line for line in lines if re.match(r" +\d+  \S", line)]
    facts = [line for line in lines if line.startswith("      relevance ")]
    assert len(hits) == len(facts) >= 5
    assert lines[: 2 * len(hits)] == [
        line for pair in zip(hits, facts, strict=True) for line in pair
    ]
    assert hits[0].endswith("logging.md:45  shown")
    assert max(map(len, lines[: 2 * len(hits)])) <= columns


def test_places_are_links_and_not_without_colours(project):
    """tmux before 3.4 knows no links: what is written to a terminal is read as it is."""
    import pty

    command = [sys.executable, "-m", *shlex.split(LOG)]
    kept = {key: value for key, value in os.environ.items() if key not in DROPPED}
    kept |= {"TERM": "xterm-256color", "COLUMNS": "100"}
    found = []
    for more in ([], ["--no-color"]):
        ours, theirs = pty.openpty()
        with subprocess.Popen([*command, *more], cwd=project, env=kept, stdout=theirs) as process:
            os.close(theirs)
            written = b""
            while True:
                try:
                    read = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not read:
                    break
                written += read
            process.wait(60)
        os.close(ours)
        found.append(re.findall(rb"\x1b\]8;;(file://[^\x1b]+)\x1b", written))
    linked, plain = found
    assert linked[0].endswith(b"/examples/docs/observability/pillars/logging.md")
    assert len(linked) == 5
    assert [] == plain

"""A spinner where a person waits for a cold model, and nothing anywhere else."""

import os
import select
import subprocess
import sys
import time

import pytest

from ragloom_librarian.waiting import PATIENCE

MESSAGE = "loading the embedding model"
# The block takes until the test has seen what it looks for, however slow the machine is.
SCRIPT = f"""
import sys
from ragloom_librarian.waiting import spinner
with spinner("{MESSAGE}"):
    sys.stdin.readline()
"""


def on_a_terminal(code, folder, *, until=""):
    """What a process writes to a terminal on its stderr; it may read a line once ``until`` is there."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        stdin=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    written, deadline = b"", time.monotonic() + 120
    try:
        while True:
            if not process.stdin.closed and until.encode() in written:
                process.stdin.close()
            left = deadline - time.monotonic()
            assert select.select([ours], [], [], max(left, 0))[0], written
            try:
                some = os.read(ours, 65536)
            except OSError:
                break
            if not some:
                break
            written += some
        assert 0 == process.wait(120)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return written.decode()


def test_090_it_turns_after_half_a_second_on_a_terminal(tmp_path):
    shown = on_a_terminal(SCRIPT, tmp_path, until=MESSAGE)

    assert 0.5 == PATIENCE
    assert MESSAGE in shown
    assert "\x1b[?25h" in shown  # the cursor is given back


def test_it_is_not_seen_when_the_model_is_quick(tmp_path):
    patient = SCRIPT.replace(f'"{MESSAGE}"', f'"{MESSAGE}", patience=3600')

    assert "" == on_a_terminal(patient, tmp_path)


def test_nothing_is_written_to_a_pipe(tmp_path):
    code = SCRIPT.replace("sys.stdin.readline()", "import time; time.sleep(0.8)")
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert ("", "") == (done.stdout, done.stderr)


COLD = """
import sys
from ragloom_onnx.embedder import OnnxEmbedder
quick = OnnxEmbedder.embed_query
def slow(self, text):
    sys.stdin.readline()
    return quick(self, text)
OnnxEmbedder.embed_query = slow
from ragloom_librarian import librarian_node
first = librarian_node({"issue_brief": "How do I log errors?"})
assert len(first["retrieved_context"]) == 3, first
print("warm from here", file=sys.stderr, flush=True)
librarian_node({"issue_brief": "How do I log errors?"})
"""


def test_the_node_shows_it_for_a_cold_model_and_for_no_warm_one(project):
    shown = on_a_terminal(COLD, project, until=MESSAGE)

    cold, warm = shown.split("warm from here")
    assert MESSAGE in cold
    assert "loading" not in warm


def test_a_failure_stops_it(tmp_path):
    code = SCRIPT + "    raise SystemExit(0)\n"

    assert "\x1b[?25h" in on_a_terminal(code, tmp_path, until=MESSAGE)

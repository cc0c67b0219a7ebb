"""A spinner where a person waits for a cold model, and nothing anywhere else."""

import os
import subprocess
import sys
import time

import pytest

SCRIPT = """
import time
from ragloom_librarian.waiting import spinner
with spinner("loading the embedding model"):
    time.sleep({seconds})
"""


def on_a_terminal(code, folder):
    """What a process writes to a terminal on its stderr."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:
            break
        if not some:
            break
        written += some
    os.close(ours)
    assert 0 == process.wait(60)
    return written.decode()


def test_090_it_turns_after_half_a_second_on_a_terminal(tmp_path):
    shown = on_a_terminal(SCRIPT.format(seconds=1.2), tmp_path)

    assert "loading the embedding model" in shown
    assert "\x1b[?25h" in shown  # the cursor is given back


def test_it_is_not_seen_when_the_model_is_quick(tmp_path):
    assert "" == on_a_terminal(SCRIPT.format(seconds=0.1), tmp_path)


def test_nothing_is_written_to_a_pipe(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(seconds=0.8)],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert ("", "") == (done.stdout, done.stderr)


COLD = """
import time
from ragloom_onnx.embedder import OnnxEmbedder
quick = OnnxEmbedder.embed_query
def slow(self, text):
    time.sleep(1.2)
    return quick(self, text)
OnnxEmbedder.embed_query = slow
from ragloom_librarian import librarian_node
first = librarian_node({"issue_brief": "How do I log errors?"})
assert len(first["retrieved_context"]) == 3, first
import sys
print("warm from here", file=sys.stderr, flush=True)
librarian_node({"issue_brief": "How do I log errors?"})
"""


def test_the_node_shows_it_for_a_cold_model_and_for_no_warm_one(project):
    shown = on_a_terminal(COLD, project)

    cold, warm = shown.split("warm from here")
    assert "loading the embedding model" in cold
    assert "loading" not in warm


def test_a_failure_stops_it(tmp_path):
    code = SCRIPT.format(seconds=0.8) + "    raise SystemExit(0)\n"
    started = time.perf_counter()
    on_a_terminal(code, tmp_path)
    assert time.perf_counter() - started < 20

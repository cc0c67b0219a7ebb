"""Many files are read in a second process; the index is the same, whatever becomes of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from ragloom import Space, Workspace
from ragloom.indexing import ahead, plan
from ragloom.snapshot.manifest import Fingerprint

pytest.importorskip("onnxruntime")
pytest.importorskip("pyromark")

if ahead._cores() < 2:
    pytest.skip("one core", allow_module_level=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files for some ten batches, one of which cannot be read, and settings."""
    monkeypatch.setattr(plan, "_SMALL_BATCH_BYTES", 4096)
    (tmp_path / "ragloom.yaml").write_text("store: sqlite\nsources: [docs]\n", "utf-8")
    (tmp_path / "docs").mkdir()
    for number in range(40):
        parts = [f"## Part {part}\n\nSampling of trace {number}.\n" for part in range(20)]
        text = "\n".join([f"# Page {number}\n", *parts])
        (tmp_path / "docs" / f"page{number:02}.md").write_text(text, "utf-8")
    (tmp_path / "docs" / "page10.pdf").write_bytes(b"%PDF-1.4 and nothing else")
    return tmp_path


@pytest.fixture
def read_here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first file of every batch that this process reads."""
    first: list[str] = []
    work = ahead.process

    def process(files, *others):
        first.append(files[0].uri)
        return work(files, *others)

    monkeypatch.setattr(ahead, "process", process)
    return first


def indexed(folder: Path) -> tuple[object, ...]:
    """What a first index by words holds, and what its run says."""
    with Workspace.open(folder).space("default") as space:
        report = space.index(seconds=0)
        return replace(report, seconds=0.0), contents(space)


def contents(space: Space) -> object:
    snapshot = space.snapshot()
    assert snapshot is not None
    entries = {
        uri: replace(
            entry, warnings=(), fingerprint=Fingerprint(0, 0, 0)
        )  # racy at first, not later
        for uri, entry in snapshot.files.items()
    }
    return snapshot.ids.tolist(), snapshot.keys.tolist(), entries


def expected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """The same of a run that reads all files itself."""
    with monkeypatch.context() as patch:
        patch.setattr(ahead, "_cores", lambda: 1)
        found = indexed(folder)
    shutil.rmtree(folder / ".ragloom")
    return found


def test_the_index_is_that_of_one_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, read_here: list[str]
) -> None:
    alone = expected(folder, monkeypatch)
    assert len(read_here) > 5
    read_here.clear()
    assert alone == indexed(folder)
    assert ["docs/page00.md"] == read_here


KILLED = """
import json, os, signal, sys
sys.path[:] = json.loads(sys.stdin.buffer.readline())
from ragloom.indexing import ahead
work, left = ahead.process, [None] * 2
def process(*given):
    left.pop() if left else os.kill(os.getpid(), signal.SIGKILL)
    return work(*given)
ahead.process = process
ahead.main()
"""


def test_what_a_killed_process_leaves_is_read_here(
    folder: Path, monkeypatch: pytest.MonkeyPatch, read_here: list[str]
) -> None:
    alone = expected(folder, monkeypatch)
    batches = len(read_here)
    read_here.clear()
    monkeypatch.setattr(ahead, "_BOOT", KILLED)
    assert alone == indexed(folder)
    assert batches - 2 == len(read_here)


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("subprocess.Popen", OSError(24, "Too many open files")),
        ("pickle.dumps", TypeError("cannot pickle '_thread.lock' object")),
    ],
)
def test_without_a_second_process_all_is_read_here(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    read_here: list[str],
    what: str,
    error: Exception,
) -> None:
    alone = expected(folder, monkeypatch)
    batches = len(read_here)
    read_here.clear()

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(f"ragloom.indexing.ahead.{what}", fails)
    assert alone == indexed(folder)
    assert batches == len(read_here)


def test_components_of_this_process_alone_read_here(
    files: Path, make_space, monkeypatch: pytest.MonkeyPatch, read_here: list[str]
) -> None:
    """No other process knows the embedder ``hashing``."""
    monkeypatch.setattr(plan, "_SMALL_BATCH_BYTES", 64)
    for number in range(6):
        (files / f"page{number}.md").write_text(f"# Page {number}\n\n{'Words. ' * 20}\n", "utf-8")
    assert 6 == len(make_space().index().added)
    assert 6 == len(read_here)


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    for number in range(40):
        text = "\n".join(f"## Part {part}\n\nWords.\n" for part in range(5000))
        (tmp_path / f"page{number:02}.md").write_text(text, "utf-8")
    command = [sys.executable, "-m", "ragloom", "index"]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    if not children.exists():
        run.kill()
        pytest.skip("only Linux tells a process's children")
    while not (started := children.read_text().split()):
        assert run.poll() is None
        time.sleep(0.02)
    (reader,) = [Path("/proc") / number for number in started]
    time.sleep(1)  # it has its job, and reads
    run.kill()
    run.wait()
    end = time.monotonic() + 30
    while reader.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_nothing_is_left_when_words_cannot_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    start = ahead._Reader.__init__

    def noted(reader: ahead._Reader, job: object) -> None:
        start(reader, job)
        assert reader._process is not None
        started.append(reader._process)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ahead._Reader, "__init__", noted)
    monkeypatch.setattr("ragloom.snapshot.writer.LexicalWriter.add", full)
    with Workspace.open(folder).space("default") as space, pytest.raises(Exception, match="space"):
        space.index(seconds=0)
    assert [True] == [process.returncode is not None for process in started]

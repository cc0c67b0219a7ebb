"""Processes that are killed for real, at any moment, and what the next one finds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragloom import Space, Workspace
from ragloom.indexing.lock import space_lock
from ragloom.testing.fakes import HashingEmbedder

pytest.importorskip("milvus_lite")
pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.slow

FILES = 12
SECTIONS = 8
VERSION = "the words of version "


def write_version(
    folder: Path, version: int, *, files: int = FILES, sections: int = SECTIONS
) -> None:
    """Every section of every file says which version it is of."""
    for number in range(files):
        parts = (
            f"# Part {part} of {number}\n\nThese are {VERSION}{version}, in part {part} of file "
            f"{number}, which speaks of harvest and weather.\n"
            for part in range(sections)
        )
        (folder / f"{number:02}.md").write_text("\n".join(parts), encoding="utf-8")


def index(folder: Path) -> subprocess.Popen[str]:
    """Start ``ragloom index`` as a user would."""
    command = [sys.executable, "-m", "ragloom", "index", "--space", "default"]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)


def open_space(folder: Path) -> Space:
    """The space, as a fresh process sees it."""
    return Workspace.open(folder).space("default")


def answering(space: Space, chunks: int = FILES * SECTIONS) -> set[int]:
    """The versions that the chunks of the current generation are of."""
    snapshot = space.snapshot()
    texts = [snapshot.chunk(row).text for row in range(len(snapshot))]
    assert len(texts) == chunks
    return {int(text.split(VERSION)[1].split(",")[0]) for text in texts}


def stored(space: Space) -> dict[str, str]:
    """What the store holds."""
    directory = space.directory / "store"
    space.store.open(space=space.name, dimension=space.embedder.dimension, directory=directory)
    try:
        return {chunk.id: chunk.text for chunks, _ in space.store.scan() for chunk in chunks}
    finally:
        space.store.close()


@pytest.mark.parametrize(("times", "files"), [(10, FILES), (5, 4 * FILES)])
def test_killed_at_random_moments(tmp_path: Path, times: int, files: int) -> None:
    """Where more is to be embedded than waits for it, also between the words and the vectors."""
    chunks = files * SECTIONS
    seed = random.randrange(2**32)
    moments = random.Random(seed)
    write_version(tmp_path, 0, files=files)
    started = time.perf_counter()
    run = index(tmp_path)
    assert (run.wait(), run.stderr.read() if run.stderr else "")[0] == 0
    whole = time.perf_counter() - started

    last = 0
    for version in range(1, times + 1):
        write_version(tmp_path, version, files=files)
        run = index(tmp_path)
        time.sleep(moments.uniform(0.05, whole))
        run.send_signal(signal.SIGKILL)
        run.wait()

        space = open_space(tmp_path)
        (now,) = answering(space, chunks)
        assert now in (last, version), f"seed {seed}"
        assert space.snapshot().lexical.search({"harvest": 1.0}, limit=5)[0].size == 5
        last = now
    run = index(tmp_path)
    assert run.wait() == 0
    space = open_space(tmp_path)
    assert answering(space, chunks) == {times}
    snapshot = space.snapshot()
    chunks = [snapshot.chunk(row) for row in range(len(snapshot))]
    assert stored(space) == {chunk.id: chunk.text for chunk in chunks}
    assert space.index().embedded == 0
    hits = space.search("harvest and weather", top_k=3).hits
    assert len(hits) == 3


HARD_EXIT = """
import os, signal, sys
from ragloom import Workspace
from ragloom.testing.fakes import HashingEmbedder
space = Workspace.open(sys.argv[1]).space("default")
space.embedder = HashingEmbedder()
store = space.store
close, delete = store.close, store.delete
def close_and_die():
    close()
    os._exit(9) if sys.argv[2] == "exit" else os.kill(os.getpid(), signal.SIGKILL)
def delete_then_die(ids):
    delete(ids)  # the last thing that is written
    store.close = close_and_die
store.delete = delete_then_die
space.index()
"""


def hashed(folder: Path) -> Space:
    """The space with an embedder that is quick enough for ten thousand chunks."""
    space = open_space(folder)
    space.embedder = HashingEmbedder()
    return space


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_hard_exit_right_after_the_store_was_closed_at_ten_thousand_rows(
    tmp_path: Path, how: str
) -> None:
    write_version(tmp_path, 0, files=100, sections=100)
    assert hashed(tmp_path).index().chunks == 10_000
    write_version(tmp_path, 1, files=100, sections=100)

    died = subprocess.run([sys.executable, "-c", HARD_EXIT, str(tmp_path), how], check=False)
    assert died.returncode == (9 if how == "exit" else -signal.SIGKILL)
    assert answering(hashed(tmp_path), 10_000) == {1}  # its words were published before

    report = hashed(tmp_path).index()
    assert (report.embedded, answering(hashed(tmp_path), 10_000)) == (0, {1})
    assert len(stored(hashed(tmp_path))) == 10_000


def test_two_runs_at_once_and_a_reader(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    space = open_space(tmp_path)
    space.index()
    write_version(tmp_path, 1)

    # Both are held up until both are there: neither is done before the other has begun.
    with space_lock(space.directory, timeout=0):
        runs = [index(tmp_path), index(tmp_path)]
        for run in runs:
            assert run.stderr
            assert any(f"waiting for process {os.getpid()} on" in line for line in run.stderr)
        assert answering(open_space(tmp_path)) == {0}
    seen: list[set[int]] = []
    while any(run.poll() is None for run in runs):
        reader = open_space(tmp_path)
        seen.append(answering(reader))
        assert len(reader.rank("harvest", mode="lexical").rows) == FILES * SECTIONS
    messages = [run.stderr.read() if run.stderr else "" for run in runs]

    assert [run.returncode for run in runs] == [0, 0], messages
    assert all(versions in ({0}, {1}) for versions in seen)
    assert answering(open_space(tmp_path)) == {1}


def test_a_damaged_store_is_kept_aside_and_made_again(tmp_path: Path) -> None:
    write_version(tmp_path, 0)
    space = open_space(tmp_path)
    space.index()
    for path in sorted((space.directory / "store").rglob("*")):
        if path.is_file() and path.stat().st_size:
            path.write_bytes(b"\x00garbage" * 20)

    command = [sys.executable, "-m", "ragloom", "repair", "--space", "default"]
    repaired = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert repaired.returncode == 0, repaired.stderr
    assert len(list(space.directory.glob("store.damaged-*"))) == 1
    assert len(stored(open_space(tmp_path))) == FILES * SECTIONS
    assert open_space(tmp_path).index().embedded == 0

"""A checkpoint that was killed anywhere leaves each lesson exactly once, after a rerun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ragloom_knowledge.files import write_atomically


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are started by fork")
@pytest.mark.parametrize(
    ("store", "step"), [("sqlite", 1), ("milvus", 4)], indirect=["store"], ids=["sqlite", "milvus"]
)
def test_killed_between_any_two_writes(tmp_path, store, step):
    """Each run with Milvus Lite takes a second, so that not all of its writes have their turn."""
    driver = Path(__file__).with_name("kill_driver.py")
    done = subprocess.run(
        [sys.executable, str(driver), str(tmp_path), store, str(step)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr[-2000:]
    *runs, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert last["kills"] * step >= 20
    assert len(runs) == last["kills"] + 1
    for run in runs:
        assert 3 == len(run["rows"])
        assert run["rows"] == run["indexed"]


def test_the_file_of_a_lesson_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """Or a loss of power would leave a lesson that the table takes to be in the index, and no text."""
    path, synced = tmp_path / "lesson.md", []
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append((path.exists(), os.fstat(handle).st_size))
    )

    write_atomically(path, "Lock less.")

    assert synced == [(False, 10)]

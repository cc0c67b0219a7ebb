"""A checkpoint that was killed anywhere leaves each lesson exactly once, after a rerun."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are started by fork")
def test_killed_between_any_two_writes(tmp_path):
    driver = Path(__file__).with_name("kill_driver.py")
    done = subprocess.run(
        [sys.executable, str(driver), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stderr[-2000:]
    *runs, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert last["kills"] >= 20
    assert len(runs) == last["kills"] + 1
    for run in runs:
        assert 3 == len(run["rows"])
        assert run["rows"] == run["indexed"]

"""A torture of a few seconds, so that it does not rot, and what its judge must notice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("milvus_lite")
pytest.importorskip("onnxruntime")
pytest.importorskip("sqlalchemy")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are started by fork"),
]

HERE = Path(__file__).parent
PARTS = ("kills", "power", "faults", "limits", "damage", "crowd", "fuzz")


def torture(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_each_part_for_a_moment(tmp_path: Path) -> None:
    report, corpus = tmp_path / "report.json", tmp_path / "corpus"
    few = ("--seed", "1", "--kills", "5", "--minutes", "1", "--corpus", str(corpus))

    ended = torture(*few, "--json", str(report))

    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads(report.read_text("utf-8"))
    assert (found["seed"], found["failures"]) == (1, [])
    tried = {row["part"] for row in found["rows"] if row["tried"]}
    skipped = {row["part"] for row in found["rows"] if row["skipped"]}
    assert tried | skipped >= set(PARTS)
    assert any(corpus.glob("markdown/*"))


JUDGE = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from checks import Judge, Verdict
from scenes import Scene, Stage

stage = Stage(Path(sys.argv[2]))
judge, scene = Judge(stage), Scene(name="index, changed", store="sqlite")
due, folder, verdict = judge.due(scene), stage.copy(scene), Verdict()
judge.readers(scene, folder, verdict, due=[*due, "unheard"])
(folder / "docs" / "02.md").write_text("Other words.")
judge.next_run(scene, folder, verdict)
print(json.dumps([len(due), verdict.lost, verdict.failed]))
"""


def test_the_judge_notices_what_is_lost_and_what_differs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", JUDGE, str(HERE), str(tmp_path)]

    ended = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ended.returncode == 0, ended.stderr
    due, lost, failed = json.loads(ended.stdout)
    assert due > 10
    assert lost[0] == "unheard"
    assert len(lost) == 5  # and the four sections that were overwritten
    assert "rows differ from a fresh index's" in failed


SYNCS = """
import sys
sys.path.insert(0, sys.argv[1])
from power import unsynced
log = ["W 1 5", "T 2 0", "W 2 7", "S 1 9", "W 3 30", "S 3 30", "W 3 40", "W 4 8"]
print(unsynced({2: 50, 4: 6}, log))
"""


def test_what_was_not_synced_after_it_was_written_is_lost_with_the_power() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", SYNCS, str(HERE)], capture_output=True, text=True, check=True
    )

    assert ended.stdout == "{2: 0, 3: 30, 4: 6}\n"

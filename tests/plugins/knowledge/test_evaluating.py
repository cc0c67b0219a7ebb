"""``ragloom eval`` for a folder of lessons, and ``ragloom calibrate --space knowledge``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime")

from ragloom import SourceError, Workspace
from ragloom_knowledge.evaluating import measure

FIRST = Path(__file__).parents[3] / "benchmarks" / "quality" / "lessons" / "first"
LESSONS = [
    {
        "id": f"migration-{number}",
        "problem": "migration",
        "kind": "failure_solution",
        "project": "shop",
        "agent_type": "backend",
        "technology": "PostgreSQL",
        "failure_description": text,
        "solution_steps": "Create the index concurrently",
        "success_verified": True,
    }
    for number, text in enumerate(["The migration times out", "The release waits for an index"])
]
QUERIES = [
    {"task": "Write the migration of PostgreSQL", "expected": ["migration"]},
    {"failure": "The migration times out", "error": "timeout", "expected": ["migration-0"]},
    {"task": "Bake an apple pie", "expected": []},
]


def ragloom(folder: Path, *arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert code == done.returncode, done.stderr
    return done.stdout if code == 0 else done.stderr


def write(folder: Path, lessons, queries) -> Path:
    folder.mkdir(exist_ok=True)
    for name, rows in (("lessons", lessons), ("queries", queries)):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(text, "utf-8")
    return folder


def test_a_folder_of_lessons_is_measured(tmp_path):
    write(tmp_path / "judged", LESSONS, QUERIES)
    for _ in range(2):  # the second run begins anew
        measured = json.loads(ragloom(tmp_path, "eval", "judged", "--json"))
        assert ("lessons", 3, 4) == (measured["mode"], measured["queries"], measured["chunks"])
        assert 1.0 == measured["metrics"]["tasks"]
        assert 1.0 == measured["metrics"]["failures"]
        assert 0.0 == measured["metrics"]["unrelated"]
    assert not (tmp_path / ".ragloom" / "knowledge").exists()


@pytest.mark.parametrize(
    ("lessons", "queries", "said"),
    [
        ([{"problem": "x"}], [], r"lessons\.jsonl:1: expected a lesson with an id"),
        ([LESSONS[0] | {"kind": "rumour"}], [], r"lessons\.jsonl:1: kind: expected one of"),
        (LESSONS, [{"task": "x"}], r"queries\.jsonl:1: expected \{"),
        (LESSONS, [{"task": "x", "failure": "y", "expected": []}], r"queries\.jsonl:1: expected"),
        (LESSONS, [{"task": "x", "expected": ["y"]}], r"queries\.jsonl: no lesson has the id 'y'"),
        (LESSONS, ["x"], r"queries\.jsonl:1: expected an object"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, lessons, queries, said):
    folder = write(tmp_path / "judged", lessons, queries)
    with pytest.raises(SourceError, match=said):
        measure(Workspace.open(tmp_path), folder)


def test_calibrating_moves_the_scale_and_reset_moves_it_back(tmp_path):
    from ragloom_knowledge import KnowledgeBase
    from ragloom_knowledge.matching import CURVE

    with KnowledgeBase.open(tmp_path) as knowledge:
        learnt = knowledge.capture_failure_solution(
            "shop", "backend", "The migration times out", solution_steps="Migrate in batches"
        )
        knowledge.process_checkpoint("shop")
        fitted = json.loads(ragloom(tmp_path, "calibrate", "--space", "knowledge", "--json"))
        assert fitted["bias"] != CURVE.bias
        assert fitted["cosine_weight"] == CURVE.cosine_weight
        assert fitted["bias"] == knowledge.space.calibration().bias
        (found,) = knowledge.query_for_failure("The migration times out")
        assert learnt.id == found.id
        ragloom(tmp_path, "calibrate", "--space", "knowledge", "--reset")
        assert CURVE == knowledge.space.calibration()
    (tmp_path / "few.txt").write_text("one\ntwo\n", "utf-8")
    few = ("calibrate", "--space", "knowledge", "--off-topic", "few.txt")
    assert "only 2 queries: give 20 or more" in ragloom(tmp_path, *few, code=1)


@pytest.mark.slow
def test_the_first_set_keeps_its_figures(tmp_path):
    measured = measure(Workspace.open(tmp_path), FIRST).metrics
    assert measured["tasks"] >= 0.4
    assert measured["failures"] >= 0.8
    assert measured["unrelated"] <= 1 / 40
    assert measured["patterns/problem"] <= 1.2

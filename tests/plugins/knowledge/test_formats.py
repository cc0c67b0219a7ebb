"""Tables that a newer ragloom made are named with its release and left alone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from ragloom import StoreError
from ragloom_knowledge import KnowledgeBase


def test_tables_of_a_newer_format_are_left_alone(tmp_path: Path) -> None:
    with KnowledgeBase.open(tmp_path) as lessons:
        lessons.capture_failure_solution("p", "coder", "it fails", solution_steps="mend it")
    file = tmp_path / ".ragloom" / "knowledge" / "lessons.db"
    with sqlite3.connect(file) as database:
        assert [(1,)] == database.execute("SELECT format FROM knowledge_format").fetchall()
        database.execute("UPDATE knowledge_format SET format = 2, release = '9.1'")
        database.execute("DROP TABLE knowledge_checkpoints")
    database.close()
    before = file.read_bytes()

    with pytest.raises(StoreError, match=r"lessons\.db: a newer ragloom wrote it \(release 9\.1, "):
        KnowledgeBase.open(tmp_path).lessons()

    assert before == file.read_bytes()

"""A file is replaced in one step, whoever does so at the same time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from ragloom.retrieval.calibration import read_calibration, write_calibration
from ragloom.retrieval.relevance import DEFAULT_CALIBRATION
from ragloom.stores.atomic import replace_file


def test_many_writers_leave_one_whole_file_and_nothing_else(tmp_path: Path) -> None:
    start = Barrier(8)

    def write(letter: str) -> None:
        start.wait()
        for _ in range(100):
            replace_file(tmp_path / "kept.json", letter * 5000)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, "abcdefgh"))

    (kept,) = tmp_path.iterdir()
    text = kept.read_text("utf-8")
    assert text == text[0] * 5000


def test_many_may_calibrate_at_once(tmp_path: Path) -> None:
    start = Barrier(4)

    def write(model: str) -> None:
        start.wait()
        for _ in range(100):
            write_calibration(tmp_path, model, DEFAULT_CALIBRATION)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, "abcd"))

    assert [DEFAULT_CALIBRATION] == [
        found for model in "abcd" if (found := read_calibration(tmp_path, model))
    ]


def test_the_content_is_on_the_disk_before_it_has_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, synced = tmp_path / "kept", list[tuple[bool, int]]()
    monkeypatch.setattr(
        os, "fsync", lambda handle: synced.append((path.exists(), os.fstat(handle).st_size))
    )

    replace_file(path, "new")

    assert [(False, 3)] == synced


def test_what_cannot_be_written_leaves_the_old_content(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()

    with pytest.raises(OSError, match="kept"):
        replace_file(tmp_path / "kept", "new")

    assert [tmp_path / "kept"] == list(tmp_path.iterdir())

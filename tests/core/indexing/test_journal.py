"""What an interrupted run left is read up to where it is torn, and goes on from there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from ragloom.indexing.journal import Journal

hypothesis = pytest.importorskip("hypothesis")
st = pytest.importorskip("hypothesis.strategies")

DIMENSION = 3
RECORD = 4 + 32 + 4 * DIMENSION


def keys(first: int, count: int) -> list[str]:
    return [f"{number:032x}" for number in range(first, first + count)]


def remember(journal: Journal, names: Sequence[str]) -> None:
    journal.remember(names, np.full((len(names), DIMENSION), 0.5, np.float32))


@hypothesis.given(
    before=st.integers(0, 4),
    kept=st.integers(0, 5 * RECORD),
    garbage=st.binary(max_size=RECORD),
    later=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    recalled=st.booleans(),
)
def test_what_is_appended_to_a_torn_journal_is_recalled(
    *, before: int, kept: int, garbage: bytes, later: list[int], recalled: bool
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        remember(Journal(folder, DIMENSION), keys(0, before))
        file = folder / "embeddings.journal"
        file.write_bytes(file.read_bytes()[:kept] + garbage)
        whole = min(kept, before * RECORD) // RECORD
        journal = Journal(folder, DIMENSION)
        if recalled:
            assert list(journal.recall()) == keys(0, whole)
        added = 100
        for count in later:
            remember(journal, keys(added, count))
            added += count

        expected = [*keys(0, whole), *keys(100, sum(later))]
        assert list(Journal(folder, DIMENSION).recall()) == expected


def test_a_journal_of_another_model_is_written_anew(tmp_path: Path) -> None:
    remember(Journal(tmp_path, DIMENSION), keys(0, 4))
    other = Journal(tmp_path, 5)
    other.remember(keys(9, 1), np.ones((1, 5), np.float32))

    assert list(Journal(tmp_path, 5).recall()) == keys(9, 1)


@pytest.mark.parametrize("torn", [b"", b"00ff", b"\xff\0"])
def test_ids_after_a_torn_one_are_known(tmp_path: Path, torn: bytes) -> None:
    (tmp_path / "touched.journal").write_bytes(b"aa\nbb\n" + torn)
    Journal(tmp_path, DIMENSION).touch(["cc", "dd"])

    assert {"aa", "bb", "cc", "dd"} <= Journal(tmp_path, DIMENSION).touched()

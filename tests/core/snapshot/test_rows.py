"""Rows by the ids of their chunks, however many are wanted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ragloom.snapshot.segment import KEY, Segment, SegmentWriter, VectorWriter


@pytest.mark.parametrize("wanted", [1, 30, 600])
def test_rows_are_in_the_order_of_their_ids_without_those_that_are_not_there(
    files: Path, make_space, wanted: int
) -> None:
    for number in range(7):
        parts = [f"## Part {part}\n\nWords of {number}.\n" for part in range(100)]
        (files / f"page{number}.md").write_text("\n".join(parts), "utf-8")
    space = make_space()
    space.index()
    for number in (2, 5):  # a segment each, and rows that are removed from the first
        part = f"## Part 0\n\nOther words of {number}.\n"
        (files / f"page{number}.md").write_text(part + parts[50], "utf-8")
        space = make_space()
        space.index()
    snapshot = space.snapshot()
    assert len(snapshot.segments) > 1
    assert any(len(segment.removed) for segment in snapshot.segments)
    there = [name.decode() for name in snapshot.ids[::-1][:wanted]]
    foreign = ["x", "é" * 40, there[0] + "x", there[0][:-1]]
    mixed = [*foreign, *there, *foreign]
    expected = list(range(len(snapshot)))[::-1][:wanted]
    assert expected == snapshot.rows_of(mixed).tolist()
    assert there == snapshot.ids_of(np.array(expected))
    keys = [name.decode() for name in snapshot.keys[::-1][:wanted]]
    assert keys == snapshot.keys_of(np.array(expected))
    assert [] == snapshot.rows_of(foreign).tolist()
    assert [] == snapshot.rows_of([]).tolist()


def test_a_store_that_is_out_of_step_is_compared_page_by_page(
    files: Path, make_space, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look at all ids for each of its chunks would take the square of their number."""
    for number in range(4):
        parts = [f"## Part {part}\n\nWords of {number}.\n" for part in range(600)]
        (files / f"page{number}.md").write_text("\n".join(parts), "utf-8")
    space = make_space()
    space.index()
    snapshot = space.snapshot()
    lost = snapshot.ids[1200].decode()
    space.store.open(
        space="notes",
        dimension=snapshot.meta.dimension,
        directory=space.directory / "store",
    )
    space.store.delete([lost])
    space.store.close()
    (files / "page0.md").write_text("# Other\n\nWords.\n", "utf-8")
    again = make_space()
    asked: list[int] = []
    snapshot_type = type(space.snapshot())
    rows_of = snapshot_type.rows_of

    def counted(snapshot, ids):
        names = list(ids)
        asked.append(len(names))
        return rows_of(snapshot, names)

    monkeypatch.setattr(snapshot_type, "rows_of", counted)
    report = again.index()
    assert (1801, 1) == (report.chunks, report.embedded)
    assert 2399 == sum(asked)
    assert len(asked) <= 4


def test_many_keys_are_found_as_few_are(tmp_path: Path) -> None:
    """Also those that share their first eight characters with another."""
    keys = [f"{number // 3:08x}{number * 7919:024x}".encode() for number in range(3000)]
    writer = SegmentWriter(tmp_path / "one")
    for key in reversed(keys):
        writer.add("a.md", b"packed", key, key)
    writer.close()
    vectors = VectorWriter(len(keys), 2)
    with_vector = np.flatnonzero(np.arange(len(keys)) % 5)
    vectors.put(with_vector, np.tile(np.array([[1.0, 0.0]], np.float32), (len(with_vector), 1)))
    vectors.write(tmp_path / "one")
    segment = Segment(tmp_path / "one")
    foreign = [key[:8] + b"f" * 24 for key in keys[::4]]
    wanted = np.array([*keys, *foreign, b"", b"\xff" * 32], KEY)
    few = [segment.find(wanted[start : start + 500]) for start in range(0, len(wanted), 500)]
    found = segment.find(wanted)
    assert np.concatenate(few).tolist() == found.tolist()
    assert len(with_vector) == np.count_nonzero(found >= 0)

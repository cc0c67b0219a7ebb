"""Rows by the ids of their chunks, however many are wanted."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize("wanted", [1, 30, 600])
def test_rows_are_in_the_order_of_their_ids_without_those_that_are_not_there(
    files: Path, make_space, wanted: int
) -> None:
    for number in range(7):
        parts = [f"## Part {part}\n\nWords of {number}.\n" for part in range(100)]
        (files / f"page{number}.md").write_text("\n".join(parts), "utf-8")
    space = make_space()
    space.index()
    snapshot = space.snapshot()
    there = [name.decode() for name in snapshot.ids[::-1][:wanted]]
    foreign = ["x", "é" * 40, there[0] + "x", there[0][:-1]]
    mixed = [*foreign, *there, *foreign]
    expected = list(range(len(snapshot)))[::-1][:wanted]
    assert expected == snapshot.rows_of(mixed).tolist()
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

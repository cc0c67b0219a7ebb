"""Forgetting an index."""

from __future__ import annotations

import pytest

from ragloom import NotIndexedError, StoreError

PAGES = {"one.md": "# One\n\nZebras have stripes.\n", "two.md": "# Two\n\nOkapis, too.\n"}


@pytest.fixture
def indexed(make_space, files):
    for name, text in PAGES.items():
        (files / name).write_text(text)

    def make(**settings):
        space = make_space(**settings)
        assert 2 == space.index().embedded
        return space

    return make


@pytest.mark.parametrize("store", ["sqlite", "file", "memory"])
def test_nothing_is_left_but_the_files(indexed, make_space, files, store):
    space = indexed(store=store)
    space.drop()
    assert sorted(PAGES) == sorted(path.name for path in files.glob("*.md"))
    assert [] == list((files / ".ragloom" / "spaces").iterdir())
    assert [".gitignore", "spaces"] == sorted(
        path.name
        for path in (files / ".ragloom").iterdir()
        if not path.name.startswith("audit.jsonl")
    )
    assert () == tuple(space.workspace.spaces())
    with pytest.raises(NotIndexedError):
        space.search("zebras")
    with pytest.raises(NotIndexedError, match="nothing is indexed in 'notes'"):
        space.drop()
    assert 2 == make_space(store=store).index().embedded


def test_a_store_elsewhere_is_emptied(indexed, make_space, files, tmp_path):
    shared = {"path": str(tmp_path / "shared.sqlite")}
    indexed(store="sqlite", store_options=shared).drop()
    assert 2 == make_space(store="sqlite", store_options=shared).index().embedded


def test_what_a_damaged_index_left_is_dropped(indexed, files):
    space = indexed(store="sqlite")
    for path in (files / ".ragloom" / "spaces" / "notes").rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged")
    space.drop()
    assert () == tuple(space.workspace.spaces())


def test_a_store_that_fails_keeps_the_index(indexed, monkeypatch):
    space = indexed(store="sqlite")

    def fail(self):
        raise StoreError("the disk is gone")

    monkeypatch.setattr(type(space.store), "drop", fail)
    with pytest.raises(StoreError, match="the disk is gone"):
        space.drop()
    assert ["one.md"] == [hit.chunk.uri for hit in space.search("zebras", top_k=1).hits]

"""A damaged SQLite store: searches answer, and the next run that writes to it rebuilds it."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ragloom import Space, StoreDamagedError

MakeSpace = Callable[..., Space]
Wreck = Callable[[bytearray, random.Random], None]
NOTES = 20  # some pages of each kind


def one_byte(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(len(content))] ^= chance.randrange(1, 256)


def a_byte_of_the_header(content: bytearray, chance: random.Random) -> None:
    content[chance.randrange(100)] = chance.randrange(256)


def the_schema(content: bytearray, chance: random.Random) -> None:
    """The text of a statement, which SQLite's message quotes, and sqlite3 then decodes."""
    content[content.index(b"CREATE TABLE") + chance.randrange(40)] = 0xFF


def a_page(content: bytearray, chance: random.Random) -> None:
    start = 4096 * chance.randrange(len(content) // 4096)
    content[start : start + 4096] = chance.randbytes(4096)


def zeros(content: bytearray, chance: random.Random) -> None:
    start = 4096 * chance.randrange(len(content) // 4096)
    content[start : start + 4096] = bytes(4096)


def the_end(content: bytearray, chance: random.Random) -> None:
    del content[chance.randrange(len(content)) :]


def headers_of_cells(content: bytearray, chance: random.Random) -> None:
    start = 4096 * chance.randrange(1, len(content) // 4096)
    for offset in range(8):
        content[start + offset] = chance.randrange(256)


FEW_OR_MANY = (range(2), pytest.param(range(2, 60), marks=pytest.mark.slow))
WRECKS = (one_byte, a_byte_of_the_header, the_schema, a_page, zeros, the_end, headers_of_cells)


@pytest.fixture
def indexed(files: Path, make_space: MakeSpace) -> Path:
    """The folder of an index of notes, in a store of some hundred pages."""
    for number in range(NOTES):
        text = f"# Note {number}\n\nstorage {word(number)} " + "filler " * 400
        (files / f"note-{number:02}.md").write_text(text, "utf-8")
    space = make_space()
    space.index()
    return space.directory


@pytest.fixture
def wrecked(indexed: Path) -> Callable[[Wreck, int], Path]:
    """Damage the store of the index as it was first, and return its file."""
    store = indexed / "store" / "store.sqlite3"
    sqlite3.connect(store).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    whole = store.read_bytes()
    aside = indexed.parent / "aside"
    shutil.copytree(indexed, aside)

    def wreck(how: Wreck, seed: int) -> Path:
        # Moved, not deleted: an index that is still open may write its lock file meanwhile.
        indexed.rename(indexed.parent / f"before-{len(list(indexed.parent.iterdir()))}")
        shutil.copytree(aside, indexed)
        content = bytearray(whole)
        how(content, random.Random(seed))
        store.write_bytes(content)
        return store

    return wreck


def word(number: int) -> str:
    """A word that stands in one note."""
    return "quux" + "abcdefghij"[number // 10] + "klmnopqrst"[number % 10]


def found(space: Space, text: str) -> list[str]:
    hits = space.search(text, mode="lexical", min_relevance=0.0).hits
    return sorted({hit.chunk.uri for hit in hits})


@pytest.mark.parametrize("seeds", FEW_OR_MANY)
@pytest.mark.parametrize("how", WRECKS)
def test_the_next_run_that_changes_something_makes_the_store_whole(
    files: Path,
    make_space: MakeSpace,
    wrecked: Callable[[Wreck, int], Path],
    how: Wreck,
    seeds: range,
) -> None:
    for seed in seeds:
        store = wrecked(how, seed)
        (files / "note-07.md").write_text(f"# Note 7\n\n{word(80 + seed % 20)} storage", "utf-8")
        assert ["note-11.md"] == found(make_space(), word(11))

        report = make_space().index()

        assert ((), ("note-07.md",)) == (report.failed, report.updated)
        assert 1 >= report.embedded
        assert ["note-07.md"] == found(make_space(), word(80 + seed % 20))
        rows = sqlite3.connect(store).execute("SELECT count(*) FROM chunks").fetchone()
        assert report.chunks == rows[0]


@pytest.mark.parametrize("how", WRECKS)
def test_repair_makes_it_whole(
    make_space: MakeSpace, wrecked: Callable[[Wreck, int], Path], how: Wreck
) -> None:
    for seed in range(100, 102):
        store = wrecked(how, seed)

        chunks = make_space().repair()

        connection = sqlite3.connect(store)
        assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
        assert (chunks,) == connection.execute("SELECT count(*) FROM chunks").fetchone()


@pytest.mark.parametrize("how", WRECKS)
def test_without_a_snapshot_the_files_are_indexed_once_more(
    indexed: Path, make_space: MakeSpace, wrecked: Callable[[Wreck, int], Path], how: Wreck
) -> None:
    for seed in range(200, 202):
        wrecked(how, seed)
        shutil.rmtree(indexed / "gen-000001")

        report = make_space().index()

        assert () == report.failed
        assert ["note-11.md"] == found(make_space(), word(11))
        assert NOTES == len(make_space().snapshot().files)


def test_a_store_elsewhere_is_left_alone_and_named(
    files: Path, make_space: MakeSpace, tmp_path: Path
) -> None:
    shared = tmp_path / "shared.sqlite3"
    options: dict[str, object] = {"path": str(shared)}
    (files / "a.md").write_text("alpha storage", "utf-8")
    make_space(store_options=options).index()
    sqlite3.connect(shared).execute("PRAGMA wal_checkpoint(TRUNCATE)").connection.close()
    content = bytearray(shared.read_bytes())
    the_schema(content, random.Random(1))
    shared.write_bytes(content)
    (files / "b.md").write_text("beta storage", "utf-8")

    with pytest.raises(StoreDamagedError, match=r"shared\.sqlite3 is damaged.*move it away"):
        make_space(store_options=options).index()

    assert bytes(content) == shared.read_bytes()
    assert ["a.md"] == found(make_space(store_options=options), "alpha")

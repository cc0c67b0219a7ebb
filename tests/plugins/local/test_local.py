"""The file and SQLite stores: what lies on the disk, damage, kills and locks."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ragloom_local
from ragloom import (
    ConfigError,
    PluginHost,
    StoreDamagedError,
    StoreError,
    StoreLockedError,
    __version__,
)
from ragloom.types import Chunk, Lines, Span
from ragloom_local import FileOptions, SqliteOptions, ragloom_stores
from ragloom_local.file import FileStore, folder_name
from ragloom_local.memory import MemoryStore
from ragloom_local.sqlite import SqliteStore


def chunk(name: str, text: str = "some text") -> Chunk:
    return Chunk(
        id=name, uri="docs/a.md", text=text, span=Span(0, 9), lines=Lines(1, 1), bytes=Span(0, 9)
    )


def write(
    store: FileStore | SqliteStore, directory: Path, *names: str, space: str = "docs"
) -> None:
    store.open(space=space, dimension=2, directory=directory)
    store.upsert([chunk(name) for name in names], np.ones((len(names), 2), dtype=np.float32))
    store.close()


def ids(store: FileStore | SqliteStore, directory: Path, space: str = "docs") -> list[str]:
    store.open(space=space, dimension=2, directory=directory)
    found = [one.id for chunks, _ in store.scan() for one in chunks]
    store.close()
    return found


def test_three_stores_are_offered():
    memory, file, sqlite = ragloom_stores()
    assert ["memory", "file", "sqlite"] == [memory.name, file.name, sqlite.name]
    assert isinstance(memory.create(memory.options()), MemoryStore)
    assert isinstance(file.create(FileOptions()), FileStore)
    assert isinstance(sqlite.create(SqliteOptions()), SqliteStore)


def test_two_memory_stores_are_two_places():
    first, second = MemoryStore(), MemoryStore()
    assert first.fingerprint != second.fingerprint


def test_files_can_be_read_by_people(tmp_path):
    write(FileStore(), tmp_path, "b", "a")
    [folder] = tmp_path.iterdir()
    assert folder.name.startswith("docs-")
    assert ["CURRENT", "chunks-000001.jsonl", "vectors-000001.npy"] == names(folder)
    lines = (folder / "chunks-000001.jsonl").read_text(encoding="utf-8").splitlines()
    assert ["a", "b"] == [json.loads(line)["id"] for line in lines]
    assert [[1, 1], [1, 1]] == np.load(folder / "vectors-000001.npy").tolist()
    current = json.loads((folder / "CURRENT").read_text())
    assert __version__ == current.pop("release")
    assert {"format": 1, "generation": 1, "dimension": 2, "chunks": 2} == current


def test_a_generation_replaces_the_last_and_an_unchanged_one_is_not_written(tmp_path):
    write(FileStore(), tmp_path, "a")
    [folder] = tmp_path.iterdir()
    assert ["a"] == ids(FileStore(), tmp_path)
    assert ["CURRENT", "chunks-000001.jsonl", "vectors-000001.npy"] == names(folder)
    write(FileStore(), tmp_path, "b")
    assert ["CURRENT", "chunks-000002.jsonl", "vectors-000002.npy"] == names(folder)
    assert ["a", "b"] == ids(FileStore(), tmp_path)


def test_what_a_kill_left_of_the_next_generation_is_ignored(tmp_path):
    write(FileStore(), tmp_path, "a")
    [folder] = tmp_path.iterdir()
    (folder / "chunks-000002.jsonl").write_text('{"id": "half')
    (folder / "CURRENT.tmp").write_text("{")
    assert ["a"] == ids(FileStore(), tmp_path)
    write(FileStore(), tmp_path, "b")
    assert ["a", "b"] == ids(FileStore(), tmp_path)


def test_killed_in_the_very_first_generation_it_is_empty(tmp_path):
    folder = tmp_path / folder_name("docs")
    folder.mkdir()
    (folder / "chunks-000001.jsonl").write_text('{"id": "half')
    assert ids(FileStore(), tmp_path) == []


DEEP = b"[" * 100_000
INFINITE = b'{"generation": Infinity, "id": "a", "uri": "", "text": "", "span": [1e999, 2]}'


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}\n", b"[1]\n", DEEP, INFINITE, None])
@pytest.mark.parametrize("name", ["CURRENT", "chunks-000002.jsonl", "vectors-000002.npy"])
def test_damaged_files_are_called_damaged_and_left_alone(tmp_path, name, content):
    write(FileStore(), tmp_path, "a")
    write(FileStore(), tmp_path, "b")
    [folder] = tmp_path.iterdir()
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    before = names(folder)
    with pytest.raises(StoreDamagedError, match="is damaged: "):
        ids(FileStore(), tmp_path)
    assert before == names(folder)


def test_a_truncated_file_is_damaged(tmp_path):
    write(FileStore(), tmp_path, "a", "b")
    [folder] = tmp_path.iterdir()
    lines = (folder / "chunks-000001.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "chunks-000001.jsonl").write_bytes(lines[0])
    with pytest.raises(StoreDamagedError, match="2 chunks were written, 1 and 2 vectors"):
        ids(FileStore(), tmp_path)


def test_paths_keep_spaces_apart(tmp_path):
    shared = str(tmp_path / "shared")
    for make in (lambda: FileStore(path=shared), lambda: SqliteStore(path=f"{shared}.db")):
        write(make(), tmp_path, "a", space="x/y")
        write(make(), tmp_path, "b", space="x_y")
        assert ["a"] == ids(make(), tmp_path, space="x/y")
        assert ["b"] == ids(make(), tmp_path, space="x_y")


def test_a_space_can_have_another_dimension_in_the_same_database(tmp_path):
    path = str(tmp_path / "x.db")
    write(SqliteStore(path=path), tmp_path, "a", space="two")
    store = SqliteStore(path=path)
    store.open(space="three", dimension=3, directory=tmp_path)
    store.upsert([chunk("a")], np.ones((1, 3), dtype=np.float32))
    store.close()
    assert ["a"] == ids(SqliteStore(path=path), tmp_path, space="two")


def test_vectors_are_blobs_in_wal_mode(tmp_path):
    write(SqliteStore(), tmp_path, "a")
    connection = sqlite3.connect(tmp_path / "store.sqlite3")
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    [row] = connection.execute("SELECT space, id, uri, text, vector FROM chunks")
    connection.close()
    blob = np.ones(2, dtype="<f4").tobytes()
    assert ("docs", "a", "docs/a.md", "some text", blob) == row


@pytest.mark.parametrize("content", [b"not a database" * 100, b"SQLite format 3\0" + b"x" * 5000])
def test_a_damaged_database_is_called_damaged_and_left_alone(tmp_path, content):
    path = tmp_path / "store.sqlite3"
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match="is damaged: "):
        ids(SqliteStore(), tmp_path)
    assert content == path.read_bytes()


@pytest.mark.parametrize("content", [b"# A document\n", b"x" * 5000])
def test_a_file_that_was_never_a_database_is_called_so_and_left_alone(tmp_path, content):
    path = tmp_path / "a.md"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="is not a database: 'path' of the store") as caught:
        ids(SqliteStore(path=str(path)), tmp_path)
    assert not isinstance(caught.value, StoreDamagedError)
    assert [content] == [file.read_bytes() for file in tmp_path.iterdir()]


def test_an_empty_file_becomes_a_database(tmp_path):
    path = tmp_path / "x.db"
    path.touch()
    write(SqliteStore(path=str(path)), tmp_path, "a")
    assert ["a"] == ids(SqliteStore(path=str(path)), tmp_path)


@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_a_url_is_no_path(tmp_path, monkeypatch, store):
    monkeypatch.chdir(tmp_path)
    host = PluginHost({"local": ragloom_local})
    with pytest.raises(ConfigError, match="expected a path, found a URL") as caught:
        host.store(store, {"path": "https://user:secret@host/x"})
    assert "secret" not in str(caught.value)
    assert [] == list(tmp_path.iterdir())


def test_a_database_with_garbled_pages_is_damaged(tmp_path):
    write(SqliteStore(), tmp_path, *[f"{number:04d}" for number in range(500)])
    path = tmp_path / "store.sqlite3"
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError):
        ids(SqliteStore(), tmp_path)


@pytest.mark.parametrize("extra", [DEEP, INFINITE, b"3", b"{}", b"9" * 5000])
def test_a_row_that_is_no_chunk_is_damage(tmp_path, extra):
    write(SqliteStore(), tmp_path, "a")
    connection = sqlite3.connect(tmp_path / "store.sqlite3")
    connection.execute("UPDATE chunks SET extra = ?", (extra.decode(),))
    connection.commit()
    connection.close()
    with pytest.raises(StoreDamagedError, match="a row cannot be read"):
        ids(SqliteStore(), tmp_path)


def test_somebody_elses_database_is_damaged_rather_than_written(tmp_path):
    connection = sqlite3.connect(tmp_path / "store.sqlite3")
    connection.execute("CREATE TABLE chunks (x)")
    connection.close()
    with pytest.raises(StoreDamagedError, match="no such column"):
        ids(SqliteStore(), tmp_path)


def test_a_writing_process_is_waited_for_then_named_as_the_reason(tmp_path):
    write(SqliteStore(), tmp_path, "a")
    other = sqlite3.connect(tmp_path / "store.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreLockedError, match="in use by another process") as error:
        write(SqliteStore(patience=0.2), tmp_path, "b")
    assert "\n" not in str(error.value)
    other.execute("ROLLBACK")
    other.close()
    write(SqliteStore(patience=0.2), tmp_path, "b")
    assert ["a", "b"] == ids(SqliteStore(), tmp_path)


def test_a_failed_upsert_leaves_no_transaction(tmp_path):
    store = SqliteStore()
    store.open(space="docs", dimension=2, directory=tmp_path)
    with pytest.raises(StoreError):
        store.upsert([chunk("a")], np.full((1, 2), np.nan, dtype=np.float32))
    store.upsert([chunk("b")], np.ones((1, 2), dtype=np.float32))
    store.close()
    assert ["b"] == ids(SqliteStore(), tmp_path)


KILLED = """
import os, sys
from pathlib import Path
import numpy as np
from ragloom.types import Chunk, Lines, Span
from ragloom_local.file import FileStore
from ragloom_local.sqlite import SqliteStore
store = {"file": FileStore, "sqlite": SqliteStore}[sys.argv[1]]()
store.open(space="docs", dimension=2, directory=Path(sys.argv[2]))
chunks = [
    Chunk(id=f"{n:05d}", uri="a", text="t", span=Span(0, 1), lines=Lines(1, 1), bytes=Span(0, 1))
    for n in range(10_000)
]
store.upsert(chunks, np.ones((10_000, 2), dtype=np.float32))
store.close()
os._exit(0)
"""


@pytest.mark.parametrize("name", ["file", "sqlite"])
def test_what_was_closed_is_there_after_a_hard_exit(tmp_path, name):
    subprocess.run([sys.executable, "-c", KILLED, name, str(tmp_path)], check=True, env=os.environ)
    store = FileStore() if name == "file" else SqliteStore()
    assert [f"{number:05d}" for number in range(10_000)] == ids(store, tmp_path)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_disk_that_fails_is_no_damage(tmp_path):
    """SQLite calls what the system calls EIO, a fault of the device, SQLITE_IOERR_CORRUPTFS."""
    write(SqliteStore(), tmp_path, "a")
    store = SqliteStore()
    store.open(space="docs", dimension=2, directory=tmp_path)

    class Failing:
        def execute(self, *_: object) -> None:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorname = "SQLITE_IOERR_CORRUPTFS"
            raise error

    kept, store._connection = store._connection, Failing()
    with pytest.raises(StoreError, match="failed: disk I/O error") as caught:
        store.count()
    assert not isinstance(caught.value, StoreDamagedError)
    store._connection = kept
    store.close()

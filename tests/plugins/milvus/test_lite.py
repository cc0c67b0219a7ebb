"""Milvus Lite: the lock, the kill, the damage, and what it costs to load."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from ragloom import SearchableStore, StoreDamagedError, StoreError, StoreLockedError
from ragloom.errors import ConfigError, MissingDependencyError
from ragloom.types import Chunk, Lines, Span
from ragloom_milvus import MilvusOptions, ragloom_stores
from ragloom_milvus.store import MilvusLiteStore

pytest.importorskip("milvus_lite", reason="milvus-lite is not installed")

DIMENSION = 8


def chunk(name: str, text: str = "some text") -> Chunk:
    return Chunk(
        id=name,
        uri="docs/a.md",
        text=text,
        span=Span(0, 9),
        lines=Lines(1, 1),
        bytes=Span(0, 9),
        metadata={"title": "A"},
    )


def opened(directory: Path, *, patience: float = 0.3) -> MilvusLiteStore:
    store = MilvusLiteStore(patience=patience)
    store.open(space="docs", dimension=DIMENSION, directory=directory)
    return store


def fill(directory: Path, count: int, *, start: int = 0) -> None:
    store = opened(directory)
    names = [f"{number:08d}" for number in range(start, start + count)]
    vectors = np.random.default_rng(0).standard_normal((count, DIMENSION), dtype=np.float32)
    store.upsert([chunk(name) for name in names], vectors)
    store.close()


def ids(directory: Path) -> list[str]:
    store = opened(directory)
    found = [one.id for chunks, _ in store.scan() for one in chunks]
    store.close()
    return found


def collection(directory: Path) -> Path:
    (folder,) = (directory / "store.db" / "collections").iterdir()
    return folder


def python(code: str, *arguments: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, **options
    )


def test_it_lies_in_the_given_directory_or_where_the_uri_says(tmp_path):
    fill(tmp_path, 1)
    assert ["store.db"] == [path.name for path in tmp_path.iterdir()]
    elsewhere = tmp_path / "elsewhere.db"
    for space in ("docs", "docs 2"):
        store = MilvusLiteStore(uri=str(elsewhere))
        store.open(space=space, dimension=DIMENSION, directory=tmp_path)
        assert store.count() == 0
        store.upsert([chunk("a")], np.ones((1, DIMENSION), dtype=np.float32))
        store.close()
    assert len(list((elsewhere / "collections").iterdir())) == 2


@pytest.mark.parametrize("uri", ["store", "milvus.sqlite", "ftp://x", "localhost:19530"])
def test_a_uri_that_is_neither_a_path_nor_a_server_is_refused(uri):
    with pytest.raises(
        ConfigError, match=r"neither a local path that ends in \.db nor the address of a"
    ):
        MilvusLiteStore(uri=uri)


def test_a_path_only_keeps_and_an_address_searches_too():
    [provider] = ragloom_stores()
    assert ("milvus", "ragloom[milvus]") == (provider.name, provider.extra)
    lite = provider.create(MilvusOptions())
    server = provider.create(MilvusOptions(uri="http://milvus:19530", token="top:secret"))  # noqa: S106
    assert [False, True] == [isinstance(one, SearchableStore) for one in (lite, server)]
    assert lite.fingerprint != server.fingerprint
    assert "secret" not in server.fingerprint


def test_long_texts_are_kept(tmp_path):
    text = "\u65e5" * 200_000
    store = opened(tmp_path)
    store.upsert([chunk("a", text)], np.ones((1, DIMENSION), dtype=np.float32))
    store.close()
    store = opened(tmp_path)
    [(chunks, _)] = store.scan()
    assert text == chunks[0].text
    store.close()


def test_an_id_that_no_expression_can_name_is_refused(tmp_path):
    store = opened(tmp_path)
    with pytest.raises(StoreError, match=r"chunk 'a\\nb' of .*nothing was written"):
        store.upsert([chunk("a"), chunk("a\nb")], np.ones((2, DIMENSION), dtype=np.float32))
    assert store.count() == 0
    store.delete(["a\nb"])
    store.close()


def test_more_rows_than_a_server_answers_at_once_are_scanned_in_order(tmp_path):
    fill(tmp_path, 17_000)
    assert [f"{number:08d}" for number in range(17_000)] == ids(tmp_path)


def test_pymilvus_reads_the_same_directory(tmp_path):
    pymilvus = pytest.importorskip("pymilvus")
    from milvus_lite.server_manager import server_manager_instance

    fill(tmp_path, 3)
    path = str(tmp_path / "store.db")
    client = pymilvus.MilvusClient(path)
    try:
        [name] = client.list_collections()
        rows = client.query(name, filter='id >= ""', output_fields=["id", "uri", "text"])
        assert name.startswith("ragloom_docs_")
        expected = [("00000000", "docs/a.md", "some text")]
        assert expected == [(r["id"], r["uri"], r["text"]) for r in rows][:1]
    finally:
        client.close()
        server_manager_instance.release_server(path)
    assert len(ids(tmp_path)) == 3


# ── the lock ────────────────────────────────────────────────────────────────────────────────

HOLD = """
import sys, time
from pathlib import Path
from ragloom_milvus.store import MilvusLiteStore
store = MilvusLiteStore()
store.open(space="docs", dimension=8, directory=Path(sys.argv[1]))
print("held", flush=True)
time.sleep(float(sys.argv[2]))
store.close()
print("closed", flush=True)
"""


def test_a_held_store_is_waited_for_then_refused_with_the_holders_name(tmp_path, caplog):
    holder = python(HOLD, str(tmp_path), "60")
    try:
        assert holder.stdout.readline() == "held\n"
        caplog.set_level(logging.WARNING, logger="ragloom.milvus")
        began = time.monotonic()
        with pytest.raises(StoreLockedError) as error:
            opened(tmp_path, patience=0.5)
        assert time.monotonic() - began >= 0.5
        message = str(error.value)
        assert f"in use by process {holder.pid}" in message
        assert "\n" not in message
        assert not any(word in message for word in ("delete", "remove", "move", "rm "))
        [record] = caplog.records
        assert f"waiting for {tmp_path / 'store.db'}, which is in use by process" in record.message
    finally:
        holder.kill()
        holder.wait()
    assert ids(tmp_path) == []


def test_a_store_that_is_let_go_in_time_is_opened(tmp_path):
    holder = python(HOLD, str(tmp_path), "0.5")
    assert holder.stdout.readline() == "held\n"
    store = opened(tmp_path, patience=30)
    assert holder.stdout.readline() == "closed\n"
    store.close()
    assert holder.wait() == 0


def test_waiting_says_nothing_on_stderr(tmp_path):
    store = opened(tmp_path)
    code = HOLD.replace("MilvusLiteStore()", "MilvusLiteStore(patience=0.3)")
    other = python(code, str(tmp_path), "0", stderr=subprocess.PIPE)
    _, stderr = other.communicate()
    assert stderr.splitlines()[-1].startswith("ragloom.errors.StoreLockedError: the store ")
    assert f"in use by process {os.getpid()}" in stderr
    assert "waiting for" not in stderr
    store.close()


def test_the_lock_is_free_after_closing_in_this_process_and_in_others(tmp_path):
    first = opened(tmp_path)
    with pytest.raises(StoreLockedError, match="this very process"):
        opened(tmp_path)
    first.close()
    other = python(HOLD, str(tmp_path), "0")
    assert other.wait() == 0
    opened(tmp_path).close()


def test_a_failed_opening_lets_go(tmp_path):
    fill(tmp_path, 1)
    for _ in range(2):
        with pytest.raises(StoreError, match="vectors of 8 numbers"):
            MilvusLiteStore(patience=0).open(space="docs", dimension=3, directory=tmp_path)
    assert len(ids(tmp_path)) == 1


# ── killed ──────────────────────────────────────────────────────────────────────────────────

WRITE = """
import os, signal, sys
from pathlib import Path
import numpy as np
from ragloom.types import Chunk, Lines, Span
from ragloom_milvus.store import MilvusLiteStore
directory, count, end = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
store = MilvusLiteStore()
store.open(space="docs", dimension=8, directory=directory)
vectors = np.random.default_rng(0).standard_normal((count, 8), dtype=np.float32)
chunks = [
    Chunk(id=f"{n:08d}", uri="a.md", text="some text", span=Span(0, 9), lines=Lines(1, 1),
          bytes=Span(0, 9))
    for n in range(count)
]
if end == "midway":
    print("writing", flush=True)
    while True:
        store.upsert(chunks, vectors)
store.upsert(chunks, vectors)
store.delete(["00000000"])
store.close()
os._exit(0) if end == "exit" else os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("end", ["exit", "kill"])
def test_what_was_closed_is_there_however_the_process_ends(tmp_path, end):
    writer = python(WRITE, str(tmp_path), "10000", end)
    assert (0 if end == "exit" else -signal.SIGKILL) == writer.wait()
    found = ids(tmp_path)
    assert len(found) == 9999
    assert found[0] == "00000001"
    assert not list(collection(tmp_path).glob("partitions/*/indexes/*")), "nothing fragile"
    fill(tmp_path, 10, start=20_000)
    assert len(ids(tmp_path)) == 10_009


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.1, 0.2, 0.4])
def test_killed_while_writing_it_opens_and_every_row_is_whole(tmp_path, delay):
    writer = python(WRITE, str(tmp_path), "3000", "midway")
    assert writer.stdout.readline() == "writing\n"
    time.sleep(delay)
    writer.kill()
    writer.wait()
    store = opened(tmp_path)
    found = [one for chunks, _ in store.scan() for one in chunks]
    assert store.count() == len(found) <= 3000
    assert all(one.text == "some text" for one in found)
    store.close()


@pytest.mark.parametrize("left", [None, b"", b'{"fields": ['])
def test_killed_between_making_the_folder_and_the_schema_it_opens(tmp_path, left):
    fill(tmp_path, 0)
    folder = collection(tmp_path)
    shutil.rmtree(folder)
    folder.mkdir()
    if left is not None:  # the engine was writing it
        (folder / "schema.json.tmp").write_bytes(left)
    assert ids(tmp_path) == []


# ── damaged ─────────────────────────────────────────────────────────────────────────────────


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garble(path: Path) -> None:
    path.write_bytes(b"\xff\x00garbage" * 40)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def swap_footer(path: Path) -> None:
    content = bytearray(path.read_bytes())
    start = len(content) // 2
    content[start:-8] = bytes(len(content) - start - 8)
    path.write_bytes(content)


@pytest.mark.parametrize("harm", [truncate, garble, empty, Path.unlink])
@pytest.mark.parametrize("name", ["manifest.json", "schema.json", "partitions/*/data/*.parquet"])
def test_a_damaged_store_says_so_and_is_left_as_it_is(tmp_path, name, harm):
    fill(tmp_path, 50)
    fill(tmp_path, 50, start=50)
    path = max(collection(tmp_path).glob(name))
    harm(path)
    before = contents(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreDamagedError) as error:
            opened(tmp_path)
        message = str(error.value)
        assert str(tmp_path / "store.db") in message
        assert "repair" not in message  # whoever opens it says what becomes of it
        assert "\n" not in message
    assert before == contents(tmp_path)


def test_a_data_file_with_a_broken_footer_is_damage(tmp_path):
    fill(tmp_path, 50)
    [path] = collection(tmp_path).glob("partitions/*/data/*.parquet")
    swap_footer(path)
    with pytest.raises(StoreDamagedError, match="does not open"):
        opened(tmp_path)


def test_a_missing_tombstone_file_is_damage_and_not_a_chunk_come_back(tmp_path):
    fill(tmp_path, 5)
    store = opened(tmp_path)
    store.delete(["00000001"])
    store.close()
    [path] = collection(tmp_path).glob("partitions/*/delta/*.parquet")
    path.unlink()
    with pytest.raises(StoreDamagedError, match="is missing"):
        opened(tmp_path)


def test_a_file_where_the_directory_should_be_is_damage(tmp_path):
    (tmp_path / "store.db").write_bytes(b"SQLite format 3\0")
    with pytest.raises(StoreDamagedError, match="is a file"):
        opened(tmp_path)


def test_rows_that_ragloom_did_not_write_are_damage(tmp_path):
    fill(tmp_path, 1)
    from milvus_lite import MilvusLite

    with MilvusLite(str(tmp_path / "store.db")) as engine:
        [name] = engine.list_collections()
        engine.get_collection(name).insert(
            [{"id": "x", "uri": "", "text": "", "extra": "{", "vector": [0.0] * DIMENSION}]
        )
    store = opened(tmp_path)
    with pytest.raises(StoreDamagedError, match="the row 'x' is not a chunk"):
        list(store.scan())
    store.close()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_store_that_may_not_be_written_is_not_called_damaged(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError) as error:
            opened(tmp_path)
        assert type(error.value) is StoreError
    finally:
        tmp_path.chmod(0o700)


def contents(directory: Path) -> dict[str, bytes]:
    """Every file but the lock, which says who holds it."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != "LOCK"
    }


# ── loading ─────────────────────────────────────────────────────────────────────────────────


def test_the_plugin_itself_loads_nothing_heavy_and_milvus_lite_not_pymilvus(tmp_path):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "import ragloom_milvus\n"
        "heavy = {'pymilvus', 'milvus_lite', 'pyarrow', 'grpc', 'pandas'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "[provider] = ragloom_milvus.ragloom_stores()\n"
        "store = provider.create(ragloom_milvus.MilvusOptions())\n"
        "store.open(space='docs', dimension=8, directory=Path(sys.argv[1]))\n"
        "store.close()\n"
        "assert not {'pymilvus', 'pandas', 'grpc'} & set(sys.modules)\n"
    )
    assert python(code, str(tmp_path)).wait() == 0


@pytest.mark.parametrize(
    ("module", "uri", "package"),
    [("milvus_lite", "", "milvus-lite"), ("pymilvus", "http://127.0.0.1:1", "pymilvus")],
)
def test_a_missing_package_is_named_with_its_pip_line(monkeypatch, tmp_path, module, uri, package):
    monkeypatch.setitem(sys.modules, module, None)
    [provider] = ragloom_stores()
    store = provider.create(MilvusOptions(uri=uri))
    with pytest.raises(MissingDependencyError) as error:
        store.open(space="docs", dimension=8, directory=tmp_path)
    assert (package, "ragloom[milvus]") == (error.value.package, error.value.extra)


def test_no_threads_stay_after_closing(tmp_path):
    before = set(threading.enumerate())  # some of which may end meanwhile
    fill(tmp_path, 10)
    assert set() == set(threading.enumerate()) - before


def test_a_collection_of_a_newer_format_is_named_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as newer:
        said = "ragloom format 2, release 9.1"
        newer.setattr("ragloom_milvus._lite.format_description", lambda: said)
        fill(tmp_path, 3)
    with pytest.raises(
        StoreError, match=r"newer ragloom wrote it \(release 9\.1, format 2"
    ) as caught:
        opened(tmp_path)
    assert not isinstance(caught.value, StoreDamagedError)
    monkeypatch.setattr("ragloom_milvus._rows.FORMAT", 2)
    store = opened(tmp_path)
    assert 3 == store.count()
    store.close()

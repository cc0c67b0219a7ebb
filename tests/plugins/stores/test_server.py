"""What is particular to a Milvus server."""

from __future__ import annotations

import socket
import threading
import time

import numpy as np
import pytest

from ragloom import StoreError
from ragloom.stores import parse_condition

pytest.importorskip("pymilvus", reason="pymilvus is not installed")

from ragloom_milvus import MilvusOptions
from ragloom_milvus.store import MilvusServerStore

pytestmark = pytest.mark.server


@pytest.fixture(params=["milvus_lite_server", "milvus_server"])
def store(request, tmp_path):
    one = MilvusServerStore(
        MilvusOptions(uri=request.getfixturevalue(request.param), collection="server_tests")
    )
    one.open(space=request.node.originalname, dimension=4, directory=tmp_path)
    yield one
    one.drop()
    one.close()


def test_a_server_that_does_not_answer_is_one_line_and_in_time(tmp_path, capfd):
    import pymilvus  # noqa: F401 - its loading is not what takes time here

    with socket.create_server(("127.0.0.1", 0)) as silent:  # it listens, and never says a word
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        with pytest.raises(StoreError) as error:
            MilvusServerStore(MilvusOptions(uri=uri, timeout=1.0)).open(
                space="x", dimension=4, directory=tmp_path
            )
    assert time.monotonic() - began < 25  # less than the 30 s that are the default
    assert str(error.value).startswith(f"the Milvus server {uri} does not answer: ")
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


@pytest.fixture
def cut_once(milvus_lite_server):
    """The address of a server that closes the first connection at its first byte."""
    port = int(milvus_lite_server.rpartition(":")[2])
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        first, _ = listener.accept()
        first.recv(1)
        first.close()
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", port))
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=pass_on, args=(source, target), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def pass_on(source, target):
    try:
        while data := source.recv(65_536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_a_connection_that_is_cut_off_is_tried_again(cut_once, tmp_path):
    store = MilvusServerStore(MilvusOptions(uri=cut_once, collection="cut_once"))
    store.open(space="x", dimension=4, directory=tmp_path)
    assert store.count() == 0
    store.drop()
    store.close()


def test_more_rows_than_one_answer_holds_are_scanned_in_order(store, make_chunk):
    names = [f"{number:08d}" for number in range(17_000)]
    vectors = np.ones((17_000, 4), dtype=np.float32)
    store.upsert([make_chunk(name) for name in names], vectors)
    assert store.count() == 17_000
    found = [chunk.id for chunks, _ in store.scan() for chunk in chunks]
    assert names == found
    # Beyond the limit of one search, every chunk is looked at.
    last = store.search(vectors[0], limit=16_999)
    assert names[:16_999] == [name for name, _ in last]
    store.delete(names)
    assert store.count() == 0


def test_fields_that_are_too_long_are_refused_before_anything_is_written(store, make_chunk, unit):
    good = make_chunk("good")
    for field, chunk in {
        "text": make_chunk("long", text="\u00fc" * 32_768),
        "uri": make_chunk("long", uri="x" * 65_536),
        "extra": make_chunk("long", metadata={"k": "x" * 65_000 + "\u00fc" * 500}),
        "id": make_chunk("x" * 257),
    }.items():
        with pytest.raises(StoreError, match=rf"its {field} has .* bytes.*nothing was written"):
            store.upsert([good, chunk], unit((1,), (0, 1)))
    assert store.count() == 0
    longest = make_chunk("fits", text="\u00fc" * 32_767)
    store.upsert([longest], unit((1,)))
    [(chunks, _)] = store.scan()
    assert [longest] == list(chunks)


def test_a_filter_that_the_server_cannot_narrow_is_still_answered(store, make_chunk, unit):
    count = 300
    store.upsert(
        [
            make_chunk(f"{row:04d}", metadata={"k": 'a"b' if row == 299 else "no"})
            for row in range(count)
        ],
        unit(*[(1, row / count) for row in range(count)]),
    )
    store._rows.most = 64
    query = unit((1,))[0]
    found = store.search(query, limit=2, where=[parse_condition('k=a"b')])
    assert ["0299"] == [name for name, _ in found]


def test_another_dimension_and_a_strangers_collection_are_refused(
    store, tmp_path, make_chunk, unit
):
    import pymilvus

    store.upsert([make_chunk("a")], unit((1,)))
    uri, space = store._uri, "test_another_dimension_and_a_strangers_collection_are_refused"
    other = MilvusServerStore(MilvusOptions(uri=uri, collection="server_tests"))
    with pytest.raises(StoreError, match="vectors of 4 numbers"):
        other.open(space=space, dimension=3, directory=tmp_path)
    from ragloom_milvus._rows import collection_name

    client = pymilvus.MilvusClient(uri=uri)
    name = collection_name("server_tests", "stranger") + "_shards"
    client.create_collection(name, dimension=4)
    try:
        with pytest.raises(StoreError, match="was not made by ragloom"):
            other.open(space="stranger", dimension=4, directory=tmp_path)
    finally:
        client.drop_collection(name)
        client.close()


def test_a_search_sees_what_was_just_written_and_not_what_was_deleted(store, make_chunk, unit):
    query = unit((1,))[0]
    for round_ in range(3):
        name = f"chunk {round_}"
        store.upsert([make_chunk(name)], unit((1,)))
        assert [name] == [found for found, _ in store.search(query, limit=5)]
        assert [name] == [found for found, _ in store.search(query, limit=5)]
        store.delete([name])
        assert list(store.search(query, limit=5)) == []


def test_a_collection_of_a_newer_format_is_named_and_left_alone(
    store, tmp_path, make_chunk, unit, monkeypatch
):
    options = MilvusOptions(uri=store._uri, collection="newer_tests")
    other = MilvusServerStore(options)
    with monkeypatch.context() as newer:
        said = "ragloom format 2, release 9.1"
        newer.setattr("ragloom_milvus._schema.format_description", lambda: said)
        newer.setattr("ragloom_milvus._rows.FORMAT", 2)
        other.open(space="newer", dimension=4, directory=tmp_path)
    try:
        other.upsert([make_chunk("a")], unit((1,)))
        with pytest.raises(StoreError, match=r"newer ragloom wrote it \(release 9\.1, "):
            MilvusServerStore(options).open(space="newer", dimension=4, directory=tmp_path)
        assert 1 == other.count()
    finally:
        other.drop()
        other.close()

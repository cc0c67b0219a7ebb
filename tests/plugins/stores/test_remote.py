"""Machines that have only the address of a server, and machines that share one."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from ragloom import ConfigError, NotIndexedError, PluginHost, SpaceGroup, StoreError, Workspace
from ragloom.config import Component, Settings, SpaceSettings
from ragloom.testing.fakes import hashing_provider

pytest.importorskip("pymilvus", reason="pymilvus is not installed")
pytest.importorskip("pyromark", reason="the example docs are Markdown")

pytestmark = pytest.mark.server

QUERIES = [
    "log levels and error handling in a service",
    "dashboards",
    "how are traces correlated with logs?",
    "metrics",
    "profiling a service",
]


@pytest.fixture
def make_space(make_plugin):
    """A space of a folder whose chunks are on a server, as a process of its own would open it."""
    import ragloom_formats
    import ragloom_local
    import ragloom_markdown
    import ragloom_milvus

    opened = []

    def make(root, uri, *, collection, name="docs", store="milvus", **settings):
        root.mkdir(exist_ok=True)
        host = PluginHost(
            {
                "formats": ragloom_formats,
                "hashing": make_plugin(embedders=[hashing_provider()]),
                "local": ragloom_local,
                "markdown": ragloom_markdown,
                "milvus": ragloom_milvus,
            }
        )
        options = {"uri": uri, "collection": collection} if store == "milvus" else {}
        chosen = SpaceSettings(
            embedder=Component(name="hashing"),
            store=Component(name=store, options=options),
            **settings,
        )
        workspace = Workspace(root, settings=Settings(defaults=chosen), host=host)
        opened.append(workspace.space(name))
        return opened[-1]

    yield make
    for space in opened:
        space.close()


@pytest.fixture
def documents(tmp_path, root):
    """The example documents, as the folder of a machine."""
    folder = tmp_path / "machine"
    shutil.copytree(root / "examples" / "docs" / "observability", folder)
    return folder


def found(space, query, **choices):
    return [hit.chunk.id for hit in space.search(query, min_relevance=0.0, **choices).hits]


def test_a_machine_with_the_address_alone_finds_what_the_index_does(
    make_space, documents, tmp_path, milvus_lite_server
):
    writer = make_space(documents, milvus_lite_server, collection="alone")
    writer.index()
    remote = make_space(tmp_path / "away", milvus_lite_server, collection="alone", read="remote")
    for query in QUERIES:
        here, away = writer.search(query, top_k=10), remote.search(query, top_k=10)
        assert bool(here.hits) == bool(away.hits), query
        expected = found(writer, query, top_k=10)
        assert len(set(expected) & set(found(remote, query, top_k=10))) >= 9, query
        assert expected[0] == found(remote, query, top_k=10)[0]
        assert not away.checked
    hit = remote.search("dashboards", min_relevance=0.0).hits[0]
    known = writer.snapshot().files[hit.chunk.uri]
    assert hit.content_hash == known.content_hash
    assert writer.search("dashboards", min_relevance=0.0).hits[0].chunk == replace(
        hit.chunk, key=""
    )

    where = ["path under pillars"]
    narrowed = found(remote, "metrics", top_k=10, where=where)
    assert set(narrowed) == set(found(writer, "metrics", top_k=10, where=where))
    for mode in ("dense", "lexical", "rrf"):
        assert found(writer, "metrics", mode=mode)[0] == found(remote, "metrics", mode=mode)[0]
    context = remote.context("metrics", max_tokens=400, min_relevance=0.0)
    assert not context.checked
    assert {one.content_hash for one in context.citations} <= {
        entry.content_hash for entry in writer.snapshot().files.values()
    }
    assert context.citations
    assert not (tmp_path / "away" / ".ragloom").exists()

    # Of words that other machines write in one, or otherwise, no question is asked.
    for query in (
        "dash boards",
        "time stamp",
        "dashboardz",
        "log in",
        "logfile",
        "השרת",
        "数据库什么时候备份",
        "what does README.md say?",
    ):
        assert found(remote, query), query

    # The command line marks the words of a query, and explains.
    from ragloom.cli._passages import QueryWords

    words = QueryWords.of("metrics", remote.snapshot().lexical)
    assert words.weights == QueryWords.of("metrics", writer.snapshot().lexical).weights
    assert remote.explain("metrics").candidates
    assert 0 == remote.status().chunks

    # Where the files are, a hit is compared with its file.
    shutil.copytree(documents, tmp_path / "beside", ignore=shutil.ignore_patterns(".ragloom"))
    beside = make_space(tmp_path / "beside", milvus_lite_server, collection="alone", read="remote")
    same = beside.search("dashboards", min_relevance=0.0).hits[0]
    (tmp_path / "beside" / same.chunk.uri).write_text("gone", "utf-8")
    assert same.chunk.id not in found(beside, "dashboards")
    writer.drop()
    with pytest.raises(NotIndexedError):
        make_space(tmp_path / "b", milvus_lite_server, collection="alone", read="remote").snapshot()


@pytest.mark.slow
def test_two_machines_never_touch_each_others_rows(make_space, tmp_path, milvus_lite_server):
    moments = random.Random(4)
    roots = [tmp_path / "one", tmp_path / "two"]
    spaces = [make_space(root, milvus_lite_server, collection="shared") for root in roots]

    def rows(space):
        store = space.new_store()
        store.open(space=space.name, dimension=64, directory=space.directory / "store")
        held = [chunk for chunks, _ in store.scan() for chunk in chunks]
        records = dict(store.get_records(["manifest", "statistics"]))
        store.close()
        return held, records

    for step in range(10):
        at = step % 2
        mine, other = spaces[at], spaces[1 - at]
        before = rows(other) if step else None
        for number in moments.sample(range(4), 2):
            path = roots[at] / f"note{number}.md"  # the other has files of these names, too
            if path.exists() and moments.random() < 0.3:
                path.unlink()
            else:
                path.write_text(f"# Note {number}\n\nAlpha {step} of machine {at}.\n", "utf-8")
        (roots[at] / "same.md").write_text("# Same\n\nAlpha in both.\n", "utf-8")
        mine.index()
        if before is not None:
            assert before == rows(other)
    chunks = [sorted(space.snapshot().ids.astype(str).tolist()) for space in spaces]
    for space, own in zip(spaces, chunks, strict=True):
        assert own == sorted(chunk.id for chunk in rows(space)[0])
        assert sorted(found(space, "alpha", top_k=50, per_file=0)) <= own
    third = make_space(tmp_path / "third", milvus_lite_server, collection="shared", read="remote")
    assert sorted(third.snapshot().shards.values()) == sorted(map(len, chunks))
    texts = {hit.chunk.text for hit in third.search("alpha", min_relevance=0.0, top_k=50).hits}
    assert texts == {chunk.text for space in spaces for chunk in rows(space)[0]}
    spaces[0].drop()
    assert chunks[1] == sorted(chunk.id for chunk in rows(spaces[1])[0])
    spaces[1].drop()


def test_an_older_server_is_named_and_still_answers_by_vectors(
    make_space, documents, tmp_path, milvus_server
):
    writer = make_space(documents, milvus_server, collection="older")
    writer.index()
    assert writer.native() is not None
    assert found(writer, "metrics", mode="dense")
    remote = make_space(tmp_path / "away", milvus_server, collection="older", read="remote")
    with pytest.raises(
        StoreError, match=r"does not search by words: it takes Milvus 2\.5 or newer"
    ):
        remote.search("metrics")
    writer.drop()


def test_a_store_that_keeps_only_is_refused(make_space, tmp_path):
    space = make_space(tmp_path / "a", "", collection="x", store="sqlite", read="remote")
    with pytest.raises(ConfigError, match="does not answer alone"):
        space.search("metrics")


def test_a_server_that_is_down_is_one_line(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "ragloom", "-C", str(tmp_path), "search", "metrics"],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ)
        | {
            "RAGLOOM_STORE": "milvus",
            "RAGLOOM_STORE_URI": "http://127.0.0.1:9",
            "RAGLOOM_STORE_TIMEOUT": "1",
            "RAGLOOM_READ": "remote",
        },
    )
    assert (1, "") == (done.returncode, done.stdout)
    [line] = done.stderr.strip().splitlines()
    assert line.startswith("error: the Milvus server http://127.0.0.1:9 does not answer")


def test_several_spaces_are_asked_at_once(make_space, documents, tmp_path, milvus_lite_server):
    for name in ("a", "b", "c"):
        make_space(documents, milvus_lite_server, collection="several", name=name).index()
    away = tmp_path / "away"
    spaces = [
        make_space(away, milvus_lite_server, collection="several", name=name, read="remote")
        for name in ("a", "b", "c")
    ]
    alone = [one.search("metrics", min_relevance=0.0, top_k=3).hits for one in spaces]
    running, most, turn = 0, 0, threading.Lock()
    for space in spaces:
        store = space.snapshot().store

        def find(*given, _find=store.find, **choices):
            nonlocal running, most
            with turn:
                running += 1
                most = max(most, running)
            time.sleep(0.2)
            try:
                return _find(*given, **choices)
            finally:
                with turn:
                    running -= 1

        store.find = find
    group = SpaceGroup(spaces)
    hits = group.search("metrics", min_relevance=0.0, top_k=9).hits
    assert 3 == most
    assert {hit.chunk.text for hit in hits} >= {hit.chunk.text for hit in alone[0]}

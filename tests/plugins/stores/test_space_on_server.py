"""A whole space whose chunks are on a Milvus server, which answers the searches itself."""

from __future__ import annotations

import shutil

import pytest

from ragloom import PluginHost, SearchableStore, Space, Workspace
from ragloom.config import Component, Settings, SpaceSettings
from ragloom.indexing.store_sync import answers_for
from ragloom.stores.filters import parse_condition
from ragloom.testing.fakes import hashing_provider

pytest.importorskip("pymilvus", reason="pymilvus is not installed")
pytest.importorskip("pyromark", reason="the example docs are Markdown")

pytestmark = pytest.mark.server

QUERY = "log levels and error handling in a service"


@pytest.fixture
def open_space(tmp_path, root, make_plugin):
    """The same files, with the store of one's choice, as a fresh process would open them."""
    import ragloom_local
    import ragloom_markdown
    import ragloom_milvus

    folder = tmp_path / "files"
    shutil.copytree(root / "examples" / "docs" / "observability", folder)

    def make(name, root=folder, **options):
        host = PluginHost(
            {
                "hashing": make_plugin(embedders=[hashing_provider()]),
                "local": ragloom_local,
                "markdown": ragloom_markdown,
                "milvus": ragloom_milvus,
            }
        )
        settings = SpaceSettings(
            embedder=Component(name="hashing"), store=Component(name=name, options=options)
        )
        workspace = Workspace(root, settings=Settings(defaults=settings), host=host)
        return workspace.space(f"on-{name}")

    return make


def answers(space):
    """Whether the server holds what the snapshot does, so that it is asked."""
    store = space.new_store()
    snapshot = space.snapshot()
    files = space.directory / "store"
    store.open(space=space.name, dimension=snapshot.meta.dimension, directory=files)
    store._rows._behind = True  # what others wrote just now counts, too
    answers = answers_for(store, snapshot)
    store.close()
    return answers


@pytest.mark.parametrize("server", ["milvus_lite_server", "milvus_server"])
def test_the_server_answers_as_the_snapshot_does(open_space, request, server, tmp_path):
    uri = request.getfixturevalue(server)
    options = {"uri": uri, "collection": f"space_{server}"}
    with open_space("sqlite") as local:
        local.index()
        expected = local.search(QUERY, min_relevance=0.0, top_k=8).hits
        where = [parse_condition("path under pillars")]
        filtered = local.search(QUERY, min_relevance=0.0, top_k=8, where=where).hits

    with open_space("milvus", **options) as space:
        assert space.index().embedded == len(local.snapshot())
        assert isinstance(space.store, SearchableStore)
        found = space.search(QUERY, min_relevance=0.0, top_k=8).hits
        assert [hit.chunk.id for hit in found] == [hit.chunk.id for hit in expected]
        narrowed = space.search(QUERY, min_relevance=0.0, top_k=8, where=where).hits
        assert [hit.chunk.id for hit in narrowed] == [hit.chunk.id for hit in filtered]

    path = local.workspace.root / "pillars" / "logging.md"
    path.write_text("# Zebras\n\nA zebra crossed the road.\n", "utf-8")
    with open_space("milvus", **options) as space:
        assert space.index().updated == ("pillars/logging.md",)
        best = space.search("zebra crossed", min_relevance=0.0).hits[0]
        assert best.chunk.uri == "pillars/logging.md"

        chunks = len(space.snapshot())

    # Another machine, without a snapshot, takes the vectors from the server, or makes all from it.
    for make in (Space.index, Space.repair):
        shutil.rmtree(local.workspace.root / ".ragloom")
        with open_space("milvus", **options) as space:
            make(space)
            assert len(space.snapshot()) == chunks
            again = space.search("zebra crossed", min_relevance=0.0).hits[0]
            assert again.chunk.id == best.chunk.id
            assert space.index().embedded == 0
            assert answers(space)

    # Another machine, with other files, writes to the same server: each has its own rows.
    with open_space("milvus", **options) as space:
        expected = space.search(QUERY, min_relevance=0.0, top_k=8).hits
        elsewhere = tmp_path / "elsewhere"
        shutil.copytree(local.workspace.root / "pillars", elsewhere / "pillars")
        other = open_space("milvus", **options, root=elsewhere)
        report = other.index()
        assert (report.embedded, report.reused) == (0, report.chunks)
        assert answers(other)
        assert answers(space)
        assert space.search(QUERY, min_relevance=0.0, top_k=8).hits == expected
        other.drop()
        assert answers(space)
        space.drop()

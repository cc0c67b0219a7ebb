"""Two machines, each with files and snapshots of its own, and one store for both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from ragloom import Chunk, Condition, PluginHost, Provider, Space, StoreError, Workspace
from ragloom.config.settings import Component, Settings, SpaceSettings
from ragloom.protocols import Embeddings
from ragloom.stores import search_exactly
from ragloom.testing.fakes import HashingEmbedder, HashingOptions
from ragloom.testing.fixtures import MakePlugin

pytest.importorskip("pyromark")

from ragloom_local.sqlite import SqliteStore

Machine = Callable[..., Space]
MARKS = 100  # that may be looked for
STORED = 300  # chunks: so many that a run asks the store before it embeds them


class Native(SqliteStore):
    """SQLite that searches are sent to, as to a Milvus server."""

    searched = 0

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """The nearest; the searches of all objects are counted, but for those that look for marks."""
        assert not where  # which may cost a look at every row
        type(self).searched += limit > MARKS
        return search_exactly(self.scan(), vector, limit=limit)

    def put_records(self, records: Mapping[str, str]) -> None:
        """Keep texts in a file beside the database."""
        known = {name: text for name, text in (self._kept() | dict(records)).items() if text}
        self._place().write_text(json.dumps(known), "utf-8")

    def get_records(self, names: Sequence[str]) -> Mapping[str, str]:
        """Those that are there."""
        return {name: text for name, text in self._kept().items() if name in names}

    def drop(self) -> None:
        """The records, too."""
        super().drop()
        self._place().unlink(missing_ok=True)

    def _kept(self) -> dict[str, str]:
        place = self._place()
        return dict(json.loads(place.read_text("utf-8"))) if place.exists() else {}

    def _place(self) -> Path:
        return Path(f"{self._path}.records")


class Unreachable(Native):
    """A server that is down."""

    def open(self, **_: object) -> None:
        """Fails."""
        raise StoreError("the server does not answer")


class Opposite(HashingEmbedder):
    """Another model whose vectors have as many numbers."""

    fingerprint = "opposite"

    def _embed(self, text: str) -> Embeddings:
        return -super()._embed(text)


@pytest.fixture
def machine(tmp_path: Path, make_plugin: MakePlugin) -> Iterator[Machine]:
    """A function that opens the space ``docs`` on a machine, as a fresh process would."""
    import ragloom_markdown
    import ragloom_text

    opened: list[Space] = []

    def make(
        name: str,
        store: type[SqliteStore] = Native,
        embedder: type[HashingEmbedder] = HashingEmbedder,
        dimension: int = 64,
    ) -> Space:
        shared = str(tmp_path / "shared.sqlite3")
        plugin = make_plugin(
            embedders=[
                Provider(
                    name="hashing", summary="for tests", create=embedder, options=HashingOptions
                )
            ],
            stores=[
                Provider(name="shared", summary="for tests", create=lambda _: store(path=shared))
            ],
        )
        host = PluginHost({"test": plugin, "markdown": ragloom_markdown, "text": ragloom_text})
        settings = SpaceSettings(
            embedder=Component(name="hashing", options={"dimension": dimension}),
            store=Component(name="shared"),
        )
        root = tmp_path / name
        root.mkdir(exist_ok=True)
        workspace = Workspace(root, settings=Settings(defaults=settings), host=host)
        opened.append(workspace.space("docs"))
        return opened[-1]

    yield make
    for space in opened:
        space.close()


def write(space: Space, **texts: str) -> None:
    """Write files on a machine."""
    for name, text in texts.items():
        (space.workspace.root / f"{name}.md").write_text(text, "utf-8")


def found(space: Space, query: str = "alpha") -> list[str]:
    """The files that answer a query by meaning."""
    hits = space.search(query, min_relevance=0.0, mode="dense", top_k=50).hits
    return sorted(hit.chunk.uri for hit in hits)


def asked(space: Space) -> bool:
    """Whether the store was asked."""
    before = Native.searched
    found(space)
    return Native.searched > before


@pytest.mark.parametrize("store", [SqliteStore, Native])
def test_a_second_machine_embeds_only_what_the_first_has_not(
    machine: Machine, store: type[SqliteStore]
) -> None:
    texts = {f"note{number}": f"alpha {number}" for number in range(STORED)}
    write(machine("one"), **texts)
    write(machine("two"), **texts, another="alpha of its own")
    assert machine("one", store).index().embedded == STORED

    report = machine("two", store).index()

    assert (report.embedded, report.reused, report.chunks) == (1, STORED, STORED + 1)
    assert len(machine("two", store).snapshot()) == STORED + 1
    assert machine("two", store).verify().exact == STORED + 1


@pytest.mark.parametrize("store", [SqliteStore, Native])
def test_a_later_run_takes_many_vectors_from_the_store_too(
    machine: Machine, store: type[SqliteStore]
) -> None:
    for name in ("one", "two"):
        write(machine(name), first="alpha")
        machine(name, store).index()
    more = {f"note{number}": f"alpha {number}" for number in range(STORED)}
    for name, embedded in (("one", STORED), ("two", 0)):
        write(machine(name), **more)
        report = machine(name, store).index()
        assert (report.embedded, report.reused) == (embedded, STORED - embedded)


@pytest.mark.parametrize("store", [SqliteStore, Native])
def test_two_machines_with_other_files_do_not_break_each_others_searches(
    machine: Machine, store: type[SqliteStore]
) -> None:
    write(machine("one"), common="alpha", mine="alpha one", edited="alpha before")
    write(machine("two"), common="alpha", yours="alpha two", edited="alpha after")
    one, two = ["common.md", "edited.md", "mine.md"], ["common.md", "edited.md", "yours.md"]
    reader = machine("one", store)
    for number in range(3):
        report = machine("one", store).index()
        assert report.embedded == (1 if number else 3)
        assert found(reader) == found(machine("one", store)) == one
        write(machine("two"), yours=f"alpha two, edited for the {number}th time")
        machine("two", store).index()
        assert found(machine("two", store)) == two
        assert found(reader) == found(machine("one", store)) == one
        write(machine("one"), mine=f"alpha one, edited for the {number}th time")
    for folder in machine("two").directory.glob("gen-*"):
        folder.rename(folder.with_name(f"lost-{folder.name}"))

    report = machine("two", store).index()

    assert (report.embedded, report.reused) == (0, 3)
    assert found(machine("two", store)) == two


def test_the_store_is_asked_by_those_whose_chunks_it_holds(machine: Machine) -> None:
    for name in ("one", "two"):
        write(machine(name), common="alpha")
        machine(name).index()
    reader = machine("one")
    assert asked(reader)
    assert asked(machine("two"))

    write(machine("two"), yours="alpha two")
    machine("two").index()

    assert asked(machine("two"))
    assert not asked(reader)  # which has been open since before
    assert not asked(machine("one"))
    assert found(reader) == ["common.md"]

    write(machine("one"), yours="alpha two")
    machine("one").index()

    assert asked(reader)


def test_a_second_machine_with_the_same_files_writes_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        write(machine(name), common="alpha", more="alpha beta")
    machine("one").index()

    def refuse(*_: object, **_options: object) -> None:
        raise AssertionError("nothing is to be written")

    for write_method in ("upsert", "delete", "drop"):
        monkeypatch.setattr(SqliteStore, write_method, refuse)

    assert machine("two").index().reused == 2

    assert asked(machine("one"))
    assert asked(machine("two"))


def test_what_another_run_did_not_finish_is_not_trusted(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        write(machine(name), common="alpha")
        machine(name).index()
    write(machine("two"), yours="alpha two")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Native, "put_records", interrupt)
        with pytest.raises(KeyboardInterrupt):
            machine("two").index()
    assert asked(machine("one"))  # nothing was written yet
    with monkeypatch.context() as patch:
        patch.setattr(Native, "upsert", interrupt)
        with pytest.raises(KeyboardInterrupt):
            machine("two").index()

    assert not asked(machine("one"))
    assert found(machine("one")) == ["common.md"]
    assert machine("two").index().chunks == 2
    assert asked(machine("two"))


def test_two_runs_at_the_same_moment_leave_no_false_record(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(machine("one"), mine="alpha one")
    write(machine("two"), yours="alpha two")
    real, runs = Native.upsert, [machine("two")]

    def upsert(store: Native, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        real(store, chunks, vectors)
        if runs:
            runs.pop().index()

    with monkeypatch.context() as patch:
        patch.setattr(Native, "upsert", upsert)
        machine("one").index()
    for name, file in (("one", "mine.md"), ("two", "yours.md")):
        assert not asked(machine(name))
        assert [file] == found(machine(name))


def test_a_row_that_marks_what_is_there_is_no_chunk(machine: Machine) -> None:
    write(machine("one"), common="alpha", mine="alpha one")
    machine("one").index()
    for folder in machine("one").directory.glob("gen-*"):
        folder.rename(folder.with_name("lost"))

    assert machine("one").repair() == 2
    assert found(machine("one")) == ["common.md", "mine.md"]
    assert machine("one").index().embedded == 0
    assert asked(machine("one"))
    assert machine("one").repair() == 2
    assert asked(machine("one"))


def test_another_model_on_another_machine_is_never_mixed_in(machine: Machine) -> None:
    for name in ("one", "two"):
        write(machine(name), common="alpha", mine="alpha beta")
    machine("one").index()

    assert machine("two", embedder=Opposite).index().embedded == 2

    assert not asked(machine("one"))
    write(machine("one"), more="alpha gamma")
    assert machine("one").index().embedded == 1
    snapshot = machine("one").snapshot()
    vectors = snapshot.vectors(np.arange(len(snapshot)))
    expected = HashingEmbedder().embed_passages(["alpha", "alpha beta", "alpha gamma"])
    np.testing.assert_allclose(sorted(vectors.tolist()), sorted(expected.tolist()), atol=1e-6)


def test_a_model_of_another_dimension_stops_a_run_and_no_search(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("one", "two"):
        write(machine(name), common="alpha")
        machine(name).index()
    assert machine("two", dimension=32).index().embedded == 1

    assert found(machine("one")) == ["common.md"]
    (warning,) = caplog.messages
    assert warning.endswith("the snapshot answers instead")
    write(machine("one"), mine="alpha one")
    with pytest.raises(StoreError, match="holds vectors of 32 numbers"):
        machine("one").index()
    assert found(machine("one")) == ["common.md"]


def test_a_server_that_is_down_stops_no_search(
    machine: Machine, caplog: pytest.LogCaptureFixture
) -> None:
    write(machine("one"), common="alpha")
    machine("one").index()

    assert found(machine("one", Unreachable)) == ["common.md"]
    assert caplog.messages == ["docs: the server does not answer; the snapshot answers instead"]


class Failing(Native):
    """A server that is there, and fails while it searches."""

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """Finds the marks, and then fails."""
        if limit > MARKS:
            raise StoreError("the server has no memory")
        return super().search(vector, limit=limit, where=where)


@pytest.mark.parametrize("where", [[], ["path under common.md"]])
def test_a_server_that_fails_while_it_searches_leaves_the_answer_to_the_snapshot(
    machine: Machine, caplog: pytest.LogCaptureFixture, where: list[str]
) -> None:
    write(machine("one"), common="alpha", mine="alpha one", other="beta")
    machine("one").index()
    space = machine("one", Failing)

    def hits(of: Space) -> list[tuple[str, float]]:
        result = of.search("alpha", min_relevance=0.0, where=where)
        return [(hit.chunk.uri, round(hit.score, 6)) for hit in result.hits]

    expected = hits(machine("one", Unreachable))
    caplog.clear()
    assert expected == hits(space)
    assert caplog.messages == ["docs: the server has no memory; the snapshot answers instead"]
    assert expected == hits(space)  # it is opened again

"""What is lost of an index is made again from what is left: nothing is embedded, nothing is deleted."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ragloom import NotIndexedError, Space, StoreDamagedError
from ragloom.protocols import Embeddings
from ragloom.snapshot import GenerationWriter, current_generation
from ragloom.testing.fakes import HashingEmbedder

MakeSpace = Callable[..., Space]

POINTERS: dict[str, bytes | None] = {
    "lost": None,
    "emptied": b"",
    "garbage": b"\x00\xff\xfe" * 5,
    "no number": b"gen-",
    "another folder": b"../notes",
    "a damaged one": b"gen-000001.damaged-20200101-000000",
}


def damage_pointer(directory: Path, content: bytes | None) -> None:
    """Lose ``CURRENT``, or overwrite it."""
    (directory / "CURRENT").unlink()
    if content is not None:
        (directory / "CURRENT").write_bytes(content)


def found(space: Space) -> list[str]:
    """The texts that a search finds."""
    return [hit.chunk.text for hit in space.search("alpha storage", min_relevance=0.0).hits]


def overwrite(folder: Path) -> None:
    """Every file in a folder is garbage; the generation before shares some of them."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        path.unlink()
        path.write_bytes(b"\x00garbage\xff" * 20)


def generation(directory: Path) -> Path:
    """The folder of the generation that answers."""
    return directory / f"gen-{current_generation(directory):06d}"


@pytest.fixture
def indexed(files: Path, make_space: MakeSpace) -> Path:
    """The folder of an index of two generations: the second has ``b.md``, too."""
    for name in ("a", "b"):
        (files / f"{name}.md").write_text(f"alpha storage {name}\n", "utf-8")
        make_space().index()
    return make_space().directory


@pytest.mark.parametrize("content", POINTERS.values(), ids=POINTERS)
def test_a_damaged_pointer_hides_nothing_and_the_next_run_writes_it_again(
    indexed: Path, make_space: MakeSpace, content: bytes | None
) -> None:
    before = found(make_space())
    assert len(before) == 2
    damage_pointer(indexed, content)

    assert found(make_space()) == before
    assert make_space().workspace.spaces() == ["notes"]
    assert make_space().status().generation == 2

    report = make_space().index()

    assert (report.unchanged, report.embedded, report.generation) == (2, 0, 2)
    assert (indexed / "CURRENT").read_bytes() == b"gen-000002\n"


def test_a_reader_that_is_open_goes_on_when_the_pointer_is_lost(
    indexed: Path, make_space: MakeSpace
) -> None:
    reader = make_space()
    before = found(reader)
    snapshot = reader.snapshot()

    (indexed / "CURRENT").unlink()

    assert found(reader) == before
    assert reader.snapshot() is snapshot


def test_without_a_pointer_the_newest_whole_generation_answers(
    indexed: Path, make_space: MakeSpace
) -> None:
    (indexed / "CURRENT").unlink()
    (indexed / "gen-000002" / "meta.json").write_bytes(b"")
    shutil.copytree(indexed / "gen-000001", indexed / "gen-000003.tmp")
    shutil.copytree(indexed / "gen-000001", indexed / "gen-000004.damaged-20200101-000000")

    assert found(make_space()) == ["alpha storage a"]

    report = make_space().index()  # the store has both

    assert (report.chunks, report.embedded) == (2, 0)
    assert len(found(make_space())) == 2


def test_killed_before_the_very_first_pointer_was_written(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "a.md").write_text("alpha storage\n", "utf-8")
    reader = make_space()
    with pytest.raises(NotIndexedError, match="run 'ragloom index'"):
        reader.search("alpha")

    replace = Path.replace

    def killed(path: Path, target: Path) -> Path:
        if target.name == "CURRENT":
            raise KeyboardInterrupt
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            make_space().index()

    assert found(reader) == ["alpha storage"]
    assert make_space().index().embedded == 0
    assert found(reader) == ["alpha storage"]


def test_a_pointer_without_any_generation_is_named(indexed: Path, make_space: MakeSpace) -> None:
    for folder in indexed.glob("gen-*"):
        shutil.rmtree(folder)

    with pytest.raises(StoreDamagedError, match=r"CURRENT is damaged .*'ragloom index'"):
        make_space().search("alpha")

    assert make_space().index().embedded == 0
    assert len(found(make_space())) == 2


@pytest.mark.parametrize("store", ["sqlite", "file"])
@pytest.mark.parametrize("lost", ["lost", "damaged"])
@pytest.mark.parametrize("action", ["repair", "index"])
def test_where_the_snapshot_and_the_store_are_lost_the_generation_before_answers(
    files: Path,
    make_space: MakeSpace,
    caplog: pytest.LogCaptureFixture,
    store: str,
    lost: str,
    action: str,
) -> None:
    for name in ("a", "b"):
        (files / f"{name}.md").write_text(f"alpha storage {name}\n", "utf-8")
        make_space(store=store).index()
    directory = make_space().directory
    if lost == "lost":
        shutil.rmtree(directory / "store")
        shutil.rmtree(directory / "gen-000002")
    else:
        overwrite(directory / "store")
        overwrite(directory / "gen-000002")

    if action == "repair":
        assert make_space(store=store).repair() == 1
        assert found(make_space(store=store)) == ["alpha storage a"]
        if lost == "damaged":
            assert sum("generation 1 of" in message for message in caplog.messages) == 1

    report = make_space(store=store).index()

    assert (report.added, report.embedded, report.chunks) == (("b.md",), 1, 2)
    assert report.generation == (3 if lost == "damaged" else 2)
    assert len(found(make_space(store=store))) == 2
    assert make_space(store=store).index().generation == report.generation
    aside = 1 if lost == "damaged" else 0
    assert len([*directory.glob("gen-000002.damaged-*")]) == aside
    assert len([*directory.glob("store.damaged-*")]) == aside


@pytest.mark.parametrize("first", ["index", "repair"])
@pytest.mark.parametrize("then", ["index", "repair"])
@pytest.mark.parametrize("lost", ["deleted", "damaged"])
def test_a_lost_generation_is_made_from_the_store_though_the_first_attempt_is_killed(
    indexed: Path,
    make_space: MakeSpace,
    monkeypatch: pytest.MonkeyPatch,
    first: str,
    then: str,
    lost: str,
) -> None:
    if lost == "deleted":
        shutil.rmtree(indexed / "gen-000002")
    else:
        (indexed / "gen-000002" / "files.json").write_bytes(b"")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(GenerationWriter, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            getattr(make_space(), first)()
    assert found(make_space()) == ["alpha storage a"]  # the generation before, meanwhile

    if then == "repair":
        assert make_space().repair() == 2
    report = make_space().index()

    assert (report.chunks, report.embedded) == (2, 0)
    assert report.generation > 2  # or readers that have the lost one open would take it to be that
    assert len(found(make_space())) == 2


def test_after_a_repair_from_the_generation_before_an_index_run_has_nothing_to_do(
    indexed: Path, files: Path, make_space: MakeSpace
) -> None:
    overwrite(generation(indexed))
    overwrite(indexed / "store")
    (files / "b.md").unlink()  # the files are those of the generation before

    assert make_space().repair() == 1
    assert make_space().index().generation == 1


@pytest.mark.parametrize("killed_at", ["drop", "upsert"])
def test_a_repair_that_is_killed_leaves_the_store_to_the_next_run(
    indexed: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    from ragloom_local.sqlite import SqliteStore

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SqliteStore, killed_at, killed)
        with pytest.raises(KeyboardInterrupt):
            make_space().repair()

    assert make_space().index().embedded == 0
    shutil.rmtree(generation(indexed))
    assert make_space().repair() == 2  # from the store alone


def test_rows_of_the_first_versions_have_no_key_and_are_used_all_the_same(
    indexed: Path, make_space: MakeSpace
) -> None:
    with sqlite3.connect(next(indexed.glob("store/*.sqlite3"))) as database:
        database.execute("UPDATE chunks SET extra = json_remove(extra, '$.key') WHERE uri = 'a.md'")
    next((indexed / "gen-000002").glob("*.columns")).write_bytes(b"")

    assert make_space().repair() == 2
    assert make_space().index().embedded == 0
    (generation(indexed) / "meta.json").unlink()
    assert make_space().index().embedded == 0  # they have one now


def test_going_back_never_leaves_in_the_store_what_was_lost(
    indexed: Path, files: Path, make_space: MakeSpace
) -> None:
    overwrite(generation(indexed))
    overwrite(indexed / "store")
    (files / "b.md").unlink()  # the files are those of the generation before

    report = make_space().index()

    assert (report.unchanged, report.chunks, report.embedded) == (1, 1, 0)
    for folder in indexed.glob("gen-*"):
        shutil.rmtree(folder)
    assert make_space().repair() == 1  # from the store alone


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\x00garbage"])
def test_a_lost_meta_json_of_the_only_generation_costs_no_embedding(
    files: Path, make_space: MakeSpace, content: bytes | None
) -> None:
    (files / "a.md").write_text("alpha storage\n", "utf-8")
    make_space().index()
    directory = make_space().directory
    (directory / "gen-000001" / "meta.json").unlink()
    if content is not None:
        (directory / "gen-000001" / "meta.json").write_bytes(content)

    assert make_space().index().embedded == 0
    assert found(make_space()) == ["alpha storage"]


class Opposite(HashingEmbedder):
    """Another model whose vectors have as many numbers."""

    fingerprint = "opposite"

    def _embed(self, text: str) -> Embeddings:
        return -super()._embed(text)


@pytest.mark.parametrize("action", ["index", "repair"])
def test_the_vectors_of_two_models_are_never_mixed(
    indexed: Path, files: Path, make_space: MakeSpace, action: str
) -> None:
    assert make_space(embedder=Opposite).index().embedded == 2
    (generation(indexed) / "meta.json").unlink()  # the one before says that it was the first model

    if action == "repair":
        make_space().repair()
    report = make_space().index()

    texts = [(files / name).read_text("utf-8").strip() for name in ("a.md", "b.md")]
    expected = HashingEmbedder().embed_passages(texts)
    assert report.chunks == 2
    snapshot = make_space().snapshot()
    vectors = snapshot.vectors(np.arange(2))
    np.testing.assert_allclose(sorted(vectors.tolist()), sorted(expected.tolist()), atol=1e-6)


@pytest.mark.parametrize("action", ["index", "repair"])
def test_what_becomes_of_a_damaged_store_is_said_in_one_line(
    indexed: Path,
    files: Path,
    make_space: MakeSpace,
    caplog: pytest.LogCaptureFixture,
    action: str,
) -> None:
    overwrite(indexed / "store")
    (files / "c.md").write_text("alpha storage c\n", "utf-8")

    report = make_space().index() if action == "index" else make_space().repair()

    assert report if action == "repair" else report.embedded == 1
    (message,) = caplog.messages
    (aside,) = indexed.glob("store.damaged-*")
    assert message.endswith(
        f"store.sqlite3 is damaged: file is not a database; quarantined as {aside} and rebuilt"
    )
    assert "repair" not in message


def test_a_damaged_store_that_lies_elsewhere_is_left_as_it_is(
    files: Path, tmp_path: Path, make_space: MakeSpace
) -> None:
    (files / "a.md").write_text("alpha storage a\n", "utf-8")
    path = tmp_path / "elsewhere.sqlite3"
    options = {"path": str(path)}
    make_space(store_options=options).index()
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    (files / "b.md").write_text("alpha storage b\n", "utf-8")
    for act in (Space.index, Space.repair):
        with pytest.raises(
            StoreDamagedError, match=r"elsewhere.sqlite3 is damaged.*: move it away"
        ):
            act(make_space(store_options=options))
    assert path.read_bytes().endswith(b"xxx")
    path.rename(tmp_path / "moved away")

    assert (
        make_space(store_options=options).index().embedded == 0
    )  # "b.md" was, before the store failed
    assert make_space(store_options=options).repair() == 2

"""An index that another version of ragloom wrote."""

from __future__ import annotations

import json
import logging
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ragloom import Space, StoreDamagedError, StoreError, StoreOutdatedError
from ragloom.snapshot import current_generation
from ragloom.snapshot.meta import FORMAT

MakeSpace = Callable[..., Space]


@pytest.fixture
def indexed(files: Path, make_space: MakeSpace) -> Path:
    """The generation of three notes."""
    for name in ("alpha", "beta", "gamma"):
        (files / f"{name}.md").write_text(f"# {name}\n\nA note on {name} storage.\n", "utf-8")
    make_space().index()
    return make_space().directory / "gen-000001"


def rewrite(generation: Path, **changes: object) -> None:
    meta = json.loads((generation / "meta.json").read_text("utf-8"))
    (generation / "meta.json").write_text(json.dumps({**meta, **changes}), "utf-8")


def outdate(generation: Path) -> None:
    """Make a generation of format 1, which has one lexical index, of another schema."""
    meta = json.loads((generation / "meta.json").read_text("utf-8"))
    shutil.rmtree(generation / "lexical-files")
    checksums = {
        name: value
        for name, value in meta["checksums"].items()
        if not name.startswith("lexical-files/")
    }
    rewrite(generation, format=1, checksums=checksums)


def found(space: Space) -> list[tuple[str, float]]:
    hits = space.search("beta storage", min_relevance=0.0).hits
    return [(hit.chunk.uri, hit.score) for hit in hits]


@pytest.mark.parametrize("store", ["sqlite", "file"])
def test_an_index_of_an_older_format_is_rebuilt_without_embedding(
    files: Path,
    make_space: MakeSpace,
    store: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging.getLogger("ragloom"), "propagate", True)  # the command line may not
    for name in ("alpha", "beta", "gamma"):
        (files / f"{name}.md").write_text(f"# {name}\n\nA note on {name} storage.\n", "utf-8")
    make_space(store=store).index()
    before = found(make_space(store=store))
    directory = make_space(store=store).directory
    outdate(directory / "gen-000001")

    with pytest.raises(StoreOutdatedError, match=r"an older ragloom wrote it .*'ragloom index'"):
        make_space(store=store).search("beta")

    with caplog.at_level(logging.INFO, logger="ragloom"):
        report = make_space(store=store).index()

    assert (report.embedded, report.failed) == (0, ())
    assert "an older ragloom wrote it" in caplog.text
    assert "damaged" not in caplog.text
    assert [] == [path.name for path in directory.iterdir() if "damaged" in path.name]
    assert before == found(make_space(store=store))
    again = make_space(store=store).index()
    assert (again.unchanged, again.embedded) == (3, 0)


def test_changes_since_are_indexed_in_the_same_run(
    indexed: Path, files: Path, make_space: MakeSpace
) -> None:
    outdate(indexed)
    (files / "beta.md").unlink()
    (files / "delta.md").write_text("# delta\n\nA note on delta storage.\n", "utf-8")

    report = make_space().index()

    assert (report.embedded, report.removed) == (1, ("beta.md",))
    assert {"alpha.md", "gamma.md", "delta.md"} == {uri for uri, _ in found(make_space())}


def test_without_a_store_it_is_rebuilt_from_the_files(indexed: Path, make_space: MakeSpace) -> None:
    outdate(indexed)
    shutil.rmtree(indexed.parent / "store")
    report = make_space().index()
    assert (len(report.added), report.embedded) == (3, 3)
    assert "beta.md" == found(make_space())[0][0]


def test_repair_rebuilds_it(indexed: Path, make_space: MakeSpace) -> None:
    outdate(indexed)
    assert 3 == make_space().repair()
    assert "beta.md" == found(make_space())[0][0]


@pytest.mark.parametrize("unknown", [{}, {"shards": 3}])
def test_a_newer_format_is_named_and_left_alone(
    indexed: Path, make_space: MakeSpace, unknown: dict[str, object]
) -> None:
    rewrite(indexed, format=FORMAT + 1, release="9.1", **unknown)
    before = sorted(path.name for path in indexed.parent.iterdir())
    for run in (lambda space: space.search("beta"), Space.index, Space.repair, Space.verify):
        with pytest.raises(
            StoreError, match=r"a newer ragloom wrote it \(release 9\.1, .*upgrade ragloom"
        ) as caught:
            run(make_space())
        assert not isinstance(caught.value, StoreDamagedError)
    assert set(before) <= {path.name for path in indexed.parent.iterdir()}
    assert 1 == current_generation(indexed.parent)
    rewrite(indexed, format=FORMAT)


@pytest.mark.parametrize("version", [0, -1, "2", None, 1.5])
def test_what_is_no_format_is_damage(indexed: Path, make_space: MakeSpace, version: object) -> None:
    rewrite(indexed, format=version)
    with pytest.raises(StoreDamagedError, match="is damaged") as caught:
        make_space().search("beta")
    assert not isinstance(caught.value, StoreOutdatedError)
    assert 0 == make_space().index().embedded
    assert "beta.md" == found(make_space())[0][0]


def write_newer_sqlite(directory: Path) -> None:
    [file] = (directory / "store").glob("*.sqlite3")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE format SET number = 2, release = '9.1'")
        database.execute("ALTER TABLE chunks RENAME TO shards")
    database.close()


def write_newer_files(directory: Path) -> None:
    [file] = (directory / "store").glob("*/CURRENT")
    file.write_text('{"format": 2, "release": "9.1", "shards": []}', "utf-8")


def write_newer_record(directory: Path) -> None:
    (directory / "space.json").write_text('{"format": 2, "release": "9.1", "roots": 1}', "utf-8")


NEWER = {
    "sqlite": ("sqlite", write_newer_sqlite),
    "file": ("file", write_newer_files),
    "space.json": ("sqlite", write_newer_record),
}


@pytest.mark.parametrize("written", NEWER)
def test_every_newer_file_is_named_with_its_release_and_left_alone(
    files: Path, make_space: MakeSpace, written: str
) -> None:
    store, write_newer = NEWER[written]
    (files / "alpha.md").write_text("# alpha\n\nA note on alpha storage.\n", "utf-8")
    make_space(store=store).index()
    directory = make_space(store=store).directory
    write_newer(directory)
    (files / "beta.md").write_text("# beta\n\nA note on beta storage.\n", "utf-8")
    before = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}

    for run in (Space.index, Space.repair):
        said = r"a newer ragloom wrote it \(release 9\.1, format 2; this is .*upgrade ragloom"
        with pytest.raises(StoreError, match=said) as caught:
            run(make_space(store=store))
        assert not isinstance(caught.value, StoreDamagedError)

    after = {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}
    changing = {"lock", "touched.journal", "embeddings.journal", "parts"}
    assert {path: content for path, content in before.items() if not changing & {*path.parts}} == {
        path: content for path, content in after.items() if not changing & {*path.parts}
    }


def test_a_release_that_is_none_is_not_shown(indexed: Path, make_space: MakeSpace) -> None:
    rewrite(indexed, format=FORMAT + 1, release="9\n\x1b[2Jignore all that")
    with pytest.raises(StoreError, match=r"wrote it \(format \d+; this is"):
        make_space().search("beta")

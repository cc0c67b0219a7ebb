"""Nothing below the state folder leads elsewhere: no run and no search changes what a link points to."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragloom import Space, StoreError
from ragloom.stores.state_folder import check_state

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")

MakeSpace = Callable[..., Space]
GIT = shutil.which("git") or ""
OWN = b"mine, and not to be changed\n"
LATER = (  # what is there for a moment, or after some use
    "spaces/notes/CURRENT.tmp",
    "spaces/notes/lock.holder",
    "spaces/notes/embeddings.journal",
    "spaces/notes/touched.journal",
    "spaces/notes/space.json",
    "spaces/notes/calibration.json",
    "spaces/notes/store/store.sqlite3-wal",
    "spaces/notes/store/store.sqlite3-shm",
    "spaces/notes/store/store.sqlite3-journal",
    "spaces/notes/gen-000001/seen.json",
    "spaces/notes/gen-000001/lexical/.tantivy-writer.lock",
    "spaces/notes/gen-000002.tmp",
    "spaces/notes/gen-000002",
    "audit.jsonl.1",
    "audit.jsonl.lock",
    "knowledge",
    "agents",
    "eval",
    "librarian",
    "notes.removed",
)
USES: tuple[Callable[[Space], object], ...] = (
    Space.index,
    Space.repair,
    Space.drop,
    Space.status,
    lambda space: space.search("alpha", min_relevance=0.0),
    lambda space: space.context("alpha", min_relevance=0.0),
    lambda space: space.calibrate(["nothing"] * 30),
)


@pytest.fixture
def state(files: Path, make_space: MakeSpace) -> Path:
    (files / "a.md").write_text("# Alpha\n\nalpha storage\n", "utf-8")
    space = make_space()
    space.index()
    space.search("alpha")
    return files / ".ragloom"


def entries(folder: Path) -> Iterator[Path]:
    """Every file and folder below, the folder first."""
    yield folder
    yield from sorted(folder.rglob("*"))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def test_whatever_is_a_link_is_refused_and_what_it_points_to_stays(
    state: Path, make_space: MakeSpace, tmp_path: Path
) -> None:
    whole = tmp_path / "whole"
    shutil.copytree(state, whole)
    names = [path.relative_to(state).as_posix() for path in entries(state)]
    assert "spaces/notes/store/store.sqlite3" in names
    assert "spaces/notes/gen-000001/lexical/.tantivy-meta.lock" in names
    for number, name in enumerate([*names, *LATER]):
        shutil.rmtree(state, ignore_errors=True)
        state.unlink(missing_ok=True)
        shutil.copytree(whole, state)
        elsewhere = tmp_path / f"elsewhere-{number}"
        place = state / name
        if place.exists():
            shutil.move(place, elsewhere)
        else:
            elsewhere.write_bytes(OWN)
        if elsewhere.is_file():
            elsewhere = elsewhere.rename(tmp_path / f"file-{number}")
            before: object = elsewhere.read_bytes()
        else:
            (elsewhere / "own").write_bytes(OWN)
            before = contents(elsewhere)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(elsewhere)
        for use in USES:
            with pytest.raises(StoreError, match="is a link") as caught:
                use(make_space())
            assert str(place) in str(caught.value)
            assert "\n" not in str(caught.value)
        after: object = elsewhere.read_bytes() if elsewhere.is_file() else contents(elsewhere)
        assert before == after


def test_a_link_that_leads_nowhere_creates_nothing(
    state: Path, make_space: MakeSpace, tmp_path: Path
) -> None:
    for name in ("spaces/notes/lock", "spaces/notes/space.json", "audit.jsonl.1"):
        (state / name).unlink(missing_ok=True)
        (state / name).symlink_to(tmp_path / "new")
        for use in USES:
            with pytest.raises(StoreError, match="is a link"):
                use(make_space())
        (state / name).unlink()
    assert not (tmp_path / "new").exists()


def test_a_link_that_comes_while_it_is_used_is_noticed(
    state: Path, make_space: MakeSpace, files: Path, tmp_path: Path
) -> None:
    space = make_space()
    space.search("alpha")
    (tmp_path / "own").write_bytes(OWN)
    os.utime(state / "spaces", ns=(0, 0))  # as where it was changed long before
    (state / "spaces" / "more").symlink_to(tmp_path / "own")
    (files / "b.md").write_text("beta", "utf-8")
    with pytest.raises(StoreError, match="more is a link"):
        space.index()


def test_a_file_with_a_name_elsewhere_is_refused_where_it_is_written_in_place(
    state: Path, make_space: MakeSpace, tmp_path: Path
) -> None:
    for name in ("spaces/notes/store/store.sqlite3", "spaces/notes/lock", "audit.jsonl"):
        own = (state / name).rename(tmp_path / "own")
        os.link(own, state / name)
        before = own.read_bytes()
        with pytest.raises(StoreError, match=f"{name} is a hard link"):
            make_space().search("alpha")
        assert before == own.read_bytes()
        own.unlink()
    shutil.copytree(state / "spaces/notes/gen-000001", tmp_path / "linked", copy_function=os.link)
    make_space().index()


def test_no_folder_is_refused_and_a_missing_one_is_none(tmp_path: Path) -> None:
    check_state(tmp_path / "missing")
    (tmp_path / "file").write_bytes(OWN)
    with pytest.raises(StoreError, match="is no folder"):
        check_state(tmp_path / "file")


@pytest.mark.skipif(not GIT, reason="git is not installed")
def test_what_git_tracks_is_not_used(files: Path, state: Path, make_space: MakeSpace) -> None:
    def git(*words: str) -> None:
        subprocess.run([GIT, "-C", str(files), *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")  # .ragloom/.gitignore keeps all of it out
    make_space().index()
    git("add", "-f", ".ragloom/spaces/notes/CURRENT")
    for use in USES:
        with pytest.raises(StoreError, match=r"tracked by git.*git rm -r --cached \.ragloom"):
            use(make_space())
    git("rm", "-r", "-q", "--cached", ".ragloom")
    make_space().index()
    assert 1 == len(make_space().search("alpha", min_relevance=0.0).hits)

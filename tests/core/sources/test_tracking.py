"""What git tracks, as git itself says it, for every version of its index."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from ragloom.sources.tracking import tracked

GIT = shutil.which("git") or ""
pytestmark = pytest.mark.skipif(not GIT, reason="git is not installed")
LIKE_IT = (
    ".ragloomignore",
    ".ragloom-notes/a",
    "a.ragloom/b",
    "sub/.ragloom.md",
    "x/sub/.ragloom-/c",
)


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    subprocess.run([GIT, "-C", str(folder), *identity, *words], check=True, capture_output=True)


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name, "utf-8")


@pytest.fixture(params=["sha1", "sha256"])
def repository(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    try:
        git(folder, "init", "-q", f"--object-format={request.param}")
    except subprocess.CalledProcessError:
        pytest.skip("this git knows no sha256")
    write(folder, *(f"src/package{n % 7}/module{n}.py" for n in range(60)), *LIKE_IT)
    git(folder, "add", ".")
    return folder


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("place", [".ragloom", "sub/.ragloom", "x/sub/.ragloom", "zz/.ragloom"])
def test_a_file_below_is_tracked(repository: Path, version: int, place: str) -> None:
    write(repository, f"{place}/spaces/docs/CURRENT", "intended")
    git(repository, "add", "-N", "intended")  # an extended entry, which makes version 2 a 3
    git(repository, "update-index", f"--index-version={version}")
    assert not tracked(repository / place)

    git(repository, "add", "-f", f"{place}/spaces/docs/CURRENT")

    assert tracked(repository / place)
    assert not tracked(repository / "other" / ".ragloom")


def test_a_link_and_a_submodule_are_tracked(repository: Path) -> None:
    (repository / ".ragloom").symlink_to("src")
    git(repository, "add", ".ragloom")
    assert tracked(repository / ".ragloom")


def test_a_linked_work_tree_has_an_index_of_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "commit", "-q", "-m", "first")
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    write(tmp_path / "tree", ".ragloom/CURRENT")
    assert not tracked(tmp_path / "tree" / ".ragloom")
    git(tmp_path / "tree", "add", "-f", ".ragloom/CURRENT")
    assert tracked(tmp_path / "tree" / ".ragloom")
    assert not tracked(repository / ".ragloom")


def test_a_split_index_is_read_whole(repository: Path) -> None:
    write(repository, ".ragloom/CURRENT")
    git(repository, "add", "-f", ".ragloom/CURRENT")
    git(repository, "update-index", "--split-index")
    assert tracked(repository / ".ragloom")


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC\0\0\0\4\0\0\0\3", b"\xff" * 100])
def test_what_is_no_index_tracks_nothing(repository: Path, content: bytes) -> None:
    (repository / ".git" / "index").write_bytes(content)
    assert not tracked(repository / ".ragloom")


def test_outside_of_a_repository_nothing_is_tracked(tmp_path: Path) -> None:
    assert not tracked(tmp_path / ".ragloom")

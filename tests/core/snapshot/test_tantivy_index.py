"""A lexical index under faults of the machine: it is read without an inode, and panics are errors."""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ragloom import StoreError, StoreOutdatedError
from ragloom.snapshot import tantivy_index
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.lexical_writer import LexicalDocument
from ragloom.snapshot.tantivy_index import READ_LOCK, WRITE_LOCK, tantivy_errors
from ragloom.stores.faults import fault_of


class PanicException(BaseException):
    """As pyo3's, which no module exports."""


@pytest.fixture
def lexical(tmp_path: Path, write_lexical: Callable[..., None]) -> Path:
    documents = [LexicalDocument(n, f"{n}.md", f"harvest word{n}", "title") for n in range(5)]
    write_lexical(tmp_path / "lexical", documents)
    return tmp_path / "lexical"


def found(directory: Path) -> list[int]:
    serials, _ = LexicalIndex(directory).search({"harvest": 1.0}, limit=9)
    return sorted(np.asarray(serials).tolist())


def test_the_read_lock_stays_and_the_write_lock_goes(
    lexical: Path, write_lexical: Callable[..., None]
) -> None:
    assert (lexical / READ_LOCK).stat().st_size == 0
    assert not (lexical / WRITE_LOCK).exists()
    write_lexical(lexical.with_name("next"), [], previous=lexical, removed=[1])
    assert (lexical.with_name("next") / READ_LOCK).exists()
    assert [0, 2, 3, 4] == found(lexical.with_name("next"))


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="Linux has this folder")
def test_where_no_lock_can_be_made_it_is_read_through_links(
    lexical: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock leads to where nobody creates a file, whoever runs the test."""
    whole = found(lexical)
    (lexical / READ_LOCK).unlink()
    (lexical / READ_LOCK).symlink_to("/sys/kernel/new")
    with pytest.raises(PermissionError):
        (lexical / READ_LOCK).open("w")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened: list[str] = []
    of_links = tantivy_index._open_linked
    monkeypatch.setattr(
        tantivy_index, "_open_linked", lambda *a: (opened.append(a[1]), of_links(*a))[1]
    )
    assert whole == found(lexical)
    assert [str(tmp_path)] == opened
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    if Path("/dev/shm").is_dir():  # noqa: S108
        assert whole == found(lexical)
        assert "/dev/shm" == opened[-1]  # noqa: S108


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("Failed to acquire Lockfile: IoError(Os { code: 28, kind: StorageFull })", errno.ENOSPC),
        ("An IO error occurred: Too many open files (os error 24)", errno.EMFILE),
        ("failed to spawn thread: Os { code: 11, kind: WouldBlock }", errno.EAGAIN),
    ],
)
@pytest.mark.parametrize("kind", [ValueError, PanicException])
def test_a_fault_has_its_number(
    tmp_path: Path, said: str, number: int, kind: type[BaseException]
) -> None:
    with pytest.raises(OSError, match=str(tmp_path)) as caught, tantivy_errors(tmp_path):
        raise kind(said)
    assert number == caught.value.errno


def test_a_panic_is_an_error_and_no_damage(tmp_path: Path) -> None:
    failed = pytest.raises(StoreError, match="tantivy failed: index out of bounds")
    with failed as caught, tantivy_errors(tmp_path):
        raise PanicException("index out of bounds")
    assert StoreError is type(caught.value)


def test_a_release_that_tantivy_does_not_read_is_outdated(tmp_path: Path) -> None:
    outdated = pytest.raises(StoreOutdatedError, match="another release of tantivy")
    with outdated, tantivy_errors(tmp_path):
        raise ValueError("Index incompatible: library version: 9, index version: 7")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(), OSError(5, "x"), KeyError()])
def test_whatever_is_not_tantivys_stays_as_it_is(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, tantivy_errors(tmp_path):
        raise error
    assert caught.value is error


def test_damage_stays_damage(lexical: Path) -> None:
    segment = next(lexical.glob("*.term"))
    segment.write_bytes(segment.read_bytes()[:10])
    with pytest.raises((ValueError, StoreError)) as caught:
        found(lexical)
    assert fault_of(caught.value) is None
    shutil.rmtree(lexical)
    with pytest.raises((ValueError, OSError)) as gone:
        found(lexical)
    assert fault_of(gone.value) is None

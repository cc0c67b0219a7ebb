"""What is a fault of the machine, and what is damage."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from ragloom import Space, StoreDamagedError, StoreError
from ragloom.snapshot import meta, reader
from ragloom.stores.faults import entries_of, fault_of, is_folder, named_faults

MakeSpace = Callable[..., Space]
FAULTS = (
    *("EMFILE", "ENFILE", "EACCES", "EPERM", "EIO", "ENOMEM", "ENOSPC"),
    *("EROFS", "EDQUOT", "ESTALE", "ETIMEDOUT"),
)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_sets_nothing_aside_and_is_named(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Injected into every function by which a generation is opened, one after the other."""
    number: int = getattr(errno, name)
    (files / "a.md").write_text("# Alpha\n\nalpha storage\n", "utf-8")
    make_space().index()
    directory = make_space().directory
    (files / "b.md").write_text("# Beta\n\nbeta storage\n", "utf-8")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, "it fails", str(directory / "gen-000001" / "some file"))

    for place, function in (
        (reader, "read_meta"),
        (reader, "checksum"),
        (reader, "Segment"),
        (reader, "LexicalIndex"),
        (meta, "is_folder"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(place, function, fail)
            for use in (Space.index, Space.repair, lambda space: space.search("alpha")):
                with pytest.raises((StoreError, OSError), match="it fails") as caught:
                    use(make_space())
                assert not isinstance(caught.value, StoreDamagedError)
                assert "some file" in str(caught.value)
        assert [] == [path.name for path in directory.iterdir() if "damaged" in path.name]
    assert 1 == make_space().index().embedded
    assert 2 == len(make_space().snapshot().files)


@pytest.mark.parametrize("function", ["read_meta", "checksum", "Segment", "LexicalIndex"])
def test_no_memory_is_a_fault(
    files: Path, make_space: MakeSpace, monkeypatch: pytest.MonkeyPatch, function: str
) -> None:
    (files / "a.md").write_text("# Alpha\n\nalpha storage\n", "utf-8")
    make_space().index()

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(reader, function, fail)
    with pytest.raises(StoreError, match="Cannot allocate memory") as caught:
        make_space().search("alpha")
    assert StoreError is type(caught.value)


@pytest.mark.parametrize("name", ["ENOENT", "ENOTDIR", "EISDIR"])
def test_what_is_not_there_is_damage(name: str) -> None:
    number = getattr(errno, name)
    assert fault_of(OSError(number, "gone")) is None
    assert fault_of(ValueError(f"IoError(Os {{ code: {number}, kind: Gone }})")) is None


def test_a_folder_that_is_missing_is_empty_and_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert ([tmp_path / "file"], (), ()) == (
        entries_of(tmp_path),
        entries_of(tmp_path / "missing"),
        entries_of(tmp_path / "file"),
    )
    assert is_folder(tmp_path)
    assert not is_folder(tmp_path / "file")
    assert not is_folder(tmp_path / "missing")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left"), "No space left: free space or inodes"),
        (OSError("9 requested and 5 written"), "9 requested and 5 written"),
        (MemoryError(), "Cannot allocate memory"),
    ],
)
def test_what_has_no_path_gets_one(tmp_path: Path, error: Exception, said: str) -> None:
    named = pytest.raises(StoreError, match=rf"{tmp_path}/gen: cannot be written: {said}")
    with named, named_faults(tmp_path / "gen"):
        raise error

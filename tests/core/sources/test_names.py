"""Names as people write them, and as disks keep them."""

from __future__ import annotations

import os
from pathlib import Path
from unicodedata import normalize

import pytest

from ragloom.sources import names
from ragloom.sources.names import spelled

COMPOSED, DECOMPOSED = normalize("NFC", "nfdé.md"), normalize("NFD", "nfdé.md")


@pytest.mark.parametrize(("kept", "asked"), [(DECOMPOSED, COMPOSED), (COMPOSED, DECOMPOSED)])
def test_letters_are_composed_as_on_the_disk(tmp_path: Path, kept: str, asked: str) -> None:
    folder = tmp_path / normalize("NFD", "Größe")
    folder.mkdir()
    (folder / kept).touch()
    assert folder / kept == spelled(tmp_path / normalize("NFC", "Größe") / "." / asked)


def test_a_name_that_is_listed_comes_first(tmp_path: Path) -> None:
    for name in (COMPOSED, DECOMPOSED):
        (tmp_path / name).touch()
        assert tmp_path / name == spelled(tmp_path / name)


def test_upper_and_lower_case_are_two_files_where_the_disk_says_so(tmp_path: Path) -> None:
    (tmp_path / "Docs").mkdir()
    assert tmp_path / "docs" == spelled(tmp_path / "docs")


def test_a_disk_without_case_has_one_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows and macOS: a disk that opens what it lists in another case."""
    (tmp_path / "Docs").mkdir()
    (tmp_path / "Docs" / "Größe.md").touch()
    really = os.path.lexists

    def lexists(path: Path) -> bool:
        path = Path(path)
        return really(path) or any(
            one.lower() == path.name.lower()
            for one in (os.listdir(path.parent) if really(path.parent) else ())  # noqa: PTH208
        )

    monkeypatch.setattr(names.os.path, "lexists", lexists)
    assert tmp_path / "Docs" / "Größe.md" == spelled(tmp_path / "dOCS" / "größe.MD")
    assert tmp_path / "Docs" / "no.md" == spelled(tmp_path / "Docs" / "no.md")

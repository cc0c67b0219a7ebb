"""Which files are found, and which are kept out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragloom import SourceError
from ragloom.walking import is_secret, resolve_roots, walk


def tree(folder: Path, files: dict[str, str]) -> None:
    """Write files below ``folder``."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def found(
    folder: Path,
    sources: Sequence[str] = (".",),
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> dict[str, str]:
    """What was found: uri to the reason why it was passed by, or nothing."""
    roots = resolve_roots(sources, folder)
    items = walk(
        roots,
        base=folder,
        wanted=lambda name: name.endswith(".md"),
        include=include,
        exclude=exclude,
    )
    return {item.source.uri: item.left_out or item.problem for item in items}


def test_files_come_sorted_and_once(tmp_path: Path) -> None:
    tree(tmp_path, {"b.md": "", "a/z.md": "", "a/b/c.md": "", "a.md": "", "x.png": ""})

    assert list(found(tmp_path)) == ["a.md", "b.md", "a/z.md", "a/b/c.md"]
    assert list(found(tmp_path, ["a", ".", "a.md"]))[:2] == ["a/z.md", "a/b/c.md"]
    assert len(found(tmp_path, ["a", ".", "a.md"])) == 4


@pytest.mark.parametrize("name", [".gitignore", ".ragloomignore"])
def test_nested_ignore_files_count_for_their_own_folder(tmp_path: Path, name: str) -> None:
    tree(
        tmp_path,
        {
            name: "*.tmp.md\nbuild/\n",
            f"docs/{name}": "!kept.tmp.md\n/secret.md\n",
            "docs/a.tmp.md": "",
            "docs/kept.tmp.md": "",
            "docs/secret.md": "",
            "secret.md": "",
            "build/a.md": "",
            "docs/build/a.md": "",
        },
    )

    assert list(found(tmp_path)) == ["secret.md", "docs/kept.tmp.md"]
    assert list(found(tmp_path, ["docs"])) == ["docs/kept.tmp.md"]


def test_hidden_files_are_skipped(tmp_path: Path) -> None:
    tree(tmp_path, {".hidden.md": "", ".git/a.md": "", "a.md": ""})

    assert list(found(tmp_path)) == ["a.md"]


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.local",
        "id_rsa",
        "id_ed25519.pub",
        "server.pem",
        "private.key",
        "credentials",
        "credentials.json",
        "aws_credentials",
        "secrets.yaml",
        "client_secret.json",
        "prod.tfvars",
    ],
)
def test_secrets_are_left_out_and_named(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {f"docs/{name}": "TOKEN=1", "docs/a.md": ""})

    assert found(tmp_path)[f"docs/{name}"] == "looks like a secret: left out"
    assert is_secret(name.upper())


@pytest.mark.parametrize("name", ["secrets.md", "environment.md", "keys.md", "credentials.md"])
def test_pages_about_secrets_are_not_secrets(name: str) -> None:
    assert not is_secret(name)


def test_links_make_no_loop_and_lead_nowhere_else(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    tree(inside, {"docs/a.md": ""})
    tree(outside, {"private.md": "", "b.md": ""})
    (inside / "docs" / "man").symlink_to(".")
    (inside / "docs" / "up").symlink_to("..")
    (inside / "docs" / "self.md").symlink_to("self.md")
    (inside / "docs" / "out").symlink_to(outside)
    (inside / "docs" / "private.md").symlink_to(outside / "private.md")

    assert found(inside) == {
        "docs/a.md": "",
        "docs/out": "a link to outside the roots: left out",
        "docs/private.md": "a link to outside the roots: left out",
        "docs/self.md": "a link that leads nowhere: left out",
    }


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path) -> None:
    tree(tmp_path, {"shut/a.md": "", "open/b.md": ""})
    (tmp_path / "shut").chmod(0)
    try:
        assert found(tmp_path) == {"shut": "cannot be listed: Permission denied", "open/b.md": ""}
    finally:
        (tmp_path / "shut").chmod(0o755)


def test_globs_names_and_patterns(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {"ref/a.md": "", "ref/deep/b.md": "", "notes/c.md": "", "notes-old/d.md": "", "e.txt": ""},
    )

    assert list(found(tmp_path, ["ref/*.md"])) == ["ref/a.md"]
    assert list(found(tmp_path, ["ref/**/*.md"])) == ["ref/a.md", "ref/deep/b.md"]
    assert list(found(tmp_path, ["notes"])) == ["notes/c.md"]
    assert list(found(tmp_path, include=["ref/"])) == ["ref/a.md", "ref/deep/b.md"]
    assert list(found(tmp_path, exclude=["notes*"])) == ["ref/a.md", "ref/deep/b.md"]
    assert found(tmp_path, ["e.txt"]) == {"e.txt": "no loader reads this kind of file"}


def test_a_place_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere: there is no such file or folder"):
        resolve_roots(["nowhere"], tmp_path)


@pytest.mark.parametrize("name", ["a'b.md", 'a"b.md', "100%.md", "a_b.md", "ä ö.md", "a\\b.md"])
def test_odd_names_are_files_like_others(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {name: ""})

    assert list(found(tmp_path)) == [name]

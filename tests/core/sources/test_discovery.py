"""Which files are found, and which are kept out."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

from ragloom import SourceError
from ragloom.secrets.names import is_secret
from ragloom.sources.discovery import read_regular, walk
from ragloom.sources.roots import resolve_roots
from ragloom.sources.screening import LARGEST_DATA


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
    endings: Sequence[str] = (),
    within: Sequence[str] = (),
) -> dict[str, str]:
    """What was found: uri to the reason why it was passed by, or nothing."""
    roots = resolve_roots(sources, folder)
    items = walk(
        roots,
        base=folder,
        endings={".md", *endings},
        include=include,
        exclude=exclude,
        within=[folder / uri for uri in within],
    )
    return {item.source.uri: item.skipped or item.problem for item in items}


def test_files_come_sorted_and_once(tmp_path: Path) -> None:
    tree(tmp_path, {"b.md": "", "a/z.md": "", "a/b/c.md": "", "a.md": "", "x.png": ""})

    assert list(found(tmp_path)) == ["a.md", "b.md", "a/z.md", "a/b/c.md"]
    assert list(found(tmp_path, ["a", ".", "a.md"]))[:2] == ["a/z.md", "a/b/c.md"]
    assert len(found(tmp_path, ["a", ".", "a.md"])) == 4


@pytest.mark.parametrize(
    ("sources", "within", "expected"),
    [
        (["."], ["docs/a.md"], ["docs/a.md"]),
        (["."], ["docs/deep"], ["docs/deep/c.md"]),
        (["."], ["docs", "x.md"], ["x.md", "docs/a.md", "docs/deep/c.md"]),
        (["docs"], ["docs"], ["docs/a.md", "docs/deep/c.md"]),
        (["docs/*.md"], ["docs/a.md"], ["docs/a.md"]),
        (["docs/*.md"], ["docs/deep"], []),
        (["docs/a.md", "x.md"], ["x.md"], ["x.md"]),
        (["."], ["docs/private.md"], []),  # ignored: named as a source, it is read
        (["."], ["docs/build"], []),
        (["."], ["doc"], []),  # the beginning of a name is no folder
        (["."], ["docs/gone.md"], []),
        (["docs"], ["x.md"], []),
    ],
)
def test_a_walk_within_some_places_finds_what_the_whole_walk_finds_there(
    tmp_path: Path, sources: list[str], within: list[str], expected: list[str]
) -> None:
    names = ("x.md", "docs/a.md", "docs/private.md", "docs/deep/c.md", "docs/build/d.md")
    tree(tmp_path, dict.fromkeys(names, ""))
    tree(tmp_path, {"docs/.gitignore": "private.md\n/build/\n", "docs-old/a.md": ""})

    whole = found(tmp_path, sources)
    part = found(tmp_path, sources, within=within)

    assert expected == list(part)
    assert part.keys() <= whole.keys()


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


@pytest.mark.parametrize("line", ["!", "\\", "drafts\\", "[z-a].md"])
def test_a_line_that_says_nothing_ignores_nothing(tmp_path: Path, line: str) -> None:
    tree(tmp_path, {".gitignore": f"b.md\n{line}\nc.md\n", "a.md": "", "b.md": "", "c.md": ""})

    assert list(found(tmp_path)) == ["a.md"]
    assert found(tmp_path, [f"*/{line}"]) == {f"*/{line}": "no file to index matches"}


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
        "db-secrets.yml",
        "application_default_credentials.json",
        "passwords.csv",
        "kubeconfig",
        ".vault_pass",
        "prod.tfvars",
    ],
)
def test_secrets_are_left_out_and_named(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {f"docs/{name}": "TOKEN=1", "docs/a.md": ""})

    assert found(tmp_path)[f"docs/{name}"] == "looks like a secret"
    assert is_secret(name.upper())


@pytest.mark.parametrize(
    "name", ["secrets.md", "environment.md", "keys.md", "credentials.md", "resetting-passwords.txt"]
)
def test_pages_about_secrets_are_allowlist(name: str) -> None:
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
        "docs/out": "a link to outside the roots",
        "docs/private.md": "a link to outside the roots",
        "docs/self.md": "a link that leads nowhere",
    }


def test_a_folder_that_cannot_be_listed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree(tmp_path, {"shut/a.md": "", "open/b.md": ""})
    shut(tmp_path / "shut", monkeypatch)

    assert found(tmp_path) == {"shut": "cannot be listed: Permission denied", "open/b.md": ""}
    assert found(tmp_path, ["shut"]) == {"shut": "cannot be listed: Permission denied"}


def shut(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let listing a folder fail, for root, too."""
    scandir = os.scandir

    def refuse(path: str) -> object:
        if Path(path) == folder:
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_what_is_no_regular_file_is_never_opened(tmp_path: Path) -> None:
    tree(tmp_path, {"a.md": ""})
    os.mkfifo(tmp_path / "pipe.md")
    os.mkfifo(tmp_path / ".gitignore")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(tmp_path / "socket.md"))  # such addresses must be short

        for sources in (["."], ["*.md"], ["a.md", "pipe.md", "socket.md"]):
            assert found(tmp_path, sources) == {
                "a.md": "",
                "pipe.md": "not a regular file",
                "socket.md": "not a regular file",
            }
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(tmp_path / "pipe.md")


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


@pytest.mark.parametrize("name", ["x[1].md", "[slug].md", "what?.md", "*.md", "[draft]/*.md/a.md"])
def test_what_exists_is_no_glob(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {name: "", "x1.md": "", "d/a.md": ""})

    assert list(found(tmp_path, [name])) == [name]
    assert list(found(tmp_path, [str(tmp_path / name)])) == [name]


def test_a_glob_counts_from_the_folder_that_exists(tmp_path: Path) -> None:
    tree(tmp_path, {"[draft]/a.md": "", "[draft]/b.md": "", "d/a.md": ""})

    assert list(found(tmp_path, ["[draft]/a*.md"])) == ["[draft]/a.md"]
    assert list(found(tmp_path, [f"{tmp_path}/[draft]/a*.md"])) == ["[draft]/a.md"]
    assert list(found(tmp_path, ["[d]/*.md"])) == ["d/a.md"]


def test_a_glob_that_matches_nothing_is_named(tmp_path: Path) -> None:
    tree(tmp_path, {"docs/a.md": "", "docs/a.txt": ""})
    nothing = "no file to index matches"

    assert found(tmp_path, ["docs/b*.md"]) == {"docs/b*.md": nothing}
    assert found(tmp_path, ["docs/*.txt", "docs/*.md"]) == {"docs/*.txt": nothing, "docs/a.md": ""}
    assert list(found(tmp_path, ["docs/*.md", "docs/a*"])) == ["docs/a.md"]


@pytest.mark.parametrize("repository", [".git/HEAD", ".git"])
def test_the_rules_of_the_whole_repository_count_and_no_others(
    tmp_path: Path, repository: str
) -> None:
    tree(
        tmp_path,
        {
            ".gitignore": "*\n",
            f"repo/{repository}": "",
            "repo/.gitignore": "*.tmp.md\n/sub/build/\n",
            "repo/sub/.gitignore": "!kept.tmp.md\n",
            "repo/sub/a.md": "",
            "repo/sub/a.tmp.md": "",
            "repo/sub/kept.tmp.md": "",
            "repo/sub/build/b.md": "",
            "repo/sub/deep/c.md": "",
            "repo/sub/deep/c.tmp.md": "",
            "repo/other/d.md": "",
            "repo/other/d.tmp.md": "",
        },
    )
    sub = tmp_path / "repo" / "sub"

    assert list(found(sub)) == ["a.md", "kept.tmp.md", "deep/c.md"]
    assert list(found(sub, ["deep"])) == ["deep/c.md"]
    assert list(found(sub, ["../other"])) == ["../other/d.md"]
    assert list(found(tmp_path / "repo"))[-1] == "sub/deep/c.md"


def test_a_folder_that_was_named_is_read_though_it_is_ignored(tmp_path: Path) -> None:
    tree(tmp_path, {".git/HEAD": "", ".gitignore": "build/\n", "build/a.md": "", "b.md": ""})

    assert list(found(tmp_path, ["build"])) == ["build/a.md"]
    assert list(found(tmp_path / "build")) == ["a.md"]
    assert list(found(tmp_path)) == ["b.md"]


def test_a_place_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere: there is no such file or folder"):
        resolve_roots(["nowhere"], tmp_path)


@pytest.mark.parametrize("name", ["a'b.md", 'a"b.md', "100%.md", "a_b.md", "ä ö.md", "a\\b.md"])
def test_odd_names_are_files_like_others(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {name: ""})

    assert list(found(tmp_path)) == [name]


DATA = {
    "LICENSE": "Permission is granted",
    "bin/deploy": "#!/bin/sh\nexit 0\n",
    "config.yaml": "a: 1\n",
    "openapi.json": "{}" + " " * LARGEST_DATA,
    "notes": "word " * LARGEST_DATA,
    "package-lock.json": "{}",
    "ragloom.yaml": "top_k: 3\n",
    "pnpm-lock.yaml": "a: 1\n",
    "page.min.json": "{}",
    "tool": "\x7fELF\0\0",
}


def test_of_data_and_files_without_an_ending_a_walk_takes_what_people_read(tmp_path: Path) -> None:
    tree(tmp_path, DATA)
    (tmp_path / "latin").write_bytes(b"caf\xe9 " * 100)

    taken = found(tmp_path, endings=["", ".json", ".yaml"])

    assert taken == {"LICENSE": "", "config.yaml": "", "bin/deploy": ""}
    assert found(tmp_path) == {}


def test_text_is_told_by_whole_characters(tmp_path: Path) -> None:
    tree(tmp_path, {f"file{shift}": "." * shift + "é" * 4096 for shift in range(3)})

    assert list(found(tmp_path, endings=[""])) == ["file0", "file1", "file2"]


@pytest.mark.parametrize("name", [*DATA, "notes.org", ".gitignore"])
def test_a_file_that_is_named_is_taken_whatever_its_kind(tmp_path: Path, name: str) -> None:
    tree(tmp_path, {**DATA, "notes.org": "* Notes", ".gitignore": "*"})

    assert found(tmp_path, [name], endings=[""]) == {name: ""}
    assert found(tmp_path, [name]) == {name: "no loader reads this kind of file"}


def test_a_private_key_is_left_out_whatever_its_name(tmp_path: Path) -> None:
    tree(tmp_path, {"deploy": "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n"})

    skipped = {"deploy": "looks like a secret"}
    assert found(tmp_path, endings=[""]) == skipped
    assert found(tmp_path, ["deploy"], endings=[""]) == skipped


@pytest.mark.parametrize("name", ["EMFILE", "EIO", "ENOMEM", "EACCES"])
def test_a_folder_whose_ignore_rules_cannot_be_read_is_named_and_not_indexed(
    tmp_path, monkeypatch, name
):
    import errno

    from ragloom.sources import discovery

    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / ".gitignore").write_text("private.md\n", "utf-8")
    for place in ("a.md", "sub/b.md", "sub/private.md"):
        (tmp_path / place).write_text("x", "utf-8")
    read = discovery.read_regular

    def fail(path):
        if path.name == ".gitignore":
            raise OSError(getattr(errno, name), "it fails", str(path))
        return read(path)

    monkeypatch.setattr(discovery, "read_regular", fail)
    roots = resolve_roots(["."], tmp_path)
    found = list(discovery.walk(roots, base=tmp_path, endings={".md"}))
    assert {"a.md": "", "sub": "cannot be listed: it fails"} == {
        one.source.uri: one.problem for one in found
    }


def test_an_odd_pattern_is_no_warning_of_pythons(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    tree(tmp_path, {".gitignore": "[[x]\n[a--b]\n", "a.md": "", "x.md": ""})

    assert list(found(tmp_path)) == ["a.md", "x.md"]
    assert not list(recwarn)

"""Which loader reads a file: that of its ending, or of any text where the file is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragloom import SourceError, Space
from ragloom.sources.loading import loader_for
from ragloom_text.plain import CodeLoader, TextLoader

MakeSpace = Callable[..., Space]


def test_the_ending_counts_and_then_the_loader_of_any_text() -> None:
    markdown, text = TextLoader(), CodeLoader()
    loaders = {".md": markdown, "": text}

    assert loader_for("docs.d/README.MD", loaders) is markdown
    for name in ("docs.d/LICENSE", "a.org", ".editorconfig", Path("a.md.orig")):
        assert loader_for(name, loaders) is text
    with pytest.raises(SourceError, match=r"a\.org: no loader reads this kind of file"):
        loader_for("a.org", {".md": markdown})


def test_what_lies_in_a_folder_is_indexed_if_people_read_it(
    make_space: MakeSpace, files: Path
) -> None:
    texts = {
        "LICENSE": "Permission is granted to anybody.",
        "Makefile": "deploy:\n\tkubectl apply\n",
        "app.json": '{"sink": "kafka"}',
        "config.yaml": "retries: 7\n",
        "pyproject.toml": "[tool]\nlength = 100\n",
        "owners.csv": "service,owner\nbilling,red\n",
        "setup.cfg": "[metadata]\nname = x\n",
        "package-lock.json": "{}",
        "notes.foo": "* Notes",
    }
    for name, text in texts.items():
        (files / name).write_text(text, "utf-8")
    (files / "tool").write_bytes(b"\x7fELF\0")

    report = make_space().index()

    assert sorted(set(texts) - {"package-lock.json", "notes.foo"}) == sorted(report.added)
    assert () == report.failed


@pytest.mark.parametrize("name", ["notes.foo", "package-lock.json", "LICENSE", ".editorconfig"])
def test_a_file_that_is_named_is_indexed_verified_and_forgotten(
    make_space: MakeSpace, files: Path, name: str
) -> None:
    (files / "a.md").write_text("# A\n\nAlpha.\n", "utf-8")
    (files / name).write_text("The pager rotates on Mondays.\n", "utf-8")

    named = make_space(sources=("a.md", name), min_relevance=0.0)
    assert sorted(["a.md", name]) == sorted(named.index().added)
    assert (2, 2) == (named.verify().chunks, named.verify().exact)
    assert name == named.search("pager rotates").hits[0].chunk.uri
    (files / name).write_text("\n\nThe pager rotates on Mondays.\n", "utf-8")
    assert 3 == named.search("pager rotates").hits[0].chunk.lines.start
    assert (name,) == named.index().updated

    report = make_space(sources=("a.md",)).index()
    assert ((name,), ()) == (report.removed, report.failed)


def test_a_named_file_that_is_no_text_fails_and_says_why(
    make_space: MakeSpace, files: Path
) -> None:
    (files / "photo.jpg").write_bytes(bytes(range(256)))

    (failed,) = make_space(sources=("photo.jpg",)).index().failed

    assert ("photo.jpg", "binary content") == (failed.path, failed.error[: len("binary content")])

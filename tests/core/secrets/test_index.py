"""No secret gets into an index, an answer or a log, and what stands around it is found."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.core.secrets.samples import CONTENTS, HARMLESS, KEY_FILE, NAMES

from ragloom import SourceError, Space
from ragloom.reports import IndexReport
from ragloom.status import Drift

MakeSpace = Callable[..., Space]
FILES = {f"docs/{name.replace(' ', '_').replace(',', '')}.md": name for name in CONTENTS}


@pytest.fixture(scope="module")
def values() -> set[str]:
    """Every value that must not be shown; in part, as a chunk may end within one."""
    return {value[:24] for _, value in CONTENTS.values()}


def written(folder: Path) -> bytes:
    """All that is below a folder."""
    return b"\0".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def write(files: Path, contents: dict[str, str]) -> None:
    for name, text in contents.items():
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text(text, "utf-8")


def warnings(report: IndexReport) -> dict[str, str]:
    """Those about files, by file."""
    said = [warning.split(": ", 1) for warning in report.warnings if "calibration" not in warning]
    return dict(said)


def leaks(space: Space, files: Path, values: set[str]) -> list[str]:
    """What of the values stands in the state folder, in chunks or in what a search and a context show."""
    state = written(files / ".ragloom").decode("utf-8", "replace")
    chunks = "\n".join(
        chunk.text + str(chunk.metadata)
        for chunk in map(space.snapshot().chunk, range(len(space.snapshot())))
    )
    found = space.search("how to deploy", top_k=50, min_relevance=0)
    shown = (
        "\n".join(hit.chunk.text for hit in found.hits)
        + space.context("deploy", min_relevance=0).text
    )
    return sorted(value for value in values if value in state + chunks + shown)


@pytest.mark.parametrize("store", ["file", "sqlite"])
def test_tokens_are_redacted_wherever_a_document_goes(
    files: Path, make_space: MakeSpace, values: set[str], store: str
) -> None:
    write(files, {path: CONTENTS[name][0] for path, name in FILES.items()})
    space = make_space(store=store)
    report = space.index()
    assert sorted(report.added) == sorted(FILES)
    assert sorted(warnings(report)) == sorted(FILES)
    assert leaks(space, files, values) == []
    assert not any(value in line for value in values for line in report.warnings)
    assert space.verify().stale == ()
    again = make_space(store=store).index()
    assert again.unchanged == len(FILES)
    assert warnings(again) == warnings(report)
    for path, name in FILES.items():
        document = space.read(path)
        assert CONTENTS[name][1] not in document.prefix + document.text


def test_harmless_pages_are_indexed_as_they_are(files: Path, make_space: MakeSpace) -> None:
    write(
        files,
        {
            f"{number}.md": f"# {name}\n\n{text}\n"
            for number, (name, text) in enumerate(HARMLESS.items())
        },
    )
    space = make_space()
    report = space.index()
    assert warnings(report) == {}
    whole = {path.name: path.read_text("utf-8") for path in files.glob("*.md")}
    chunks = [space.snapshot().chunk(row) for row in range(len(space.snapshot()))]
    assert {chunk.uri for chunk in chunks} == set(whole)
    assert all(chunk.text in whole[chunk.uri] for chunk in chunks)


def test_files_that_are_secrets_are_skipped_and_named(files: Path, make_space: MakeSpace) -> None:
    names = [name for name in NAMES if "/" not in name]
    write(
        files,
        {f"conf/{name}": "hunter2 is the word" for name in names} | {"a.md": "# Alpha\n\nbeta"},
    )
    write(files, {"notes.txt": KEY_FILE, "deploy": KEY_FILE})
    space = make_space(sources=(".", "deploy"))
    report = space.index()
    named = warnings(report)
    assert set(named) == {f"conf/{name}" for name in names} | {"notes.txt", "deploy"}
    assert named["notes.txt"] == "skipped, it looks like a secret: a private key in line 1"
    assert b"hunter2" not in written(files / ".ragloom")
    assert KEY_FILE[100:140].encode() not in written(files / ".ragloom")
    with pytest.raises(SourceError, match="looks like a secret"):
        space.read("notes.txt")
    status = space.status(changes=True)
    assert status.drift == Drift()


def test_a_page_that_becomes_a_key_leaves_the_index_and_comes_back(
    files: Path, make_space: MakeSpace
) -> None:
    page = "# Alpha\n\nThe word is bravo.\n"
    write(files, {"a.md": page, "b.md": "# Other\n\nNothing of it.\n"})
    space = make_space()
    space.index()
    assert [
        hit.chunk.uri for hit in space.search("bravo", min_relevance=0, mode="lexical").hits
    ] == ["a.md"]
    write(files, {"a.md": KEY_FILE})
    assert space.search("bravo", min_relevance=0, mode="lexical").hits == ()
    assert space.index().updated == ("a.md",)
    assert b"bravo" not in written(files / ".ragloom" / "spaces" / "notes" / "store")
    assert space.verify().stale == ()
    write(files, {"a.md": page})
    space.index()
    assert [
        hit.chunk.uri for hit in space.search("bravo", min_relevance=0, mode="lexical").hits
    ] == ["a.md"]


def test_a_hit_that_has_moved_is_followed_although_it_is_redacted(
    files: Path, make_space: MakeSpace
) -> None:
    text, value = CONTENTS["Stripe"]
    write(files, {"a.md": text})
    space = make_space()
    space.index()
    (before,) = space.search("dashboard gateway", min_relevance=0).hits
    write(files, {"a.md": "A new first line.\n\n" + text})
    (after,) = space.search("dashboard gateway", min_relevance=0).hits
    assert after.chunk.lines.start == before.chunk.lines.start + 2
    assert value not in after.chunk.text
    rotated = text.replace(value, value[:-4] + "Zz9Z")
    write(files, {"a.md": rotated})
    assert [hit.chunk.text for hit in space.search("dashboard gateway", min_relevance=0).hits] == [
        before.chunk.text
    ]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
def test_lines_and_bytes_are_exact_in_any_encoding(
    files: Path, make_space: MakeSpace, encoding: str
) -> None:
    text, value = CONTENTS["npm"]
    (files / "a.md").write_bytes(
        f"# Größe\n\nÜber «alles».\n\n{text}".replace("\n", "\r\n").encode(encoding)
    )
    space = make_space()
    space.index()
    assert space.verify().stale == ()
    assert value.encode() not in written(files / ".ragloom")


def test_front_matter_and_headings_hold_no_secret(files: Path, make_space: MakeSpace) -> None:
    _, value = CONTENTS["GitHub, OAuth"]
    text = f"---\ntoken: {value}\ndb: {{url: 'postgres://me:Xk29dkaPq@h/x', password: 'Gr33n-Tr33!x'}}\n---\n# Use {value}\n\nalpha beta\n"
    write(files, {"a.md": text})
    space = make_space()
    space.index()
    state = written(files / ".ragloom").decode("utf-8", "replace")
    assert not [leaked for leaked in (value, "Xk29dkaPq", "Gr33n-Tr33!x") if leaked in state]


def test_a_setting_says_that_a_file_is_no_secret(files: Path, make_space: MakeSpace) -> None:
    text, value = CONTENTS["Linear"]
    write(files, {"docs/passwords.txt": text, "passwords.txt": "alpha"})
    space = make_space(allowlist=("docs/passwords.txt",))
    report = space.index()
    assert report.added == ("docs/passwords.txt",)
    assert "passwords.txt: looks like a secret" in report.warnings
    assert value.encode() not in written(files / ".ragloom")
    assert "The gateway" in space.read("docs/passwords.txt").text


def test_a_query_with_a_token_is_logged_without_it(
    files: Path, make_space: MakeSpace, caplog: pytest.LogCaptureFixture
) -> None:
    _, value = CONTENTS["Anthropic"]
    write(files, {"a.md": "# Alpha\n\nbeta"})
    space = make_space()
    space.index()
    with caplog.at_level(logging.DEBUG):
        space.search(f"why is {value} refused by postgres://me:pw1@h/x")
    log = (files / ".ragloom" / "audit.jsonl").read_text()
    assert "why is *** refused by postgres://me:***@h/x" in log
    assert value not in log + caplog.text

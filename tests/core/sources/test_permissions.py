"""What settings ask for: by what their fields declare, and by what they do not."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragloom.audit
from ragloom import PluginHost, Provider, SourceError, UntrustedError, Workspace, hookimpl
from ragloom.sources.discovery import walk
from ragloom.sources.roots import resolve_roots


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    note: str = ""
    folder: str = field(default="", metadata={"names": "files"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    undeclared: str = "a: default/of its own"
    listed: tuple[str, ...] = ()
    by_name: dict[str, object] = field(default_factory=dict)
    place: Path | None = None
    prompt: str = field(default="", metadata={"names": "nothing"})
    files: tuple[str, ...] = field(default=(), metadata={"names": "files"})
    output: str = field(default="", metadata={"names": "output"})
    service: str = field(default="", metadata={"names": "service"})
    code: str = field(default="", metadata={"names": "code"})
    model: str = field(default="", metadata={"names": "model"})
    choice: Literal["a", "../b"] = "a"
    colour: Colour = Colour.RED
    share: Annotated[float, ...] = 0.5
    number: int = 1
    inner: Inner = field(default_factory=Inner)


class Plugin:
    @hookimpl
    def ragloom_settings(self):
        return {"mine": Section, "many": tuple[Inner, ...]}

    @hookimpl
    def ragloom_embedders(self):
        from ragloom.testing.fakes import HashingEmbedder, HashingOptions

        def make(_options):
            return HashingEmbedder(HashingOptions())

        return [
            Provider(name="hosted", summary="anywhere", create=make),
            Provider(name="here", summary="on this machine", create=make, local=True),
        ]


def asked(tmp_path, text):
    (tmp_path / "ragloom.yaml").write_text(text, "utf-8")
    host = PluginHost({"mine": Plugin(), "audit": ragloom.audit})
    return [
        (one.key, one.value, one.place.rpartition(":")[2])
        for one in Workspace.unchecked(tmp_path, host=host).permissions()
    ]


@pytest.mark.parametrize(
    "value",
    [
        "word",
        "utf-8",
        "two_words",
        "Überschrift",
        "数据库",
        "a: default/of its own",
    ],
)
def test_undeclared_words_and_defaults_need_no_trust(tmp_path, value):
    assert [] == asked(tmp_path, f'mine: {{undeclared: "{value}"}}')


@pytest.mark.parametrize(
    "value",
    [
        "/etc/passwd",
        "~/x",
        "~root",
        "../x",
        "..",
        "docs/a.md",
        "http://h/x",
        "h:80",
        "db.example.org",
        "127.0.0.1",
        "package.module:function",
        "package.module.Class",
        "BAAI/bge-small-en-v1.5",
        "host=h dbname=d",
        "rm -rf x",
        "$(x)",
        "-x",
        "C:\\\\x",
        "a\\nb",
    ],
)
def test_other_undeclared_text_does(tmp_path, value):
    for key, text in (
        ("mine.undeclared", f'mine:\n  undeclared: "{value}"'),
        ("mine.listed", f'mine:\n  listed: ["{value}"]'),
        ("mine.by_name.a.b", f'mine:\n  by_name: {{a: {{b: ["{value}"]}}}}'),
        ("mine.place", f'mine:\n  place: "{value}"'),
        ("mine.inner.note", f'mine:\n  inner: {{note: "{value}"}}'),
        ("many.0.note", f'many:\n  - {{note: "{value}"}}'),
    ):
        if key != "mine.place" or not value.startswith("~"):  # which becomes a path at once
            found = asked(tmp_path, text)
            assert [(key, "2")] == [(one, line) for one, _, line in found]


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("prompt: 'Read http://x and ../y: go'", False),
        ("choice: ../b", False),
        ("colour: red", False),
        ("number: 7", False),
        ("by_name: {size: 3, on: true}", False),
        ("files: [docs, 'docs/*.md', missing/x]", False),
        ("files: ['docs/[x]/../../../y']", True),
        ("files: [docs/inner]", True),
        ("files: [docs/inner/deeper]", True),
        ("inner: {folder: ..}", True),
        ("output: .ragloom/x/y.db", False),
        ("output: docs/a.md", True),
        ("output: .ragloom", True),
        ("output: .ragloom/..", True),
        ("output: .ragloom/../a.md", True),
        ("output: .ragloomy/a.md", True),
        ("output: '.ragloom/[x]/../../a.md'", True),
        ("output: 'tcp:h'", True),
        ("output: 'x:y/../../a'", True),
        ("service: localhost", True),
        ("code: module", True),
        ("model: docs", False),
        ("model: docs/inner", True),
        ("model: missing", True),
        ("model: a/b", True),
    ],
)
def test_what_is_declared_is_held_to_it(tmp_path, text, needs):
    root = tmp_path / "w"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "inner").symlink_to(tmp_path)

    assert needs == bool(asked(root, f"mine: {{{text}}}"))


def test_an_embedder_that_does_not_say_it_keeps_to_this_machine_needs_trust(tmp_path):
    assert [("embedder", "hosted", "1")] == asked(tmp_path, "embedder: hosted")
    assert [] == asked(tmp_path, "embedder: here")
    assert [("spaces.a.embedder", "hosted", "3")] == asked(
        tmp_path, "embedder: here\nspaces:\n  a: {embedder: hosted}"
    )


def test_a_variable_goes_before_what_a_file_asks_for(tmp_path, monkeypatch):
    monkeypatch.setenv("RAGLOOM_MINE_SERVICE", "http://mine")
    assert [] == asked(tmp_path, "mine: {service: http://theirs}")
    monkeypatch.setenv("RAGLOOM_SOURCES", "..")
    assert [] == asked(tmp_path, "sources: [/]\nspaces: {a: {sources: [/etc]}}")


def test_the_line_is_that_of_the_value(tmp_path):
    text = "many:\n  - note: word\n  - folder:\n      ..\n    note: /x\n"
    assert [("many.1.note", "/x", "5"), ("many.1.folder", "..", "3")] == asked(tmp_path, text)


@given(st.text(st.sampled_from("./~ab*[]$:\\"), min_size=1, max_size=12))
def test_no_source_leads_outside_untrusted(tmp_path_factory, text):
    root = tmp_path_factory.mktemp("w")
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "l").symlink_to(root.parent)
    (root.parent / "b.md").touch()
    workspace = Workspace.unchecked(root, host=PluginHost({}))
    try:
        workspace.require(
            workspace.files_outside("sources", [text], place=f"{root}/ragloom.yaml:1")
        )
        roots = resolve_roots([text], root)
    except (UntrustedError, SourceError):
        return
    found = walk(roots, base=root, endings={".md"})
    assert all(
        one.source.path.resolve().is_relative_to(root.resolve()) for one in found if one.status
    )


@pytest.mark.parametrize("source", ["/proc", "/proc/self/environ", "/sys", "/dev", "/dev/null"])
def test_the_systems_files_are_no_source_for_anyone(tmp_path, source):
    if not Path(source).exists():
        pytest.skip("another system")
    workspace = Workspace.open(tmp_path, trusted=True)
    (tmp_path / "linked").symlink_to(source)

    for named in (source, "linked"):
        with pytest.raises(SourceError, match="belongs to the system and is never a source"):
            workspace.space_for([tmp_path / named]).index()
    assert not (tmp_path / ".ragloom").exists()


def test_nor_where_the_root_of_the_disk_is_the_source(tmp_path, monkeypatch):
    for name in ("proc/1", "docs"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "a.md").touch()
    monkeypatch.setattr("ragloom.sources.roots._SYSTEM", (f"{tmp_path}/proc/",))

    found = walk(resolve_roots(["."], tmp_path), base=tmp_path, endings={".md"})

    assert ["docs/a.md"] == [one.source.uri for one in found]

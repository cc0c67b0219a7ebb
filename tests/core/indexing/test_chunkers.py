"""Which chunker splits a file: by its ending, by its loader, or the usual one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragloom import (
    Document,
    Piece,
    PluginError,
    PluginHost,
    Provider,
    Section,
    Source,
    SourceError,
    Space,
    Span,
    Workspace,
)
from ragloom.testing import hashing_provider
from ragloom.testing.fixtures import MakePlugin
from ragloom.text import read_document

pytest.importorskip("pyromark")


class Whole:
    """One chunk a file, with the chunker's name above it."""

    def __init__(self, name: str) -> None:
        self.name = self.fingerprint = name

    def split(self, document: Document, **_: object) -> Iterator[Piece]:
        """All of it."""
        yield Piece(span=Span(0, len(document.text)), headings=(self.name,))


class Wiki:
    """Reads ``.wiki``, whose headings begin with ``=``, or names a chunker for it."""

    suffixes = frozenset({".wiki"})
    fingerprint = "wiki"

    def __init__(self, chunker: str = "", shift: int = 0) -> None:
        self.shift = shift
        if chunker:
            self.chunker = chunker

    def load(self, source: Source, content: bytes) -> Document:
        """The text, with its headings."""
        document = read_document(source, content, media_type="text/x-wiki")
        sections, start = [], self.shift
        for line in document.text.splitlines(keepends=True):
            if line.startswith("="):
                title = line.strip("= \n")
                level = len(line) - len(line.lstrip("="))
                span = Span(start, start + len(line))
                sections.append(Section(span=span, level=level, title=title))
            start += len(line)
        return replace(document, sections=tuple(sections))


@pytest.fixture
def make(tmp_path: Path, make_plugin: MakePlugin):
    """A function that opens a workspace with a loader of ``.wiki``, as a fresh process would."""
    import ragloom_local
    import ragloom_markdown
    import ragloom_text

    def make(settings: str = "", loader: Wiki | None = None) -> Space:
        common = "embedder: hashing\nstore: sqlite\n"
        (tmp_path / "ragloom.yaml").write_text(f"{common}{settings}", "utf-8")
        plugin = make_plugin(
            loaders=[Provider(name="wiki", summary="wiki", create=lambda _: loader or Wiki())],
            chunkers=[
                Provider(name="whole", summary="whole", create=lambda _: Whole("whole")),
                Provider(name="other", summary="other", create=lambda _: Whole("other")),
            ],
            embedders=[hashing_provider()],
        )
        plugins = {"local": ragloom_local, "markdown": ragloom_markdown, "text": ragloom_text}
        return Workspace.open(tmp_path, host=PluginHost({"mine": plugin, **plugins})).space("docs")

    return make


def titles(space: Space, path: str = "a.wiki") -> list[tuple[str, ...]]:
    """The headings of a file's chunks; what is indexed, and what would be."""
    snapshot = space.snapshot()
    rows = (snapshot.chunk(row) for row in range(len(snapshot)))
    found = [(chunk.ordinal, chunk.headings) for chunk in rows if chunk.uri == path]
    ((_, chunks),) = space.chunks([space.workspace.root / path])
    assert sorted(found) == [(chunk.ordinal, chunk.headings) for chunk in chunks]
    return [headings for _, headings in sorted(found)]


@pytest.fixture
def page(tmp_path: Path) -> str:
    """A page of the wiki, and others."""
    (tmp_path / "a.wiki").write_text("= Top\n\nalpha\n\n== Deep\n\nbeta\n", "utf-8")
    (tmp_path / "b.md").write_text("# Other\n\ngamma\n", "utf-8")
    (tmp_path / "c.sql").write_text("select 1;\n", "utf-8")
    return "a.wiki"


def test_sections_of_a_loader_are_headings(make, page) -> None:
    space = make()
    space.index()
    assert [("Top",), ("Top", "Deep")] == titles(space)


@pytest.mark.parametrize(
    ("settings", "named", "expected"),
    [
        ("", "whole", "whole"),
        ("chunkers: {.wiki: other}", "whole", "other"),
        ("chunkers: {WIKI: other}", "", "other"),
        ("spaces:\n  docs: {chunkers: {.wiki: other}}", "whole", "other"),
        ("chunkers: {.wiki: whole}\nspaces:\n  docs: {chunkers: {.wiki: other}}", "", "other"),
        ("chunker: other", "", "other"),
        ("chunker: other", "whole", "whole"),
    ],
)
def test_an_ending_comes_before_its_loader_and_that_before_the_usual(
    make, page, settings: str, named: str, expected: str
) -> None:
    space = make(settings, Wiki(named))
    space.index()
    assert [(expected,)] == titles(space)
    usual = ("other",) if "chunker: other" in settings else ("Other",)
    assert [usual] == titles(space, "b.md")


def test_another_chunker_of_an_ending_splits_only_its_files_again(make, page) -> None:
    make().index()

    report = make("chunkers: {.sql: whole}").index()

    assert (("c.sql",), 2) == (report.updated, report.unchanged)
    assert [("whole",)] == titles(make("chunkers: {.sql: whole}"), "c.sql")
    assert 3 == make("chunkers: {.sql: whole}").index().unchanged


def test_an_ending_that_no_loader_reads_has_a_chunker_where_it_is_named(make, tmp_path) -> None:
    (tmp_path / "d.odd").write_text("some text\n", "utf-8")
    settings = "sources: [d.odd]\nchunkers: {.odd: whole}"
    space = make(settings)
    space.index()
    assert [("whole",)] == titles(space, "d.odd")
    (tmp_path / "e.md").write_text("text\n", "utf-8")

    report = make(settings.replace("d.odd", "e.md")).index()

    assert ("d.odd",) == report.removed


def test_a_chunker_that_nobody_provides_is_named_with_who_wants_it(make, page) -> None:
    with pytest.raises(PluginError, match=r"ragloom\.yaml:3: unknown chunker 'whol'"):
        make("chunkers: {.wiki: whol}").index()
    with pytest.raises(PluginError, match=r"the loader of \.wiki: unknown chunker 'whol'"):
        make(loader=Wiki("whol")).index()


@pytest.mark.parametrize("shift", [-1, 99])
def test_sections_outside_of_the_text_fail_their_file_only(make, page, shift: int) -> None:
    report = make(loader=Wiki(shift=shift)).index()
    (failed,) = report.failed
    assert ("a.wiki", "its sections are not in order, not apart, or outside of its text") == (
        failed.path,
        failed.error,
    )
    space = make(loader=Wiki(shift=shift))
    with pytest.raises(SourceError, match="its sections are not in order"):
        list(space.chunks([space.workspace.root / "a.wiki"]))

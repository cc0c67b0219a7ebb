"""What one file may take: size, text, time and memory, also of code in C that does not return."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ragloom import ConfigError, Document, Source, SourceError, Space
from ragloom.sources.bounded import BoundedLoader, Limits
from ragloom.sources.loading import load_document
from ragloom.sources.worker import WORKER

MakeSpace = Callable[..., Space]
LIMITS = Limits(size=1_000_000, characters=100_000, seconds=1)
TOO_SLOW = (
    "skipped: reading it takes more than 1 s of processor time; "
    "the setting max_file_seconds allows more"
)
CUT = "only the first {} of {} characters are indexed; the setting max_file_characters allows more"
LINE = b"BT /F1 12 Tf 72 720 Td (The turbine is serviced in May.) Tj ET\n"
MODULE = """
import ctypes, os, re, time

from ragloom import Document

class Strange:
    suffixes = frozenset({".odd"})
    fingerprint = "1"
    isolated = True

    def load(self, source, content):
        what = content.decode()
        if what == "regex":  # sre runs for years, and holds the interpreter's lock
            re.match("(a|a)+$", "a" * 60 + "b")
        if what == "loop":
            while True:
                try:
                    time.perf_counter()
                except BaseException:
                    pass
        if what == "memory":
            bytearray(1 << 40)
        if what == "crash":
            ctypes.string_at(0)
        if what == "exit":
            os._exit(0)
        if what == "error":
            raise ZeroDivisionError("no such thing")
        if what == "print":
            print("this is no answer")
            os.write(1, b"nor is this")
        return Document(uri=source.uri, text=what * (100_000 if what == "long" else 1))
"""


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BoundedLoader]:
    """A loader of a plugin's module that does what the file says."""
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "strange_loader.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(folder))
    WORKER.stop()  # it knows the old path
    import strange_loader  # type: ignore[import-not-found]

    yield BoundedLoader(strange_loader.Strange(), LIMITS)
    WORKER.stop()
    del sys.modules["strange_loader"]


def read(loader: BoundedLoader, what: str) -> Document:
    return loader.load(Source(uri="a.odd", path=Path("a.odd")), what.encode())


@pytest.mark.parametrize("what", ["regex", "loop"])
def test_the_time_holds_whatever_code_runs(strange: BoundedLoader, what: str) -> None:
    started = time.perf_counter()
    document = read(strange, what)
    assert time.perf_counter() - started < 4 * LIMITS.seconds + 5
    assert "" == document.text
    assert document.warnings == (TOO_SLOW,)
    assert "fine" == read(strange, "fine").text


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to its memory")
def test_the_memory_holds(strange: BoundedLoader) -> None:
    (warning,) = read(strange, "memory").warnings
    assert warning.startswith("skipped: reading it takes more than ")
    assert warning.endswith(" MB of memory")


@pytest.mark.parametrize("what", ["crash", "exit"])
def test_a_crash_is_that_of_the_file_only(strange: BoundedLoader, what: str) -> None:
    with pytest.raises(SourceError, match="reading it crashed a process"):
        read(strange, what)
    assert "fine" == read(strange, "fine").text


def test_errors_come_back_and_prints_do_not_break_it(strange: BoundedLoader) -> None:
    with pytest.raises(ZeroDivisionError, match="no such thing"):
        read(strange, "error")
    assert "print" == read(strange, "print").text


def test_one_process_serves_all_files(strange: BoundedLoader) -> None:
    read(strange, "one")
    first = WORKER._process
    read(strange, "two")
    assert first is WORKER._process


def test_a_long_text_is_cut_with_a_warning(strange: BoundedLoader) -> None:
    document = read(strange, "long")
    assert LIMITS.characters == len(document.text)
    assert document.warnings == (CUT.format("100,000", "400,000"),)


def test_a_loader_that_no_other_process_can_import_reads_here() -> None:
    class Local:
        suffixes = frozenset({".odd"})
        fingerprint = "1"
        isolated = True

        def load(self, source: Source, content: bytes) -> Document:
            return Document(uri=source.uri, text=f"{os.getpid()} {content.decode()}")

    assert f"{os.getpid()} x" == read(BoundedLoader(Local(), LIMITS), "x").text


def test_where_no_process_starts_files_are_read_here(
    strange: BoundedLoader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragloom.sources.worker._BOOT", "import no_such_module")
    assert "fine" == read(strange, "fine").text


def test_long_metadata_is_not_repeated_in_every_chunk() -> None:
    class Wordy:
        suffixes = frozenset({".odd"})
        fingerprint = "1"

        def load(self, source: Source, content: bytes) -> Document:
            return Document(uri=source.uri, text="x", metadata={"a": 1, "b": "x" * 50_000, "c": 2})

    document = read(BoundedLoader(Wordy(), LIMITS), "x")
    assert {"a": 1} == document.metadata
    assert document.warnings == ("2 of 3 metadata values omitted: too long",)


def pdf(content: bytes, pages: int = 1) -> bytes:
    """Pages that share one compressed stream."""
    packed = zlib.compress(content)
    kids = b" ".join(b"%d 0 R" % (5 + page) for page in range(pages))
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, pages),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R /Resources %b >>"
    parts += [page % b"<< /Font << /F1 4 0 R >> >>"] * pages
    content = b"%PDF-1.4\n"
    places = []
    for number, part in enumerate(parts, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(parts) + 1)
    return content + head + table + end % (len(parts) + 1, len(content))


BOMBS = {
    "stream.pdf": lambda: pdf(LINE * 500_000),
    "blank.pdf": lambda: pdf(b" " * 200_000_000),
    "pages.pdf": lambda: pdf(LINE * 200, pages=3000),
    "quotes.html": lambda: b"<blockquote>" * 150 + b"line of words<br>" * 100_000,
}


def test_an_index_run_goes_on_after_every_bomb(make_space: MakeSpace, files: Path) -> None:
    pytest.importorskip("pypdf")
    pytest.importorskip("markdownify")
    for name, bomb in BOMBS.items():
        (files / name).write_bytes(bomb())
    (files / "good.pdf").write_bytes(pdf(LINE))
    (files / "page.html").write_text("<h1>Pump</h1><p>The pump is serviced in July.</p>")
    (files / "plain.md").write_text("# Plain\n\nThe compressor is serviced in June.\n")
    space = make_space(max_file_seconds=1)
    report = space.index()

    assert () == report.failed
    said = dict(warning.split(": ", 1) for warning in report.warnings if "skipped" in warning)
    assert sorted(BOMBS) == sorted(said)
    assert 3 == sum("the setting max_file_seconds allows more" in why for why in said.values())
    assert {"good.pdf", "page.html", "plain.md"} == {
        hit.chunk.uri for hit in space.search("serviced in", min_relevance=0, mode="lexical").hits
    }
    started = time.perf_counter()
    again = make_space(max_file_seconds=1).index()
    assert time.perf_counter() - started < 2  # none is read once more
    assert (report.warnings[:4], 7) == (again.warnings, again.unchanged)


def test_cells_blanks_and_depth_do_not_multiply() -> None:
    pytest.importorskip("markdownify")
    from ragloom_text.html import HtmlLoader

    source = Source(uri="a.html", path=Path("a.html"))
    for page in (
        "<table><tr>" + "<td colspan=1000>a</td>" * 3000 + "</tr></table>",
        "<table><tr><td colspan=1000000000>a</td></tr></table>",
        "<p>" + "\n" * 300_000 + "x" + " " * 300_000 + "</p>",
        "<blockquote>" * 100 + "line<br>" * 3000,
        f"<img alt='x' src='data:image/png;base64,{'A' * 300_000}'>",
    ):
        document = HtmlLoader().load(source, page.encode())
        assert len(document.text) <= 10 * len(page) + 10_001
    assert "![x]()" == document.text.strip()


def test_data_in_a_notebook_is_not_read(make_space: MakeSpace, files: Path) -> None:
    image = base64.b64encode(bytes(range(256)) * 200).decode()
    cells = [
        {
            "cell_type": "markdown",
            "source": f"# Pump\n\nServiced in May.\n\n![x](data:image/png;base64,{image})\n\nOr June.",
            "attachments": {"a.png": {"image/png": image}},
        },
        {
            "cell_type": "code",
            "source": "draw()",
            "outputs": [{"output_type": "display_data", "data": {"image/png": image}}],
        },
    ]
    (files / "a.ipynb").write_text(json.dumps({"cells": cells}))
    space = make_space()
    report = space.index()
    assert report.chunks <= 4
    assert all(len(hit.chunk.text) < 200 for hit in space.search("serviced", top_k=9).hits)
    assert space.verify().exact == report.chunks


def test_a_large_file_is_skipped_and_read_once_it_may_be(
    make_space: MakeSpace, files: Path
) -> None:
    (files / "large.md").write_text("word " * 1000)
    (files / "long.md").write_text("# Title\n\n" + "Sentence of words. " * 100)
    report = make_space(max_file_bytes=4999, max_file_characters=1000).index()
    assert report.warnings[:2] == (
        "large.md: skipped: 5,000 bytes are more than 4,999; the setting max_file_bytes allows more",
        f"long.md: {CUT.format('1,000', '1,909')}",
    )
    space = make_space()
    report = space.index()
    assert not [warning for warning in report.warnings if ".md" in warning]
    assert ("large.md",) == report.added
    assert ("long.md",) == report.updated
    assert space.verify().exact == report.chunks


def test_markdown_starts_no_process(
    make_space: MakeSpace, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    (files / "a.md").write_text("# A\n\nText.\n")
    (files / "a.ipynb").write_text('{"cells": [{"cell_type": "markdown", "source": "Text"}]}')
    (files / "a.py").write_text("def a(): pass\n")
    assert 3 == len(make_space().index().added)


def test_a_fault_of_the_loader_names_it(strange: BoundedLoader) -> None:
    with pytest.raises(SourceError, match=r"strange_loader\.Strange failed: .*no such thing"):
        load_document(Source(uri="a.odd", path=Path("a.odd")), b"error", strange)


def test_a_record_of_sources_has_a_maximum_size(make_space: MakeSpace, files: Path) -> None:
    (files / "a.md").write_text("alpha")
    workspace = make_space().workspace
    space = workspace.space_for([files / "a.md"])
    space.index()
    (space.directory / "space.json").write_bytes(b" " * 50_000_000)
    with pytest.raises(ConfigError, match=r"space\.json: .*larger than 1,000,000 bytes") as raised:
        workspace.space(space.name)
    assert "\n" not in str(raised.value)
    assert 1 == workspace.space_for([files / "a.md"]).index().unchanged

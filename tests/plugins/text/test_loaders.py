"""Files of many kinds as documents."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from ragloom import Loader, Source, SourceError
from ragloom_text.html import HtmlLoader
from ragloom_text.notebook import NotebookLoader
from ragloom_text.pdf import PdfLoader
from ragloom_text.plain import CodeLoader, TextLoader, language_of
from ragloom_text.rst import RstLoader


def source(name: str) -> Source:
    return Source(uri=name, path=Path(name), modified=2.0)


LOADERS: tuple[Loader, ...] = (
    TextLoader(),
    RstLoader(),
    CodeLoader(),
    HtmlLoader(),
    PdfLoader(),
    NotebookLoader(),
)


def test_no_ending_is_read_twice() -> None:
    endings = [ending for loader in LOADERS for ending in loader.suffixes]
    assert len(set(endings)) == len(endings)
    assert [ending for ending in endings if ending != ending.lower()] == []
    assert [ending for ending in endings if ending[:1] != "."] == [""]
    assert len({loader.fingerprint for loader in LOADERS}) == len(LOADERS)


def test_text_keeps_its_bytes() -> None:
    content = b"\xef\xbb\xbfone\r\ntwo \xc3\xa9\r\n"
    document = TextLoader().load(source("a.txt"), content)
    assert ("one\r\ntwo é\r\n", 3, "text/plain", 2.0) == (
        document.text,
        document.bom,
        document.media_type,
        document.modified,
    )
    assert "text/x-rst" == RstLoader().load(source("a.rst"), b"A\n=\n").media_type


def test_restructured_text_hands_over_its_titles() -> None:
    text = "====\nTop\n====\n\nIntro.\n\nOne\n---\n\na\n\nTwo\n~~~\n\n"
    text += "==  ==\n1   2\n==  ==\n\nThree\n-----\n"
    sections = RstLoader().load(source("a.rst"), text.encode()).sections
    found = [(one.level, one.title) for one in sections]
    assert [(1, "Top"), (2, "One"), (3, "Two"), (2, "Three")] == found
    spans = [text[slice(*one.span)] for one in sections]
    assert ["====\nTop\n====\n", "One\n---\n", "Two\n~~~\n", "Three\n-----\n"] == spans


def test_code_knows_its_language() -> None:
    document = CodeLoader().load(source("a/B.PY"), b"x = 1\n")
    assert "python" == language_of(document.media_type)
    assert language_of("text/plain") is None
    assert language_of("text/markdown") is None


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("config.YAML", b"a: 1\n", "text/x-yaml"),
        ("app.json", b"{}\n", "text/x-json"),
        ("tsconfig.jsonc", b"{}\n", "text/x-json"),
        ("pyproject.toml", b"[a]\n", "text/x-toml"),
        ("setup.cfg", b"[a]\n", "text/x-ini"),
        ("owners.tsv", b"a\tb\n", "text/x-csv"),
        ("Makefile", b"all:\n", "text/x-make"),
        ("Dockerfile.dev", b"FROM a\n", "text/x-dockerfile"),
        ("deploy", b"#!/bin/sh\n", "text/x-script"),
        ("LICENSE", b"Permission\n", "text/plain"),
        ("notes.org", b"* Notes\n", "text/plain"),
        (".editorconfig", b"root = true\n", "text/plain"),
    ],
)
def test_settings_data_and_files_without_an_ending_are_text(
    name: str, content: bytes, media_type: str
) -> None:
    document = CodeLoader().load(source(name), content)
    assert (content.decode(), media_type) == (document.text, document.media_type)


def test_notebook_cells_become_markdown() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# T\n", "\n", "text"]},
        {"cell_type": "code", "source": "print('```')\n", "outputs": [{"text": "no"}]},
        {"cell_type": "raw", "source": "  "},
    ]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4}
    document = NotebookLoader().load(source("a.ipynb"), json.dumps(notebook).encode())
    assert "# T\n\ntext\n\n````python\nprint('```')\n````\n" == document.text
    assert ({"language": "python"}, True) == (document.metadata, document.extracted)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"cells": 1}', b"[" * 100_000, b"\0" * 64]
)
def test_no_notebook_is_refused(content: bytes) -> None:
    with pytest.raises(SourceError):
        NotebookLoader().load(source("a.ipynb"), content)


class TestHtml:
    @pytest.fixture(autouse=True)
    def _needs_markdownify(self) -> None:
        for module in ("bs4", "lxml", "markdownify"):
            pytest.importorskip(module)

    def test_a_page_becomes_markdown(self) -> None:
        page = (
            '<html lang="de"><head><meta charset="iso-8859-1"><title>T é</title>'
            '<meta name="description" content="D"><style>x{}</style></head><body><nav>menu</nav>'
            "<h1>Über</h1><p>a_b &amp; <b>c</b></p><ul><li>1<li>2</ul>"
            "<table><tr><th>a<th>b<tr><td>1<td>2</table><script>alert(1)</script></body></html>"
        )
        document = HtmlLoader().load(source("a.html"), page.encode("latin-1"))
        expected = "# Über\n\na_b & **c**\n\n- 1\n- 2\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"
        assert expected == document.text
        assert {"title": "T é", "description": "D", "lang": "de"} == document.metadata
        assert (True, "text/markdown", ()) == (
            document.extracted,
            document.media_type,
            document.warnings,
        )

    def test_text_that_looks_like_markdown_is_text(self) -> None:
        page = "<p># no &lt;b&gt;</p><p>Title<br>---</p><p>~~~</p><pre># code</pre><code># c</code>"
        text = HtmlLoader().load(source("a.html"), page.encode()).text
        assert "\\# no <b>\n\nTitle  \n\\---\n\n\\~~~\n\n```\n# code\n```\n\n`# c`\n" == text

    def test_nothing_is_an_empty_document(self) -> None:
        assert "" == HtmlLoader().load(source("a.html"), b"").text

    def test_what_is_no_text_is_refused(self) -> None:
        with pytest.raises(SourceError):
            HtmlLoader().load(source("a.html"), bytes(range(8)) * 100)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "content",
    [b"docs/readme.txt", b"https://example.org/x", b'<?xml version="1.0"?><rss>text</rss>'],
)
def test_no_library_warns_of_a_page_in_its_own_words(content: bytes) -> None:
    pytest.importorskip("markdownify")
    assert HtmlLoader().load(source("a.html"), content).text


def test_no_library_logs_of_a_page_in_its_own_words() -> None:
    pytest.importorskip("markdownify")
    code = (
        "import random; from pathlib import Path; from ragloom import Source, SourceError\n"
        "from ragloom_text.html import HtmlLoader\n"
        "try: HtmlLoader().load(Source(uri='a', path=Path('a')), random.Random(0).randbytes(3000))\n"
        "except SourceError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert done.stderr == b""
    assert done.stdout.startswith(b"not HTML")


class TestPdf:
    @pytest.fixture(autouse=True)
    def _needs_pypdf(self) -> None:
        pytest.importorskip("pypdf")

    @pytest.mark.parametrize("content", [b"", b"%PDF-1.4 no", b"\0\1\2" * 100])
    def test_no_pdf_is_refused(self, content: bytes) -> None:
        with pytest.raises(SourceError, match="PDF"):
            PdfLoader().load(source("a.pdf"), content)

    def test_text_and_metadata(self) -> None:
        document = PdfLoader().load(source("a.pdf"), pdf_of("Hello retrieval", "Second page"))
        assert "Hello retrieval\n\nSecond page\n" == document.text
        assert {"pages": 2, "title": "T"} == document.metadata
        assert document.extracted

    def test_a_scan_is_named(self) -> None:
        document = PdfLoader().load(source("a.pdf"), pdf_of(""))
        assert ("", 1) == (document.text, len(document.warnings))

    def test_a_password_is_named(self) -> None:
        with pytest.raises(SourceError, match="password"):
            PdfLoader().load(source("a.pdf"), pdf_of("x", password="secret"))  # noqa: S106

    def test_what_decryption_needs_is_named(self, tmp_path: Path) -> None:
        pytest.importorskip("cryptography")
        file = tmp_path / "a.pdf"
        file.write_bytes(pdf_of("x", password="secret", algorithm="AES-256"))  # noqa: S106
        load = (
            "import sys; from pathlib import Path; sys.modules['cryptography'] = None\n"
            "from ragloom import Source; from ragloom_text.pdf import PdfLoader\n"
            "path = Path(sys.argv[1])\n"
            "PdfLoader().load(Source(uri='a.pdf', path=path), path.read_bytes())"
        )
        done = subprocess.run(
            [sys.executable, "-c", load, file], capture_output=True, text=True, check=False
        )
        assert "MissingDependencyError: an encrypted PDF needs cryptography" in done.stderr
        assert "pip install 'pypdf[crypto]'" in done.stderr

    @pytest.mark.parametrize("damage", [b"99 0 R", b"<< >>", b"null", b"1 0 R", b"[", b""])
    def test_a_damaged_pdf_is_read_or_refused(self, damage: bytes) -> None:
        whole = pdf_of("Hello retrieval", "Second page")
        for token in re.finditer(rb"\d+ 0 R|/\w+|\d+|<<|>>", whole):
            content = whole[: token.start()] + damage + whole[token.end() :]
            with suppress(SourceError):
                PdfLoader().load(source("a.pdf"), content)

    def test_what_pypdf_says_is_a_warning_of_the_document_and_nothing_else(self) -> None:
        content = b"junk\n" + pdf_of("Hello retrieval")
        code = (
            "import sys; from pathlib import Path; from ragloom import Source\n"
            "from ragloom_text.pdf import PdfLoader\n"
            "made_of = Source(uri='a.pdf', path=Path('a.pdf'))\n"
            "print(PdfLoader().load(made_of, sys.stdin.buffer.read()).warnings)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], input=content, check=True, capture_output=True
        )
        assert done.stderr == b""
        document = PdfLoader().load(source("a.pdf"), content)
        assert document.text == "Hello retrieval\n"
        (warning,) = document.warnings
        assert warning.startswith("not a correct PDF, read as far as it goes: invalid pdf header")
        assert done.stdout.decode().strip() == repr(document.warnings)


def pdf_of(*pages: str, password: str = "", algorithm: str = "RC4-128") -> bytes:
    """A PDF with a line of text on each page."""
    from pypdf import PdfWriter
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

    writer = PdfWriter()
    names = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = DictionaryObject({NameObject(key): NameObject(name) for key, name in names.items()})
    for text in pages:
        page = writer.add_blank_page(300, 200)
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode())
        fonts = DictionaryObject({NameObject("/F1"): font})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        page[NameObject("/Contents")] = stream
    writer.add_metadata({"/Title": "T"})
    if password:
        writer.encrypt(password, algorithm=algorithm)
    content = io.BytesIO()
    writer.write(content)
    return content.getvalue()

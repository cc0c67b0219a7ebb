"""DOCX and EPUB as Markdown."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from ragloom import Document, PluginHost, Source, SourceError
from ragloom.testing import LoaderContract

pytest.importorskip("bs4")
pytest.importorskip("lxml")
pytest.importorskip("markdownify")

from ragloom_text import archive
from ragloom_text.docx import DocxLoader
from ragloom_text.epub import EpubLoader

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
CORE = (
    '<c:coreProperties xmlns:c="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Notes</dc:title>'
    "<dc:creator>A. B.</dc:creator></c:coreProperties>"
)
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)


def packed(files: dict[str, str]) -> bytes:
    """A ZIP archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as written:
        for name, text in files.items():
            written.writestr(name, text)
    return content.getvalue()


def docx(body: str, **more: str) -> bytes:
    """A Word document."""
    relations = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
        'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
        "</w:style>"
        for level in (1, 2)
    )
    return packed(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
            'content-types"><Override PartName="/word/document.xml" ContentType="application/'
            'vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
            "_rels/.rels": relations,
            "word/styles.xml": f'<w:styles xmlns:w="{WORD}">{styles}</w:styles>',
            "word/document.xml": f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>',
            **more,
        }
    )  # fmt: skip


def paragraph(text: str, style: str = "") -> str:
    """A paragraph of Word."""
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{named}<w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def epub(pages: dict[str, str], package: str = "", **more: str) -> bytes:
    """A book of some pages."""
    items = "".join(
        f'<item id="i{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="i{number}"/>' for number in range(len(pages)))
    written = {
        f"OPS/{name}": f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
        f"</head><body>{body}</body></html>"
        for name, body in pages.items()
    }
    book = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>The Sea</dc:title><dc:creator>A</dc:creator><dc:creator>B</dc:creator>"
        "<dc:language>en</dc:language><dc:subject>water</dc:subject></metadata><manifest>"
        f'{items}<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        f"</manifest><spine><itemref idref='nav'/>{spine}</spine></package>"
    )
    return packed(
        {"META-INF/container.xml": CONTAINER, "OPS/book.opf": package or book, **written, **more}
    )


def load(name: str, content: bytes) -> Document:
    loader = DocxLoader() if name.endswith("docx") else EpubLoader()
    return loader.load(Source(uri=name, path=Path(name)), content)


class TestDocx:
    @pytest.fixture(autouse=True)
    def _needs_mammoth(self):
        pytest.importorskip("mammoth")

    def test_headings_paragraphs_and_tables(self):
        cells = "".join(
            f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in row)}</w:tr>"
            for row in (("Berth", "Fee"), ("1", "nine"))
        )
        body = (
            paragraph("Harbour", "Heading1")
            + paragraph("The fee is naïve &amp; 日本.")
            + paragraph("Fees", "Heading2")
            + f"<w:tbl>{cells}</w:tbl>"
        )
        document = load("a.docx", docx(body, **{"docProps/core.xml": CORE}))
        expected = (
            "# Harbour\n\nThe fee is naïve & 日本.\n\n## Fees\n\n"
            "| Berth | Fee |\n| --- | --- |\n| 1 | nine |\n"
        )
        assert expected == document.text
        assert {"title": "Notes", "author": "A. B."} == document.metadata
        assert (True, "text/markdown", ()) == (
            document.extracted,
            document.media_type,
            document.warnings,
        )

    def test_text_that_looks_like_markdown_is_text(self):
        blocks = pytest.importorskip("ragloom_markdown.blocks")
        body = "".join(
            paragraph(text)
            for text in ("# a comment", "```", "&lt;!-- x", "Title", "---", "&gt; more", "#5 a - b")
        )
        text = load("a.docx", docx(body + paragraph("Real", "Heading1"))).text
        found = [(one.kind, one.title) for one in blocks.parse(text).blocks]
        assert [*[("paragraph", "")] * 7, ("heading", "Real")] == found
        assert "#5 a - b" in text

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"PK\x03\x04",
            docx("")[:200],
            packed({"a": "b"}),
            packed({"word/document.xml": "<a"}),
        ],
    )
    def test_what_is_no_document_is_refused(self, content):
        with pytest.raises(SourceError, match="DOCX"):
            load("a.docx", content)


class TestEpub:
    def test_the_pages_of_the_spine_in_their_order(self):
        pages = {
            "b.xhtml": "<h1>First</h1><p>One <em>two</em>.</p><script>no()</script>",
            "a%20b.xhtml": "<h2>Second</h2><ul><li>x</li></ul>",
        }
        book = epub(pages, **{"OPS/a b.xhtml": "<html><body><h2>Second</h2><p>x</p></body></html>"})
        document = load("a.epub", book)
        assert "# First\n\nOne *two*.\n\n## Second\n\nx\n" == document.text
        assert {
            "title": "The Sea",
            "author": "A, B",
            "lang": "en",
            "tags": ["water"],
        } == document.metadata
        assert () == document.warnings

    def test_a_page_that_is_missing_is_named(self):
        package = (
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="gone.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
        )
        document = load("a.epub", epub({}, package))
        assert ("", ("OPS/gone.xhtml is missing in the EPUB",)) == (
            document.text,
            document.warnings,
        )

    def test_an_encrypted_book_is_refused(self):
        encrypted = (
            '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><EncryptedData '
            'xmlns="http://www.w3.org/2001/04/xmlenc#"><CipherData><CipherReference URI="OPS/a.xhtml"/>'
            "</CipherData></EncryptedData></encryption>"
        )
        with pytest.raises(SourceError, match="encrypted"):
            load("a.epub", epub({"a.xhtml": "x"}, **{"META-INF/encryption.xml": encrypted}))

    @pytest.mark.parametrize(
        "content",
        [b"", b"PK\x03\x04", epub({"a": "b"})[:300], packed({"a": "b"}),
         packed({"META-INF/container.xml": "<container/>"}), packed({"META-INF/container.xml": "<"})],
    )  # fmt: skip
    def test_what_is_no_book_is_refused(self, content):
        with pytest.raises(SourceError):
            load("a.epub", content)

    def test_entities_are_not_expanded(self, tmp_path):
        (tmp_path / "secret").write_text("secret", encoding="utf-8")
        package = (
            f'<!DOCTYPE p [<!ENTITY x SYSTEM "{tmp_path / "secret"}">]><package '
            'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>&x;</dc:title></package>'
        )
        assert {"title": "&x;"} == load("a.epub", epub({}, package)).metadata


def test_what_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(archive, "_MOST_BYTES", 1000)
    with pytest.raises(SourceError, match="unpacks to more than 1,000 bytes"):
        load("a.epub", epub({"a.xhtml": "x" * 2000}))


class TestDocxContract(LoaderContract):
    @pytest.fixture
    def loader(self):
        pytest.importorskip("mammoth", reason="needs the extra [docx]")
        import ragloom_text

        return PluginHost({"text": ragloom_text}).loader("docx")

    @pytest.fixture
    def samples(self):
        return {"notes.docx": docx(paragraph("The keys are rotated."))}


class TestEpubContract(LoaderContract):
    @pytest.fixture
    def loader(self):
        import ragloom_text

        return PluginHost({"text": ragloom_text}).loader("epub")

    @pytest.fixture
    def samples(self):
        return {"book.epub": epub({"a.xhtml": "<h1>Keys</h1><p>They are rotated.</p>"})}

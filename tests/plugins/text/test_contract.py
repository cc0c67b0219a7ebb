import json

import pytest

from ragloom import PluginHost
from ragloom.testing import ChunkerContract, LoaderContract, PluginContract


@pytest.fixture(scope="module")
def host():
    import ragloom_text

    return PluginHost({"text": ragloom_text})


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_text"


@pytest.mark.parametrize("name", ["text", "restructuredtext", "asciidoc", "org", "latex", "code"])
class TestPlainLoaders(LoaderContract):
    @pytest.fixture
    def loader(self, host, name):
        return host.loader(name)


class TestNotebookLoader(LoaderContract):
    @pytest.fixture
    def loader(self, host):
        return host.loader("notebook")

    @pytest.fixture
    def samples(self):
        cells = [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "Some text.\n"]},
            {"cell_type": "code", "metadata": {}, "source": "print('x')\n", "outputs": []},
        ]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
        return {"book.ipynb": json.dumps(notebook, indent=1).encode()}


class TestHtmlLoader(LoaderContract):
    @pytest.fixture
    def loader(self, host):
        for module in ("bs4", "lxml", "markdownify"):
            pytest.importorskip(module, reason="needs the extra [html]")
        return host.loader("html")

    @pytest.fixture
    def samples(self):
        return {
            "page.html": "<h1>Title</h1>\n<p>Some text, na\u00efve \u65e5\u672c.</p>\n".encode()
        }


class TestPdfLoader(LoaderContract):
    @pytest.fixture
    def loader(self, host):
        pytest.importorskip("pypdf", reason="needs the extra [pdf]")
        return host.loader("pdf")

    @pytest.fixture
    def samples(self):
        return {"page.pdf": pdf("The signing keys are rotated every month.")}


@pytest.mark.parametrize("name", ["sentence", "token"])
class TestChunkers(ChunkerContract):
    @pytest.fixture
    def chunker(self, host, name):
        return host.chunker(name, {"fit": True})


class TestCodeChunker(ChunkerContract):
    media_type = "text/x-python"

    @pytest.fixture
    def chunker(self, host):
        pytest.importorskip("tree_sitter", reason="needs the extra [code]")
        pytest.importorskip("tree_sitter_language_pack", reason="needs the extra [code]")
        return host.chunker("code")


def pdf(text):
    """The smallest file with one page and one line of text."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> >>"
        ),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    content, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return content + (
        b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF"
        % (table, len(content))
    )

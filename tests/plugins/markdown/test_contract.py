import pytest

pytest.importorskip("pyromark", reason="needs the extra [markdown]")

from ragloom.testing import ChunkerContract, LoaderContract, PluginContract
from ragloom_markdown.chunker import HeadingChunker
from ragloom_markdown.loader import MarkdownLoader

PAGE = """\
---
title: "Gr\u00f6\u00dfe: it's"
date: 2024-05-01
tags: [a, b]
ratio: .nan
---
# Title

Some text, na\u00efve \u65e5\u672c.
"""


class TestPlugin(PluginContract):
    @pytest.fixture
    def plugin(self):
        return "ragloom_markdown"


class TestLoader(LoaderContract):
    @pytest.fixture
    def loader(self):
        return MarkdownLoader()

    @pytest.fixture
    def samples(self):
        return {"page.md": PAGE.encode(), "bare.md": b"# Title\n\nText without front matter.\n"}


class TestChunker(ChunkerContract):
    @pytest.fixture
    def chunker(self):
        return HeadingChunker(levels=(1, 2))


class TestChunkerOfEveryLevel(ChunkerContract):
    @pytest.fixture
    def chunker(self):
        return HeadingChunker(levels=(1, 2, 3, 4, 5, 6))

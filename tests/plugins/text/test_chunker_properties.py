"""What holds for every chunker and every text."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom import Chunker, Document, Source, SourceError, TokenCounter
from ragloom.retrieval.verify import verify_chunks
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import make_chunks
from ragloom.text.decoding import read_document
from ragloom.text.tokens import counter as counter_by_name
from ragloom_text.sentence_chunker import SentenceChunker
from ragloom_text.token_chunker import TokenChunker

BLANK = re.compile(r"\s+")


class BytesCounter:
    """A token a byte of UTF-8: no text has fewer characters than tokens, and all texts add up."""

    name = "bytes"
    additive = True

    def count(self, text: str) -> int:
        return len(text.encode())

    def spans(self, text: str) -> list[tuple[int, int]]:
        spans = []
        for position, character in enumerate(text):
            spans.append((position, position + 1))
            spans += [(position + 1, position + 1)] * (len(character.encode()) - 1)
        return spans


class GrudgingCounter(RegexCounter):
    """Counts a text as more than its parts, as no counter should and some do."""

    def count(self, text: str) -> int:
        return super().count(text) + len(text) // 16


COUNTERS: tuple[TokenCounter, ...] = (
    RegexCounter(),
    BytesCounter(),
    GrudgingCounter(),
    counter_by_name("approximate"),
)

FRAGMENTS = (
    *(
        "# ",
        "## Title\n",
        "### Sub\n",
        "Title\n===\n",
        "---\n",
        "```\n",
        "````py\n",
        "~~~\n",
        "\n\n",
    ),
    *("- item\n", "1. one\n", "> quote\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "[a]: /u\n"),
    *("<div>\n", "<!-- x -->\n", "    code\n", "\t", "\r", "\r\n", "\f", "\x85", "\u2028", "\0"),
    *("A sentence. ", "Is it? ", "e.g. this ", "3.14 ", "https://a.b/c?d=e ", "… ", "Mr. Smith "),
    *("中文合約。", "轉換體驗課", "日本語です。", "สวัสดี ครับ ", "한국어 ", "नमस्ते। ", "مرحبا؟ "),
    *(
        "🙂",
        "👩‍👩‍👧",
        "e\u0301",
        "\u200b",
        "\u202e",
        "word ",
        "x" * 70,
        "def f(a):\n    return a\n\n",
    ),
    *(
        "class A:\n",
        "fn main() {}\n",
        "import os\n",
        "/* c */\n",
        "// d\n",
        "}\n",
        "{\n",
        "=====\n",
    ),
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
)
MEDIA_TYPES = st.sampled_from(
    ["text/markdown", "text/plain", "text/x-rst", "text/x-python", "text/x-rust", "text/x-cpp"]
)


def heading() -> Chunker:
    pytest.importorskip("pyromark")
    from ragloom_markdown.chunker import HeadingChunker

    return HeadingChunker(levels=(1, 2, 3))


def code() -> Chunker:
    pytest.importorskip("tree_sitter_language_pack")
    from ragloom_text.code_chunker import CodeChunker

    return CodeChunker()


def check(chunker: Chunker, document: Document, counter: TokenCounter, limit: int) -> None:
    pieces = list(chunker.split(document, counter=counter, max_tokens=limit))
    assert pieces == list(chunker.split(document, counter=counter, max_tokens=limit))
    chunks = make_chunks(document, pieces, counter)
    content = document.text.encode()
    assert [None] * len(chunks) == verify_chunks(chunks, document)
    assert len(chunks) == len({chunk.id for chunk in chunks})
    position = 0
    for chunk in chunks:
        assert content[slice(*chunk.bytes)].decode() == chunk.text
        assert chunk.text.strip()
        assert not document.text[position : chunk.span.start].strip()
        position = max(position, chunk.span.end)
    assert not document.text[position:].strip()


@given(TEXTS, MEDIA_TYPES, st.sampled_from(COUNTERS), st.integers(1, 60))
@pytest.mark.parametrize("make", [heading, code])
def test_structured_chunkers(
    make: type[Chunker], text: str, media_type: str, counter: TokenCounter, limit: int
) -> None:
    chunker = make()
    document = Document(uri="a", text=text, media_type=media_type)
    check(chunker, document, counter, limit)
    for piece in chunker.split(document, counter=counter, max_tokens=limit):
        embedded = f"{piece.context}\n" if piece.context else ""
        whole = embedded + text[slice(*piece.span)]
        assert counter.count(whole) <= limit or piece.span.end - piece.span.start == 1


@given(
    TEXTS, st.integers(1, 120), st.integers(0, 150), st.sampled_from(COUNTERS), st.integers(1, 60)
)
def test_sentences(text: str, size: int, overlap: int, counter: TokenCounter, limit: int) -> None:
    chunker = SentenceChunker(size=size, overlap=overlap, fit=True)
    document = Document(uri="a", text=text)
    check(chunker, document, counter, limit)
    pieces = list(chunker.split(document, counter=counter, max_tokens=limit))
    for piece in pieces:
        tokens = counter.count(text[slice(*piece.span)])
        assert tokens <= limit or piece.span.end - piece.span.start == 1
    assert all(piece.span.end - piece.span.start <= size for piece in pieces)
    ends = [piece.span.end for piece in pieces]
    assert sorted(set(ends)) == ends
    for one, two in pairwise(pieces):
        assert one.span.start < two.span.start
        assert one.span.end - two.span.start <= overlap


@given(
    TEXTS,
    st.sampled_from(COUNTERS[:3]),
    st.integers(1, 60),
    st.integers(0, 70),
    st.sampled_from(["embedder", "approximate"]),
    st.integers(1, 60),
)
def test_tokens(
    text: str, counter: TokenCounter, size: int, overlap: int, name: str, limit: int
) -> None:
    chunker = TokenChunker(size=size, overlap=overlap, counter=name, fit=True)
    document = Document(uri="a", text=text)
    check(chunker, document, counter, limit)
    pieces = list(chunker.split(document, counter=counter, max_tokens=limit))
    own = counter if name == "embedder" else counter_by_name(name)
    for piece in pieces:
        part = text[slice(*piece.span)]
        assert len(part) == 1 or (own.count(part) <= size and counter.count(part) <= limit)
    assert all(a.span.start < b.span.start for a, b in pairwise(pieces))


@given(TEXTS, st.sampled_from(["utf-16-le", "gb18030", "utf-8-sig"]))
def test_bytes_are_exact_in_every_encoding(text: str, encoding: str) -> None:
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    content = mark + text.encode(encoding)
    try:
        document = read_document(Source(uri="a", path=Path("a")), content, media_type="text/plain")
    except SourceError:  # Control characters enough to look binary.
        return
    chunker = SentenceChunker(size=40, overlap=10)
    chunks = make_chunks(
        document, chunker.split(document, counter=COUNTERS[0], max_tokens=10), COUNTERS[0]
    )
    if document.extracted:
        content = document.text.encode()
    encoding = "utf-8" if document.extracted else document.encoding
    for chunk in chunks:
        assert chunk.text == content[slice(*chunk.bytes)].decode(encoding)

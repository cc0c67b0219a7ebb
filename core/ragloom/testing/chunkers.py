"""What every chunker promises."""

from __future__ import annotations

from typing import ClassVar, Final

import pytest

from ragloom.protocols import Chunker
from ragloom.testing.contract import Contract
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import join_context, make_chunks
from ragloom.types import Chunk, Document, Piece

__all__ = ["DOCUMENTS", "ChunkerContract"]

_PROSE: Final = "The signing keys are rotated on the first Monday of every month. "

DOCUMENTS: Final = {
    "one line": "Just one line",
    "markdown": (
        "# Title\n\nIntroduction.\n\n## First\n\n- a\n- b\n\n```python\nprint('x')\n\n\nprint('y')\n"
        "```\n\n## Second\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n### Deeper\n\nText.\n"
    ),
    "crlf": "# Title\r\n\r\nOne.\r\n\r\nTwo.\r\n",
    "lone cr": "One.\rTwo.\r\rThree.\r",
    "blanks at the ends": "\n\n \t\n  indented text\n\n\n",
    "scripts": "Gr\u00f6\u00dfe. \u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u3002\U0001f9f5\u200d\U0001f469 "
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 e\u0301\n" * 20,
    "separators": "a\u2028b\u2029c\x0bd\x0ce\x85f\xa0g\ufeffh\x00i\n",
    "code": "def one():\n    return 1\n\n\nclass Two:\n    def three(self):\n        return 3\n"
    * 12,
    "long prose": (_PROSE * 12 + "\n\n") * 6,
    "long line": "word " * 3000,
    "no blanks": "x" * 9000,
    "no words": "-" * 2000 + "\n" + "|" * 2000,
    "rows": "| key | value |\n| --- | --- |\n" + "| a | b |\n" * 400,
    "open fence": "```\n" + "never closed\n" * 50,
    "many titles": "".join(f"{'#' * (1 + n % 6)} Title {n}\n" for n in range(80)),
}
"""Texts by what is odd about them."""

_MAX_TOKENS: Final = 64

_every_document = pytest.mark.parametrize("document_name", DOCUMENTS)


class ChunkerContract(Contract, contract=True):
    """Every chunker passes these tests. The author writes the fixture ``chunker``.

    Attributes:
        media_type: Of the documents that it is given.
    """

    media_type: ClassVar[str] = "text/markdown"

    @pytest.fixture
    def chunker(self) -> Chunker:
        """Written by the author: a chunker."""
        raise NotImplementedError("write a fixture chunker that returns your chunker")

    def test_has_every_method_of_the_protocol(self, chunker: Chunker) -> None:
        """A chunker has all of ``ragloom.Chunker``: look at the names of methods and properties."""
        assert isinstance(chunker, Chunker)

    @pytest.mark.parametrize("text", ["", " \n\t\n"], ids=["empty", "blank"])
    def test_blank_documents_have_no_chunks(self, chunker: Chunker, text: str) -> None:
        """An empty or blank document has no chunks: look for a last one that is always added."""
        assert self._pieces(chunker, text) == []

    @_every_document
    def test_pieces_lie_inside_the_text(self, chunker: Chunker, document_name: str) -> None:
        """``0 <= start < end <= len(text)``, in characters: look for byte offsets."""
        text = DOCUMENTS[document_name]
        outside = [
            piece.span
            for piece in self._pieces(chunker, text)
            if not 0 <= piece.span[0] < piece.span[1] <= len(text)
        ]
        assert outside == []

    @_every_document
    def test_pieces_come_in_order(self, chunker: Chunker, document_name: str) -> None:
        """Sorted by their start; they may overlap, and no two are the same."""
        spans = [tuple(piece.span) for piece in self._pieces(chunker, DOCUMENTS[document_name])]
        starts = [start for start, _ in spans]
        assert starts == sorted(starts)
        assert len(set(spans)) == len(spans)

    @_every_document
    def test_every_character_that_is_not_blank_is_covered(
        self, chunker: Chunker, document_name: str
    ) -> None:
        """What no chunk holds can never be found: look for separators that are thrown away."""
        text = DOCUMENTS[document_name]
        left = list(text)
        for piece in self._pieces(chunker, text):
            start, end = piece.span
            left[start:end] = " " * len(left[start:end])
        lost = "".join(left).split()
        assert lost == []

    def test_pieces_fit_the_embedder(self, chunker: Chunker) -> None:
        """Context and text together have at most ``max_tokens``: measure with ``counter``.

        What is longer is embedded in windows, whose mean says less of each. A chunker whose user asks for a
        size says so by an attribute ``fits = False``, and is not held to this.
        """
        if not getattr(chunker, "fits", True):
            pytest.skip("its chunks are as long as its user asks for")
        counter = RegexCounter()
        for document_name, text in DOCUMENTS.items():
            longest = [
                counter.count(join_context(piece.context, text[piece.span[0] : piece.span[1]]))
                for piece in self._pieces(chunker, text)
            ]
            assert max(longest, default=0) <= _MAX_TOKENS, document_name

    @_every_document
    def test_chunks_are_exact_slices_of_the_file(
        self, chunker: Chunker, document_name: str
    ) -> None:
        """Text, bytes and lines of every chunk can be checked against the file.

        A prefix such as front matter lies before ``document.text``: spans count from the text.
        """
        prefix = "---\ntitle: \u00fc\n---\n"
        whole = prefix + DOCUMENTS[document_name]
        encoded = whole.encode()
        for made in self._chunks(chunker, DOCUMENTS[document_name], prefix=prefix):
            assert made.text == whole[made.span.start : made.span.end]
            assert made.text.encode() == encoded[made.bytes.start : made.bytes.end]

    def test_ids_survive_an_addition_at_the_end(self, chunker: Chunker) -> None:
        """What is added to a file is embedded, and not the whole file again.

        A chunk's id comes from its text, so that chunks before the addition must stay the same: look
        for sizes that depend on the length of the document.
        """
        text = DOCUMENTS["long prose"] + DOCUMENTS["markdown"]
        before = [made.id for made in self._chunks(chunker, text)]
        longer = text + "\n\n# Added\n\nAnother paragraph at the end.\n"
        after = {made.id for made in self._chunks(chunker, longer)}
        assert len(set(before)) == len(before)
        assert [one for one in before[:-2] if one not in after] == []

    @_every_document
    def test_the_same_document_is_split_the_same(
        self, chunker: Chunker, document_name: str
    ) -> None:
        """Splitting is a function of the document: look for state that stays from the last one."""
        first = self._pieces(chunker, DOCUMENTS[document_name])
        self._pieces(chunker, "# Another\n\nText of another document.\n")
        assert self._pieces(chunker, DOCUMENTS[document_name]) == first

    def test_headings_are_titles_on_one_line(self, chunker: Chunker) -> None:
        """``headings`` is a tuple of strings without marks at their ends or line ends in them."""
        for piece in self._pieces(chunker, DOCUMENTS["markdown"]):
            assert isinstance(piece.headings, tuple)
            assert [one for one in piece.headings if one != " ".join(one.split())] == []

    def test_the_fingerprint_stays_the_same(self, chunker: Chunker) -> None:
        """It is not empty, and splitting does not change it, or every run would split all files."""
        before = chunker.fingerprint
        self._pieces(chunker, DOCUMENTS["markdown"])
        assert before
        assert chunker.fingerprint == before

    def _document(self, text: str, prefix: str = "") -> Document:
        return Document(uri="docs/a.md", text=text, prefix=prefix, media_type=self.media_type)

    def _pieces(self, chunker: Chunker, text: str) -> list[Piece]:
        document = self._document(text)
        return list(chunker.split(document, counter=RegexCounter(), max_tokens=_MAX_TOKENS))

    def _chunks(self, chunker: Chunker, text: str, *, prefix: str = "") -> list[Chunk]:
        document, counter = self._document(text, prefix), RegexCounter()
        pieces = chunker.split(document, counter=counter, max_tokens=_MAX_TOKENS)
        return make_chunks(document, pieces, counter)

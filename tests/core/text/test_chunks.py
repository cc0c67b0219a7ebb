"""Pieces to chunks: what a chunk says of itself can be checked against the bytes on disk."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom import Document, Piece, PluginError, Span
from ragloom.retrieval.verify import verify_chunks
from ragloom.testing.fakes import RegexCounter
from ragloom.text.chunks import embedded_text, line_starts, make_chunks
from ragloom.types import Lines

COUNTER = RegexCounter()
ENCODINGS = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "gb18030")
TEXT = st.text(
    st.one_of(
        st.sampled_from("\n\r\t\f\v\x85\u2028 ab#ß中🙂\u0301"),
        st.characters(exclude_categories=["Cs"]),
    )
)


def document_of(text: str, **more: object) -> Document:
    return dataclasses.replace(Document(uri="a.md", text=text), **more)


@st.composite
def cut_documents(draw: st.DrawFn) -> tuple[Document, list[Piece], bytes]:
    text = draw(TEXT.filter(bool))
    encoding = draw(st.sampled_from(ENCODINGS))
    prefix = draw(TEXT)
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    edges = st.integers(0, len(text) - 1)
    starts = sorted(draw(st.lists(edges, min_size=1, max_size=6)))
    pieces = [Piece(span=Span(start, draw(st.integers(start + 1, len(text))))) for start in starts]
    document = document_of(text, prefix=prefix, encoding=encoding, bom=len(bom))
    return document, pieces, bom + (prefix + text).encode(encoding)


@given(cut_documents())
def test_slices_are_exact_in_characters_lines_and_bytes(
    given_: tuple[Document, list[Piece], bytes],
) -> None:
    document, pieces, content = given_
    decoded = document.prefix + document.text
    chunks = make_chunks(document, pieces, COUNTER)
    lines = decoded.replace("\r\n", "\n\x00").replace("\r", "\n")  # "\r\n" stays two characters
    for chunk, piece in zip(chunks, pieces, strict=True):
        assert document.text[slice(*piece.span)] == chunk.text == decoded[slice(*chunk.span)]
        assert chunk.text == content[slice(*chunk.bytes)].decode(document.encoding)
        first = lines.count("\n", 0, chunk.span.start) + 1
        if chunk.span.start and decoded[chunk.span.start - 1 : chunk.span.start + 1] == "\r\n":
            first -= 1
        assert first == chunk.lines.start
        assert chunk.lines.start <= chunk.lines.end <= len(line_starts(decoded))
    assert [None] * len(chunks) == verify_chunks(chunks, document)
    assert len(chunks) == len({chunk.id for chunk in chunks})
    assert chunks == make_chunks(document, pieces, COUNTER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\nc", [0, 2, 4]),
        ("a\r\nb\rc\n", [0, 3, 5, 7]),
        ("a\n\rb", [0, 2, 3]),
        ("a\fb\x85c\u2028d\ve", [0]),
        ("", [0]),
    ],
)
def test_lines_are_what_an_editor_shows(text: str, expected: list[int]) -> None:
    assert expected == line_starts(text)


def test_the_last_line_is_that_of_the_last_character() -> None:
    (chunk,) = make_chunks(document_of("one\ntwo\n\nthree"), [Piece(span=Span(0, 8))], COUNTER)
    assert Lines(1, 2) == chunk.lines


def test_an_edit_elsewhere_leaves_ids_alone() -> None:
    before = make_chunks(
        document_of("alpha beta"), [Piece(span=Span(0, 5)), Piece(span=Span(6, 10))], COUNTER
    )
    after = make_chunks(
        document_of("ALPHAS beta"), [Piece(span=Span(0, 6)), Piece(span=Span(7, 11))], COUNTER
    )
    assert before[1].id == after[1].id
    assert before[0].id != after[0].id
    assert 32 == len(before[0].id)
    assert int(before[0].id, 16)


def test_equal_texts_and_equal_files_are_told_apart() -> None:
    pieces = [Piece(span=Span(0, 2)), Piece(span=Span(2, 4))]
    chunks = make_chunks(document_of("abab"), pieces, COUNTER)
    others = make_chunks(dataclasses.replace(document_of("abab"), uri="b.md"), pieces, COUNTER)
    assert 4 == len({chunk.id for chunk in [*chunks, *others]})


def test_what_is_embedded_is_the_context_and_the_text() -> None:
    piece = Piece(span=Span(0, 4), context="Guide > Errors", headings=("Guide", "Errors"))
    (chunk,) = make_chunks(document_of("text"), [piece], COUNTER)
    assert "Guide > Errors\ntext" == embedded_text(chunk)
    assert COUNTER.count("Guide > Errors\ntext") == chunk.tokens
    (bare,) = make_chunks(document_of("text"), [Piece(span=Span(0, 4))], COUNTER)
    assert "text" == embedded_text(bare)


@pytest.mark.parametrize("spans", [[(0, 0)], [(0, 9)], [(-1, 2)], [(2, 3), (1, 2)]])
def test_a_chunker_that_breaks_its_contract_is_named(spans: list[tuple[int, int]]) -> None:
    pieces = [Piece(span=Span(*span)) for span in spans]
    with pytest.raises(PluginError, match=r"a\.md"):
        make_chunks(document_of("abcd"), pieces, COUNTER)


def test_extracted_text_has_bytes_of_its_own() -> None:
    document = document_of("é中", encoding="cp1252", bom=3, extracted=True)
    (chunk,) = make_chunks(document, [Piece(span=Span(1, 2))], COUNTER)
    assert (2, 5) == chunk.bytes


def test_why_a_chunk_is_not_what_the_file_says() -> None:
    content = "# A\n\ntext é\n".encode()
    document = document_of(content.decode())
    (chunk,) = make_chunks(document, [Piece(span=Span(5, 11))], COUNTER)
    assert verify_chunks([chunk], content)[0] is None
    assert verify_chunks([chunk], document)[0] is None
    reasons = {
        "is in line 4 now": b"\n" + content,
        "is gone": b"# A\n\nother text\n",
        "ends at character": b"# A\n",
        "cannot be read": b"\0" * 64,
    }
    for reason, changed in reasons.items():
        assert reason in str(verify_chunks([chunk], changed)[0])
    moved = dataclasses.replace(chunk, lines=Lines(2, 2))
    assert "lines 3 to 3" in str(verify_chunks([moved], content)[0])
    shifted = dataclasses.replace(chunk, bytes=Span(5, 11))
    assert "bytes 5 to 12" in str(verify_chunks([shifted], content)[0])

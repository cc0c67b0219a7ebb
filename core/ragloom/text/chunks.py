"""Pieces to chunks: ids, exact spans, lines, bytes and tokens.

Everything is derived in one pass over the file, so that it costs the same per character for a page
and for a book.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate

from ragloom.errors import PluginError
from ragloom.protocols import TokenCounter
from ragloom.types import Chunk, Document, Lines, Piece, Span

_LINE_END = re.compile(r"\r\n|\n|\r")


def embedded_text(chunk: Chunk) -> str:
    """What the embedder reads of a chunk: its context, a newline, its own text."""
    return join_context(chunk.context, chunk.text)


def join_context(context: str, text: str) -> str:
    """``context`` and ``text`` as they are embedded together."""
    return f"{context}\n{text}" if context else text


def line_starts(text: str) -> list[int]:
    r"""Where each line of ``text`` begins, in characters; the first is always 0.

    A line ends at ``\n``, ``\r\n`` or a lone ``\r``, as in CommonMark and in editors. A form feed,
    U+0085 and U+2028 end no line, unlike in :meth:`str.splitlines`.
    """
    if "\r" in text:
        return [0, *(match.end() for match in _LINE_END.finditer(text))]
    lengths = accumulate(map(len, text.split("\n")))
    return [0, *(length + line for line, length in enumerate(lengths, 1))][:-1]


def byte_offsets(text: str, offsets: Iterable[int], encoding: str) -> dict[int, int]:
    """The byte offset of each character offset in ``text.encode(encoding)``, in one pass."""
    wanted = sorted(set(offsets))
    if encoding == "utf-8" and text.isascii():
        return dict(zip(wanted, wanted, strict=True))
    found: dict[int, int] = {}
    position = size = 0
    for offset in wanted:
        size += len(text[position:offset].encode(encoding))
        position = offset
        found[offset] = size
    return found


def make_chunks(
    document: Document, pieces: Iterable[Piece], counter: TokenCounter | None = None
) -> list[Chunk]:
    """Turn what a chunker said into chunks.

    Args:
        document: What was split.
        pieces: In order of their start; spans count in ``document.text``.
        counter: The embedder's tokenizer, for pieces whose tokens are not known; ``Chunk.tokens`` counts
            context and text together, and is 0 without one.

    Raises:
        PluginError: A piece is empty, lies outside the text, or comes before an earlier one.
    """
    pieces = list(pieces)
    _check(document, pieces)
    decoded = document.prefix + document.text
    base = len(document.prefix)
    encoding, bom = ("utf-8", 0) if document.extracted else (document.encoding, document.bom)
    edges = [base + edge for piece in pieces for edge in piece.span]
    in_bytes = byte_offsets(decoded, edges, encoding)
    starts = line_starts(decoded)
    seen: dict[str, int] = {}
    chunks: list[Chunk] = []
    for ordinal, piece in enumerate(pieces):
        start, end = base + piece.span.start, base + piece.span.end
        text = decoded[start:end]
        copy = seen[text] = seen.get(text, -1) + 1
        chunks.append(
            Chunk(
                id=_chunk_id(document.uri, text, copy),
                uri=document.uri,
                text=text,
                span=Span(start, end),
                lines=Lines(bisect_right(starts, start), bisect_right(starts, end - 1)),
                bytes=Span(bom + in_bytes[start], bom + in_bytes[end]),
                headings=piece.headings,
                ordinal=ordinal,
                tokens=_tokens(piece, text, counter),
                context=piece.context,
                metadata=document.metadata,
            )
        )
    return chunks


def _tokens(piece: Piece, text: str, counter: TokenCounter | None) -> int:
    if counter is None:
        return 0
    if piece.tokens is not None:
        return piece.tokens
    return counter.count(join_context(piece.context, text))


def _check(document: Document, pieces: Sequence[Piece]) -> None:
    length = len(document.text)
    previous = 0
    for piece in pieces:
        start, end = piece.span
        if not previous <= start < end <= length:
            raise PluginError(
                f"the chunker split {document.uri} at {start} to {end}, which is empty, out of order "
                f"or outside its {length} characters: a fault of the chunker's plugin"
            )
        previous = start


def _chunk_id(uri: str, text: str, copy: int) -> str:
    """32 hex digits; ``copy`` counts earlier chunks of the file with the same text."""
    parts = (uri, text, str(copy)) if copy else (uri, text)
    digest = blake2b(digest_size=16)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big"))
        digest.update(encoded)
    return digest.hexdigest()

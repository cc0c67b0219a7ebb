"""Chunkers that break one rule each."""

import uuid

from declaring import declare

from ragloom.testing import ChunkerContract
from ragloom.types import Piece, Span

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


class EveryFewTokens:
    """Cuts after forty tokens, and between blanks."""

    fingerprint = "forty-tokens-1"
    size = 40

    def split(self, document, *, counter, max_tokens):
        text = document.text
        ends = [end for _, end in counter.spans(text)]
        start = 0
        while start < len(text) and text[start:].strip():
            inside = [end for end in ends if end > start][: self.size]
            # A run of what is no token, such as a mark of direction, is a piece of its own.
            stop = inside[-1] if inside else len(text)
            begin = start + len(text[start:stop]) - len(text[start:stop].lstrip())
            if begin < stop:
                yield Piece(span=Span(begin, stop), headings=("Title",))
            start = stop


@breaks("test_blank_documents_have_no_chunks")
class AddsALastPiece(EveryFewTokens):
    def split(self, document, **given):
        if not document.text.strip():
            yield Piece(span=Span(0, len(document.text)))
        yield from super().split(document, **given)


@breaks("test_pieces_lie_inside_the_text")
class OneTooFar(EveryFewTokens):
    """A slice that ends behind a short text is cut quietly, except where the core looks."""

    def split(self, document, **given):
        for piece in super().split(document, **given):
            behind = not document.prefix and piece.span.end == len(document.text) < 20
            yield Piece(span=Span(piece.span.start, piece.span.end + behind))


@breaks("test_pieces_come_in_order")
class EveryPieceTwice(EveryFewTokens):
    def split(self, document, **given):
        for piece in super().split(document, **given):
            yield from (piece, piece)


@breaks("test_every_character_that_is_not_blank_is_covered")
class LosesMarks(EveryFewTokens):
    def split(self, document, **given):
        for piece in super().split(document, **given):
            text = document.text[piece.span.start : piece.span.end]
            cut = len(text) - len(text.rstrip("-|"))
            if cut < len(text):
                yield Piece(span=Span(piece.span.start, piece.span.end - cut))


@breaks("test_pieces_fit_the_embedder")
class TooMuch(EveryFewTokens):
    size = 100


@breaks("test_pieces_fit_the_embedder")
class ForgetsTheContext(EveryFewTokens):
    def split(self, document, **given):
        for piece in super().split(document, **given):
            yield Piece(span=piece.span, context="title " * 30)


@breaks("test_the_same_document_is_split_the_same")
class KeepsTheLastTitle(EveryFewTokens):
    last = ""

    def split(self, document, **given):
        title, self.last = self.last, document.text[:9]
        for piece in super().split(document, **given):
            yield Piece(span=piece.span, context="".join(title.split()))


@breaks("test_headings_are_titles_on_one_line")
class RawHeadings(EveryFewTokens):
    def split(self, document, **given):
        for piece in super().split(document, **given):
            yield Piece(span=piece.span, headings=("# Title\n",))


@breaks("test_the_fingerprint_stays_the_same")
class FingerprintByChance(EveryFewTokens):
    @property
    def fingerprint(self):
        return uuid.uuid4().hex


@breaks("test_chunks_are_exact_slices_of_the_file")
class CountsThePrefix(EveryFewTokens):
    def split(self, document, **given):
        shift = len(document.prefix)
        for piece in super().split(document, **given):
            yield Piece(span=Span(piece.span.start + shift, piece.span.end + shift))


@breaks("test_ids_survive_an_addition_at_the_end")
class EqualParts(EveryFewTokens):
    """Parts whose size depends on how long the document is."""

    def split(self, document, *, counter, max_tokens):
        self.size = 20 + counter.count(document.text) % 20
        yield from super().split(document, counter=counter, max_tokens=max_tokens)


declare(
    globals(),
    ChunkerContract,
    EveryFewTokens,
    MUTANTS,
    lambda part: {"chunker": lambda self: part()},
)

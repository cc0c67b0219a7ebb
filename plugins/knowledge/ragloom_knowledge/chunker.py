"""The chunks of a lesson's file: what it is about, the whole, and the tasks that it concerns.

Short texts are nearer to a query than a long one that holds them: a lesson counts with the better of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal, TypeAlias, cast

from ragloom import Document, Piece, Span, TokenCounter
from ragloom.text import Budget, blank_line_starts, line_starts_within, split_to_fit, stripped

Part: TypeAlias = Literal["technology", "problem", "error", "advice", "tasks"]

PARTS: Final = "parts"
"""The key of the front matter that names the paragraphs of the file, in their order."""

_OWN: Final[tuple[Part, ...]] = ("problem", "tasks")


class LessonChunker:
    """Splits a lesson's file at its blank lines, and keeps the whole of it, too."""

    fingerprint = "lesson-1"

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterator[Piece]:
        """The whole, or what fits of it, and each paragraph that is searched by itself."""
        text = document.text
        whole = stripped(text, 0, len(text))
        if whole is None:
            return
        named = document.metadata.get(PARTS)
        parts = cast("Sequence[object]", named) if isinstance(named, list | tuple) else ()
        budget = Budget(counter=counter, tokens=max_tokens)
        boundaries = (blank_line_starts, line_starts_within)
        pieces = [
            Piece(span=span)
            for atom in split_to_fit(text, *whole, budget=budget, boundaries=boundaries)
            if (span := stripped(text, atom.start, atom.end)) is not None
        ]
        starts = [whole.start, *blank_line_starts(text, *whole), whole.end]
        context = ""
        for part, (start, end) in zip(parts, pairwise(starts), strict=False):
            if part == "technology":
                context = f"{text[start:end].strip().rstrip('.')}:"
            elif part in _OWN and (own := stripped(text, start, end)) is not None:
                pieces += [
                    Piece(span=Span(atom.start, atom.end), context=context)
                    for atom in split_to_fit(text, *own, budget=budget, boundaries=())
                ]
        yield from sorted(pieces, key=lambda piece: piece.span)

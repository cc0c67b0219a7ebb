"""The chunker ``sentence``: whole sentences, up to a number of characters."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ragloom import ConfigError, Document, Piece, Span, TokenCounter
from ragloom.text import Budget, between_words, sentence_starts, stripped


class SentenceChunker:
    """Fills chunks with whole sentences; for its arguments see :class:`ragloom_text.SentenceOptions`.

    Raises:
        ConfigError: ``size`` is not positive or ``overlap`` is negative.
    """

    def __init__(self, *, size: int = 2000, overlap: int = 200, fit: bool = False) -> None:
        if size < 1 or overlap < 0:
            message = f"sentence: size {size} must be 1 or more, and overlap {overlap} 0 or more"
            raise ConfigError(message)
        self._size = size
        self._overlap = min(overlap, size // 2)
        self.fits = fit
        self.fingerprint = f"sentence-1 size={size} overlap={self._overlap} fit={fit}"

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterator[Piece]:
        """Split between sentences, and one that is too long between words, and then anywhere."""
        text = document.text
        budget = Budget(counter=counter, tokens=max_tokens) if self.fits else None
        starts = [*sentence_starts(text), len(text)]
        last = len(text.rstrip())
        position = done = 0
        shown = Span(-1, 0)
        length = self._size
        repeats_sentences = True
        while done < last:
            # What the chunk before came to is a good guess at how much fits.
            reach = position + min(self._size, length + length // 4 + 1)
            end, whole = self._end(text, starts, position, reach, budget)
            if end <= done or (position < done and repeats_sentences and not whole):
                position = done  # What follows is too long for anything to be repeated before it.
                continue
            span = stripped(text, position, end)
            if span is not None and position < done and span.start <= shown.start:
                position = done
                continue
            if span is not None and span.end > shown.end:
                yield Piece(span=span)
                shown = span
            length = end - position
            done, repeats_sentences = end, whole
            position = self._overlapping(text, starts, position, end, whole=whole)

    def _end(
        self, text: str, starts: list[int], position: int, reach: int, budget: Budget | None
    ) -> tuple[int, bool]:
        """Where the chunk that begins at ``position`` ends, and whether a sentence ends there."""
        if bisect_right(starts, reach) == bisect_right(starts, position):
            reach = position + self._size  # A guess must not split a sentence.
        while True:
            index = bisect_right(starts, reach) - 1
            whole = index >= 0 and starts[index] > position
            end = starts[index] if whole else between_words(text, position, reach)
            span = stripped(text, position, end)
            if budget is None or span is None:
                return end, whole
            tokens = budget.count(text, *span)
            if tokens <= budget.tokens or end - position == 1:
                return end, whole
            share = budget.tokens / tokens
            reach = position + max(min(int((end - position) * share), end - position - 1), 1)

    def _overlapping(
        self, text: str, starts: list[int], position: int, end: int, *, whole: bool
    ) -> int:
        """Where the chunk after ``position`` to ``end`` begins: in it, or at its end."""
        earliest = max(end - min(self._overlap, (end - position) // 2), position + 1)
        if whole:
            return starts[bisect_left(starts, earliest)]
        words = (at for at in range(earliest, end) if text[at - 1].isspace())
        return next(words, earliest)

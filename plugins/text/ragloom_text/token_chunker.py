"""The chunker ``token``: a number of tokens, with an exact overlap."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from ragloom import ConfigError, Document, Piece, Span, TokenCounter
from ragloom.text import (
    COUNTERS,
    Budget,
    between_words,
    blank_line_starts,
    sentence_starts,
    stripped,
)
from ragloom.text import counter as counter_by_name

_REACH = 5
"""A chunk may end a fifth of its size early, where a better boundary lies."""

_FENCE = re.compile(r"^[ ]{0,3}(?:```|~~~)[^\r\n]*(?:\r\n|\n|\r|\Z)", re.MULTILINE)


class TokenChunker:
    """Splits at a number of tokens; the next chunk begins with the last tokens of the one before.

    For its arguments see :class:`ragloom_text.TokenOptions`.

    Raises:
        ConfigError: ``size`` is not positive, ``overlap`` is negative, or the counter is unknown.
    """

    def __init__(
        self, *, size: int = 500, overlap: int = 50, counter: str = "auto", fit: bool = False
    ) -> None:
        if size < 1 or overlap < 0:
            message = f"token: size {size} must be 1 or more, and overlap {overlap} 0 or more"
            raise ConfigError(message)
        if counter not in {"embedder", *COUNTERS}:
            known = ", ".join(("embedder", *COUNTERS))
            raise ConfigError(f"token: unknown counter {counter!r} (available: {known})")
        self._size = size
        self._overlap = min(overlap, size // 2)
        self._counter = counter
        self.fits = fit

    @property
    def fingerprint(self) -> str:
        """Changes with the settings, this code's rules, and the counter that ``auto`` finds."""
        name = counter_by_name("auto").name if self._counter == "auto" else self._counter
        return f"token-1 size={self._size} overlap={self._overlap} counter={name} fit={self.fits}"

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterator[Piece]:
        """Split after ``size`` tokens, or before at a code block's edge, a blank line or a sentence."""
        embedder = Budget(counter=counter, tokens=max_tokens)
        if self._counter != "embedder":
            counter = counter_by_name(self._counter)
        budgets = [Budget(counter=counter, tokens=self._size)]
        if self.fits:
            budgets.append(embedder)
        text = document.text
        tokens = [start for start, _ in counter.spans(text)]
        edges = _Edges(text)
        position = done = 0
        begun = -1
        allowed = self._size
        last = len(text.rstrip())
        while done < last:
            # What fitted into the chunk before is a good guess at how much fits.
            allowed = min(self._size, allowed + allowed // 8 + 1)
            end, allowed = self._end(text, tokens, (position, done), allowed, budgets, edges)
            span = _shown(text, position, end, done)
            if position < done and (span is None or span.end <= done or span.start <= begun):
                position = done  # What follows is too long for anything to be repeated before it.
                continue
            if span is not None:
                yield Piece(span=span)
                begun = span.start
                end = span.end
            done = end
            position = self._overlapping(text, tokens, position, end, counter)

    def _overlapping(
        self, text: str, tokens: Sequence[int], position: int, end: int, counter: TokenCounter
    ) -> int:
        """Where the chunk after ``position`` to ``end`` begins: with its last tokens, or at its end."""
        first, last = bisect_left(tokens, position), bisect_left(tokens, end)
        repeated = min(self._overlap, (last - first) // 2)
        if not repeated:
            return end
        # The last tokens may be others than in the document, where more text follows them.
        tail = tokens[max(last - 2 * repeated, first)]
        alone = counter.spans(text[tail:end])
        if not alone:
            return end
        return max(tail + alone[max(len(alone) - repeated, 0)][0], position + 1)

    def _end(
        self,
        text: str,
        tokens: Sequence[int],
        begin: tuple[int, int],
        allowed: int,
        budgets: Sequence[Budget],
        edges: _Edges,
    ) -> tuple[int, int]:
        """Where the chunk that begins at the first of ``begin`` ends, and how many tokens that was.

        The second of ``begin`` is where the chunk before ended.
        """
        position, done = begin
        # Tokens that share a character all but the first are empty, and stand before the next.
        first = max(bisect_right(tokens, position) - 1, 0)
        longest = position + min(budget.characters for budget in budgets)
        while True:
            end = tokens[first + allowed] if first + allowed < len(tokens) else len(text)
            end = max(min(end, longest), position + 1)
            if end < len(text):
                early = tokens[min(first + allowed - allowed // _REACH, len(tokens) - 1)]
                end = edges.last(text, max(early, position), end)
            span = _shown(text, position, end, done)
            if span is None or end - position == 1:
                return end, allowed
            counts = [(budget.tokens, budget.count(text, *span)) for budget in budgets]
            share = min(most / max(tokens_of, 1) for most, tokens_of in counts)
            if share >= 1:
                return end, allowed
            # Read alone, the same text may be more tokens than it was in its place.
            if allowed > 1:
                allowed = max(min(int(allowed * share), allowed - 1), 1)
            else:
                longest = position + (end - position) // 2


def _shown(text: str, position: int, end: int, done: int) -> Span | None:
    """The chunk without blanks around it, except those that the repeated tokens begin with."""
    span = stripped(text, position, end)
    return span._replace(start=position) if span is not None and position < done else span


class _Edges:
    """Where a text is best split."""

    def __init__(self, text: str) -> None:
        # Of a pair of fences, the start of the first and the end of the second.
        fences = [match.span()[number % 2] for number, match in enumerate(_FENCE.finditer(text))]
        self._blocks = sorted({*fences, *blank_line_starts(text, 0, len(text))})
        self._sentences = sentence_starts(text)

    def last(self, text: str, early: int, end: int) -> int:
        """The best place after ``early`` and up to ``end``."""
        for edges in (self._blocks, self._sentences):
            index = bisect_right(edges, end) - 1
            if index >= 0 and edges[index] > early:
                return edges[index]
        return between_words(text, early, end)

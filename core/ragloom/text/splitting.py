"""Split what is too long: at the best boundary that fits, and always somewhere.

Chunkers share these; a boundary function takes ``(text, start, end)`` and returns the offsets inside
that range at which a new unit begins, ascending and without ``start``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ragloom.protocols import TokenCounter
from ragloom.text.sentences import sentence_starts
from ragloom.types import Span

Boundaries: TypeAlias = Callable[[str, int, int], list[int]]

_CHARACTERS_PER_TOKEN = 16
"""Most characters of a chunk for each token it may have. Prose has 4 to 5; a word-piece vocabulary reads
a word of 60,000 letters as one unknown token, which would hide it all."""

_AT_ONCE = 1_000_000  # characters: the tokens of 100 MB in one line would take 20 GB
_SEAM = 10_000  # characters before that end among which a space is looked for

_LINE_END = r"(?:\r\n|\n|\r)"
_BLANK_LINES = re.compile(rf"{_LINE_END}(?:[^\S\r\n]*{_LINE_END})+")
_LINES = re.compile(_LINE_END)
_LEADING_BLANK_LINES = re.compile(rf"(?:[^\S\r\n]*{_LINE_END})*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How large a piece may be.

    Attributes:
        counter: Counts the tokens.
        tokens: The most tokens.
    """

    counter: TokenCounter
    tokens: int

    @property
    def characters(self) -> int:
        """The most characters, whatever the counter says."""
        return _CHARACTERS_PER_TOKEN * max(self.tokens, 1)

    @property
    def additive(self) -> bool:
        """Counts of texts add up where one ends or the next begins with a space, tab or line end.

        A counter of which that is so says it with an attribute ``additive = True``, which saves
        counting a text again after counting its parts.
        """
        return bool(getattr(self.counter, "additive", False))

    def of(self, tokens: int) -> Budget:
        """A budget of so many tokens in the same counter."""
        return Budget(counter=self.counter, tokens=tokens)

    def count(self, text: str, start: int, end: int) -> int:
        """Tokens of ``text[start:end]``, read by itself."""
        return self.counter.count(text[start:end])


@dataclass(frozen=True, slots=True)
class Atom:
    """A stretch of text that is not split further, and its tokens."""

    start: int
    end: int
    tokens: int


def blank_line_starts(text: str, start: int, end: int) -> list[int]:
    """Where text goes on after blank lines."""
    return [match.end() for match in _BLANK_LINES.finditer(text, start, end) if match.end() < end]


def line_starts_within(text: str, start: int, end: int) -> list[int]:
    """Where each further line begins."""
    return [match.end() for match in _LINES.finditer(text, start, end) if match.end() < end]


def tile(start: int, end: int, cuts: Sequence[int]) -> Iterator[Span]:
    """The stretches between ``start``, the cuts and ``end``."""
    for cut in cuts:
        if start < cut < end:
            yield Span(start, cut)
            start = cut
    yield Span(start, end)


def stripped(text: str, start: int, end: int) -> Span | None:
    """The range without blank lines before it and blanks after it; None if nothing is left.

    The first line's indentation stays: in code it means something.
    """
    end = start + len(text[start:end].rstrip())
    if start >= end:
        return None
    match = _LEADING_BLANK_LINES.match(text, start, end)
    return Span(start if match is None else match.end(), end)


def split_to_fit(
    text: str, start: int, end: int, *, budget: Budget, boundaries: Sequence[Boundaries]
) -> list[Atom]:
    """Split a range into atoms that each fit the budget, coarse boundaries first.

    A range that fits stays whole. One that does not is split at the first of ``boundaries``, and what is
    still too long at the next; after the last, between words, and inside words where there is no other
    way. The atoms cover the range without a gap.
    """
    if start >= end:
        return []
    if end - start <= budget.characters:
        tokens = budget.count(text, start, end)
        if tokens <= budget.tokens:
            return [Atom(start, end, tokens)]
    for index, boundary in enumerate(boundaries):
        cuts = boundary(text, start, end)
        if cuts:
            finer = boundaries[index + 1 :]
            return [
                atom
                for part in tile(start, end, cuts)
                for atom in split_to_fit(text, *part, budget=budget, boundaries=finer)
            ]
    return _split_words(text, start, end, budget)


def sentence_starts_within(text: str, start: int, end: int) -> list[int]:
    """Where sentences begin; see :func:`~ragloom.text.sentences.sentence_starts`."""
    return sentence_starts(text, start, end)


def _split_words(text: str, start: int, end: int, budget: Budget) -> list[Atom]:
    """Split a range without usable boundaries between words, or inside a word longer than the budget."""
    atoms: list[Atom] = []
    while end - start > _AT_ONCE:
        stop = between_words(text, start + _AT_ONCE - _SEAM, start + _AT_ONCE)
        atoms += _split_line(text, start, stop, budget)
        start = stop
    return atoms + _split_line(text, start, end, budget)


def _split_line(text: str, start: int, end: int, budget: Budget) -> list[Atom]:
    part = text[start:end]
    token_starts = [token[0] for token in budget.counter.spans(part)]
    limit = max(budget.tokens, 1)
    atoms: list[Atom] = []
    position = 0
    while position < len(part):
        # Tokens that share a character all but the first are empty, and stand before the next.
        first = max(bisect_right(token_starts, position) - 1, 0)
        allowed = limit
        stop = min(_token_end(token_starts, first + allowed, part), position + budget.characters)
        stop = between_words(part, position, max(stop, position + 1))
        tokens = budget.counter.count(part[position:stop])
        while tokens > limit and stop - position > 1:
            # Read alone, the same words may be more tokens than they were in their sentence.
            if allowed > 1:
                allowed = max(allowed - (tokens - limit), allowed // 2)
                end_of_token = _token_end(token_starts, first + allowed, part)
                stop = between_words(part, position, min(stop - 1, max(end_of_token, position + 1)))
            else:
                stop = position + (stop - position) // 2
            tokens = budget.counter.count(part[position:stop])
        atoms.append(Atom(start + position, start + stop, tokens))
        position = stop
    return atoms


def _token_end(token_starts: list[int], index: int, text: str) -> int:
    return token_starts[index] if index < len(token_starts) else len(text)


def between_words(text: str, start: int, stop: int) -> int:
    """The last place in the second half of ``start`` to ``stop`` where a word begins, or ``stop``."""
    if stop >= len(text):
        return len(text)
    for cut in range(stop, start + (stop - start) // 2, -1):
        if text[cut - 1].isspace() and not _inseparable(text, cut):
            return cut
    cut = stop
    while cut > start + 1 and _inseparable(text, cut):
        cut -= 1
    return cut if cut > start + 1 or not _inseparable(text, cut) else stop


def _inseparable(text: str, cut: int) -> bool:
    """Whether the characters on both sides of ``cut`` are read as one."""
    before, after = text[cut - 1], text[cut]
    if before == "\r":
        return after == "\n"
    return before == "\u200d" or after in "\u200d\ufe0f\ufe0e" or unicodedata.combining(after) > 0

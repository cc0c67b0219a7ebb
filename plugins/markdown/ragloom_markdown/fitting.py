"""Split a block that is too long, where its own kind is best split."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragloom.text import (
    Boundaries,
    Budget,
    blank_line_starts,
    line_starts_within,
    sentence_starts_within,
    split_to_fit,
)
from ragloom_markdown.blocks import Block, Parsed, children

_BOUNDARIES: dict[str, tuple[Boundaries, ...]] = {
    "heading": (),
    "fence": (blank_line_starts, line_starts_within),
    "definitions": (line_starts_within,),
    "html": (blank_line_starts, line_starts_within, sentence_starts_within),
    "table": (line_starts_within,),
}
_PROSE: tuple[Boundaries, ...] = (sentence_starts_within, line_starts_within)

# CommonMark has no tables: one is a paragraph in which such a row follows the header (GFM, section 4.10).
_CELL = r"[ \t]*+:?-++:?[ \t]*+"
_TABLE = re.compile(
    rf"^(?=[^\r\n|]*+\|)(?P<header>[^\r\n]*+)(?:\r\n|\n|\r)"
    rf"[ \t>]*+(?=[^\r\n|]*+\|)\|?{_CELL}(?:\|{_CELL})*+\|?[ \t]*+(?=[\r\n]|\Z)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch that fits the budget; ``header`` heads it where it begins inside a table."""

    start: int
    end: int
    tokens: int
    header: str = ""


def fit(
    text: str, parsed: Parsed, block: Block, budget: Budget, tokens: int | None = None
) -> Iterator[Part]:
    """The stretches of a block, in order and without a gap: the whole of it where that fits.

    ``tokens`` are the block's, where they were counted already.
    """
    waiting = [(block, tokens)]  # containers may stand in one another thousands deep
    while waiting:
        block, tokens = waiting.pop()
        if block.end - block.start <= budget.characters:
            if tokens is None:
                tokens = budget.count(text, block.start, block.end)
            if tokens <= budget.tokens:
                yield Part(block.start, block.end, tokens)
                continue
        if inner := children(parsed, block):
            waiting.extend((child, None) for child in reversed(inner))
            continue
        yield from _fit_leaf(text, block, budget)
        yield from _split(text, block.own_end, block.end, budget, (line_starts_within,))


def _fit_leaf(text: str, block: Block, budget: Budget) -> Iterator[Part]:
    start, end = block.start, block.own_end
    if block.kind == "paragraph":
        table = _TABLE.search(text, start, end)
        if table is not None:
            yield from _split(text, start, table.start(), budget, _PROSE)
            yield from _fit_table(text, table, end, budget)
            return
    yield from _split(text, start, end, budget, _BOUNDARIES.get(block.kind, _PROSE))


def _fit_table(text: str, table: re.Match[str], end: int, budget: Budget) -> Iterator[Part]:
    """The rows of a table, the first two with its header; the others are to be headed by it."""
    header = table["header"].strip()
    cost = budget.counter.count(f"{header}\n")
    if cost > budget.tokens // 2:
        header, cost = "", 0
    rows = budget.of(budget.tokens - cost)
    yield from _split(text, table.start(), table.end(), rows, (line_starts_within,))
    yield from _split(text, table.end(), end, rows, (line_starts_within,), header)


def _split(
    text: str,
    start: int,
    end: int,
    budget: Budget,
    boundaries: tuple[Boundaries, ...],
    header: str = "",
) -> Iterator[Part]:
    for atom in split_to_fit(text, start, end, budget=budget, boundaries=boundaries):
        yield Part(atom.start, atom.end, atom.tokens, header)

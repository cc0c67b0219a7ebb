"""Slices of files, and joining those that overlap or follow one another.

A joined slice is exact by construction: its text is put together from texts that each are a slice
of the same file, and where blanks lie between two of them, from the file itself, which must still
say what both say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from ragloom.text.chunks import line_starts
from ragloom.types import Hit, Lines, Span

NEAR = 200
"""Blanks, in characters, over which two slices are still neighbours."""

ReadText: TypeAlias = "Callable[[str], str | None]"
"""Gives the decoded text of a file by its uri; None where it has none that spans could point into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A stretch of a file.

    Attributes:
        uri: The file.
        text: ``decoded_file[span.start:span.end]``.
        span: Characters, half-open.
        lines: 1-based and inclusive.
        headings: The titles that lead to its beginning.
        relevance: The best among the hits it was made of.
        rank: The best place among the hits it was made of, from 0.
        truncated: Whether it ends before the hit that it was made of does.
    """

    uri: str
    text: str
    span: Span
    lines: Lines
    headings: tuple[str, ...]
    relevance: float
    rank: int
    truncated: bool = False


def slice_of(hit: Hit, rank: int) -> Slice:
    """The slice that a hit is."""
    chunk = hit.chunk
    return Slice(
        uri=chunk.uri,
        text=chunk.text,
        span=chunk.span,
        lines=chunk.lines,
        headings=chunk.headings,
        relevance=hit.relevance,
        rank=rank,
    )


def beginning(whole: Slice, length: int) -> Slice:
    """The first ``length`` characters of a slice, at least one, without the blanks at their end."""
    text = whole.text[:length].rstrip()
    breaks = sum(start < len(text) for start in line_starts(text)) - 1
    return replace(
        whole,
        text=text,
        span=Span(whole.span.start, whole.span.start + len(text)),
        lines=Lines(whole.lines.start, whole.lines.start + max(breaks, 0)),
        truncated=True,
    )


def merge(slices: Iterable[Slice], read_text: ReadText | None = None) -> list[Slice]:
    """Join slices of one file that overlap, touch, or have nothing but blanks between them.

    Args:
        slices: Of one file, in any order.
        read_text: Gives the blanks between neighbours; without it they stay apart.

    Returns:
        In the order of the file. Slices that contradict each other stay apart.
    """
    ordered = sorted(slices, key=lambda one: (one.span.start, -one.span.end, one.rank))
    merged: list[Slice] = []
    for one in ordered:
        joined = _join(merged[-1], one, read_text) if merged else None
        if joined is None:
            merged.append(one)
        else:
            merged[-1] = joined
    return merged


def _join(first: Slice, second: Slice, read_text: ReadText | None) -> Slice | None:
    """One slice of both, where the second begins no earlier than the first; None if they differ."""
    gap = second.span.start - first.span.end
    if gap > NEAR or not (_measured(first) and _measured(second)):
        return None
    if gap > 0:
        between = _blanks(first, second, read_text)
        if between is None:
            return None
        text = first.text + between + second.text
    else:
        shared = first.text[second.span.start - first.span.start :]
        if not (second.text.startswith(shared) or shared.startswith(second.text)):
            return None
        text = first.text + second.text[len(shared) :]
    return replace(
        first,
        text=text,
        span=Span(first.span.start, max(first.span.end, second.span.end)),
        lines=Lines(first.lines.start, max(first.lines.end, second.lines.end)),
        relevance=max(first.relevance, second.relevance),
        rank=min(first.rank, second.rank),
        truncated=max(first, second, key=lambda one: (one.span.end, not one.truncated)).truncated,
    )


def _measured(one: Slice) -> bool:
    return len(one.text) == one.span.end - one.span.start > 0


def _blanks(first: Slice, second: Slice, read_text: ReadText | None) -> str | None:
    """What lies between two slices, if it is blank and the file says what both of them say."""
    whole = read_text(first.uri) if read_text else None
    if whole is None:
        return None
    between = whole[first.span.end : second.span.start]
    same = all(whole[one.span.start : one.span.end] == one.text for one in (first, second))
    return between if same and between.isspace() else None

"""Which blocks belong to which section, and the titles above them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from ragloom_markdown.blocks import Block


@dataclass(frozen=True, slots=True)
class Region:
    """A run of blocks, ``blocks[first:last]``.

    Attributes:
        first: Index of its first block.
        last: Index after its last block.
        heading: Index of the heading that it belongs to: its own, or, where empty sections were folded
            into it, the last of them. None before the first heading.
    """

    first: int
    last: int
    heading: int | None = None


def paths(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """For every block the titles that lead to it, outermost first; a heading's own title included."""
    found: list[tuple[str, ...]] = []
    open_headings: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    for block in blocks:
        if block.kind == "heading":
            while open_headings and open_headings[-1][0] >= block.level:
                open_headings.pop()
            open_headings.append((block.level, block.title))
            path = tuple(title for _, title in open_headings)
        found.append(path)
    return found


def sections(text: str, blocks: Sequence[Block], levels: Collection[int]) -> list[Region]:
    """The whole document, split at every heading of ``levels``."""
    starts = [
        index
        for index, block in enumerate(blocks)
        if block.kind == "heading" and block.level in levels
    ]
    return _split(text, blocks, Region(0, len(blocks)), starts) if blocks else []


def subsections(text: str, blocks: Sequence[Block], region: Region) -> list[Region]:
    """A region split at the shallowest headings inside it; only itself where there are none."""
    inside = range(region.first if region.heading is None else region.heading + 1, region.last)
    headings = [index for index in inside if blocks[index].kind == "heading"]
    if not headings:
        return [region]
    shallowest = min(blocks[index].level for index in headings)
    starts = [index for index in headings if blocks[index].level == shallowest]
    return _split(text, blocks, region, starts)


def _split(
    text: str, blocks: Sequence[Block], region: Region, starts: Sequence[int]
) -> list[Region]:
    """Split, and fold every region that says nothing into the one below it."""
    edges = [*starts, region.last]
    parts = [Region(start, end, start) for start, end in pairwise(edges)]
    if edges[0] > region.first:
        parts.insert(0, Region(region.first, edges[0], region.heading))
    folded: list[Region] = []
    for part in parts:
        above = folded[-1] if folded else None
        if above is not None and _is_parent(text, blocks, above, part):
            folded[-1] = replace(part, first=above.first)
        else:
            folded.append(part)
    return folded


def _is_parent(text: str, blocks: Sequence[Block], above: Region, part: Region) -> bool:
    """Whether ``above`` has no text of its own, and ``part`` is a section below it."""
    if above.heading is None or part.heading is None:
        return False
    if blocks[part.heading].level <= blocks[above.heading].level:
        return False
    return all(
        block.kind == "heading" and not text[block.own_end : block.end].strip()
        for block in blocks[above.first : above.last]
    )

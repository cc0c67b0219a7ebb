"""Blocks of texts that are not Markdown, in which a ``#`` begins no heading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragloom import Section
from ragloom.text import blank_line_starts, tile
from ragloom_markdown.blocks import Block, Parsed

_DEEPEST = 6


def parse_plain(text: str, sections: Sequence[Section] = (), *, prose: bool) -> Parsed:
    """Headings where a loader found them, and between them what stands between blank lines.

    That is paragraphs, or else code, which is not split in sentences.
    """
    kind = "paragraph" if prose else "fence"
    blocks: list[Block] = []
    position = 0
    for section in sections:
        begin, end = section.span
        blocks += _paragraphs(text, position, begin, kind)
        level, title = min(section.level, _DEEPEST), " ".join(section.title.split())
        blocks.append(Block("heading", begin, end, end, level=level, title=title))
        position = end
    blocks += _paragraphs(text, position, len(text), kind)
    return Parsed(blocks)


def _paragraphs(text: str, start: int, end: int, kind: str) -> Iterator[Block]:
    if text[start:end].strip():
        for span in tile(start, end, blank_line_starts(text, start, end)):
            yield Block(kind, span.start, span.end, span.end)

"""The block structure of a Markdown text, as pulldown-cmark sees it.

It reads the text in Rust and hands over what it finds one event at a time, with offsets in bytes. Only
blocks are kept: that is all a chunker needs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple, cast

import pyromark

from ragloom.text import line_starts

_Event = str | dict[str, Any]

_LINE_END = re.compile(r"\r\n?|\n")
_KINDS: Final = {
    "Paragraph": "paragraph",
    "Heading": "heading",
    "List": "list",
    "Item": "item",
    "BlockQuote": "quote",
    "CodeBlock": "fence",
    "HtmlBlock": "html",
    "Rule": "rule",
}
"""Block by the name of its event; the names of what stands within a line are others."""
_CONTAINERS = frozenset({"list", "item", "quote"})
_OPENING = re.compile(r"\A[ \t]*+#{1,6}+(?:[ \t]++|\Z)")
_CLOSING = re.compile(r"(?:\A|(?<![ \t])[ \t]++)#++[ \t]*+\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A block and all the text up to the next one.

    Attributes:
        kind: ``paragraph``, ``heading``, ``list``, ``item``, ``quote``, ``fence``, ``html``, ``rule``; or
            ``definitions``, of link references before anything else.
        start: Offset in characters.
        end: Where the next block begins; blocks of one level leave no gap.
        own_end: Where the block's own last line ends; after it come blank lines, or definitions of
            link references, which are no blocks.
        level: 1 to 6 for a heading, else 0.
        title: A heading's text as written, without its hashes or underline; empty inside a container.
        inner: The places of the block and of what is inside it among all of the text's.
    """

    kind: str
    start: int
    end: int
    own_end: int
    level: int = 0
    title: str = ""
    inner: tuple[int, int] = (0, 0)


class _Place(NamedTuple):
    """Where a block stands, in bytes of UTF-8, and the index of the first that is not inside it."""

    kind: str
    start: int
    end: int
    after: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text's outermost blocks, and the places of all in the order of the text.

    ``lines`` and ``byte_lines`` are where each line begins, in characters and in bytes of UTF-8, and
    where the text ends.
    """

    blocks: list[Block]
    text: str = ""
    lines: Sequence[int] = ()
    byte_lines: Sequence[int] = ()
    places: Sequence[_Place] = ()


def parse(text: str) -> Parsed:
    """The blocks of ``text`` at its outermost level; together they cover all that is not blank."""
    source = _LINE_END.sub("\n", text) if "\r" in text else text
    source = source.replace("\0", "\ufffd")  # as CommonMark says; only the parser sees it
    for no_blank in "\v\f":  # to CommonMark, but to the parser
        source = source.replace(no_blank, "\1")
    lines = [*line_starts(text), len(text)]
    byte_lines = lines if source is text and text.isascii() else _byte_lines(source)
    parsed = Parsed([], text, lines, byte_lines, _places(source))
    parsed.blocks.extend(_blocks(parsed, (0, len(parsed.places)), len(text), titled=True))
    begin = parsed.blocks[0].start if parsed.blocks else len(text)
    if begin and text[:begin].strip():
        parsed.blocks.insert(0, Block("definitions", 0, begin, begin))
    return parsed


def children(parsed: Parsed, block: Block) -> list[Block]:
    """The blocks inside a list, an item or a quote; none for any other kind."""
    if block.kind not in _CONTAINERS:
        return []
    first, last = block.inner
    inside = _blocks(parsed, (first + 1, last), block.end)
    if inside:  # the line that a container begins with is that of its first block, too
        inside[0] = replace(inside[0], start=block.start)
    return inside


def _byte_lines(source: str) -> list[int]:
    """Where each line begins, in bytes of UTF-8, and where the text ends."""
    encoded = source.encode()
    lengths = accumulate(map(len, encoded.split(b"\n")))
    starts = [0, *(length + line for line, length in enumerate(lengths, 1))]
    starts[-1] = len(encoded)
    return starts


def _places(source: str) -> list[_Place]:
    """Every block of a text. The text of a tight list's item becomes a paragraph, which is no event."""
    places: list[_Place] = []
    outer: list[int] = []  # the places of the blocks around the event, outermost first
    inside = False  # directly in a list's item
    text: tuple[int, int] | None = None  # the text of such an item, as far as it has been read
    events = cast("Iterable[tuple[_Event, Mapping[str, int]]]", pyromark.events_with_range(source))
    for event, extent in events:
        tag: _Event = event
        opens = False
        if not isinstance(event, str):
            opens = "Start" in event
            tag = event["Start"] if opens else event.get("End", "")
        name = tag if isinstance(tag, str) else next(iter(tag))
        kind = _KINDS.get(name)
        if kind is None:
            if inside:
                text = (text[0] if text else extent["start"], extent["end"])
            continue
        if text:
            places.append(_Place("paragraph", *text, len(places) + 1))
            text = None
        if opens or kind == "rule":
            heading = tag.get("Heading") if isinstance(tag, dict) else None
            level = int(heading["level"][1]) if heading else 0
            places.append(_Place(kind, extent["start"], extent["end"], len(places) + 1, level))
        if opens:
            outer.append(len(places) - 1)
        elif kind != "rule":
            ended = outer.pop()
            places[ended] = places[ended]._replace(after=len(places))
        inside = bool(outer) and places[outer[-1]].kind == "item"
    return places


def _blocks(
    parsed: Parsed, within: tuple[int, int], last: int, *, titled: bool = False
) -> list[Block]:
    """The outermost among ``places[slice(*within)]``, each stretched to the next or to ``last``."""
    found: list[int] = []
    index, end = within
    while index < end:
        found.append(index)
        index = parsed.places[index].after
    starts = [_line_start(parsed, parsed.places[index]) for index in found]
    blocks: list[Block] = []
    for index, (start, end) in zip(found, pairwise([*starts, last]), strict=True):
        place = parsed.places[index]
        own_end = min(parsed.lines[bisect_right(parsed.byte_lines, place.end - 1)], end)
        blocks.append(
            Block(
                kind=place.kind,
                start=start,
                end=end,
                own_end=own_end,
                level=place.level,
                title=_title(parsed.text[start:own_end].replace("\0", "\ufffd"))
                if titled and place.level
                else "",
                inner=(index, place.after),
            )
        )
    return blocks


def _line_start(parsed: Parsed, place: _Place) -> int:
    """Where the line begins that a block begins in, in characters."""
    # A list behind a tab is said to begin at the end of the line above.
    return parsed.lines[
        bisect_right(parsed.byte_lines, place.start + 1, hi=len(parsed.byte_lines) - 1) - 1
    ]


def _title(heading: str) -> str:
    """What a heading says: a line without its hashes, or lines without the underline."""
    *above, last = _LINE_END.split(heading.rstrip("\r\n"))
    if above:
        return " ".join(" ".join(above).split())
    inside = _OPENING.sub("", last, count=1)
    return " ".join(_CLOSING.sub("", inside).split())

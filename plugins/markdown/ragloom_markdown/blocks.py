"""The block structure of a Markdown text, as markdown-it-py sees it.

Only blocks are parsed, no inlines: that is all a chunker needs, and eight times as fast.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from ragloom.text import line_starts

if TYPE_CHECKING:
    from markdown_it.parser_block import RuleFuncBlockType
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

_NEWLINES = re.compile(r"\r\n?")
_KINDS = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "fence": "fence",
    "code_block": "fence",
    "html_block": "html",
    "hr": "rule",
}
_CONTAINERS = frozenset({"list", "item", "quote"})

_FIRST = {
    "fence": "`~",
    "blockquote": ">",
    "hr": "*-_",
    "list": "*-+0123456789",
    "reference": "[",
    "html_block": "<",
    "heading": "#",
}
"""The first characters of what each rule matches."""

_DEEPEST = 100
"""Nesting that is followed; markdown-it-py's own 20 makes ten nested lists swallow what comes after."""


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
        title: A heading's text as written, without its hashes or underline.
        inner: The block's tokens.
    """

    kind: str
    start: int
    end: int
    own_end: int
    level: int = 0
    title: str = ""
    inner: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text's tokens and blocks."""

    tokens: Sequence[Token]
    lines: list[int]
    blocks: list[Block]


class _BlockParser(MarkdownIt):
    """markdown-it-py without what only a renderer needs of a link's definition."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802 - overrides
        """The address as it is; whether it may stand there does not depend on its escapes."""
        return url


@cache
def _parser() -> MarkdownIt:
    """markdown-it-py for CommonMark, blocks only."""
    parser = _BlockParser("commonmark", {"maxNesting": _DEEPEST})
    parser.core.ruler.enableOnly(["block"])
    _gate_rules(parser)
    return parser


def _gate_rules(parser: MarkdownIt) -> None:
    """Call a rule only for a line that begins like something it can match.

    The parser offers every line to every rule that could begin or end a block there. Most rules match
    one of a few first characters only, so that one look at the line replaces all of their calls where
    it begins with anything else, as nearly every line does.
    """
    ruler = parser.block.ruler
    named = {rule.name: rule.fn for rule in ruler.__rules__ if rule.name in _FIRST}
    chains = {
        name: ruler.getRules(name) for name in ("paragraph", "reference", "blockquote", "list")
    }
    ruler.disable(list(named))
    ruler.after("code", "gated", _gate(named, list(named.values())))
    for chain, rules in chains.items():
        # Last of the rules that begin a block, where a paragraph has matched before them.
        ruler.push(f"end_{chain}", _gate(named, rules), {"alt": [chain]})


def _gate(
    named: Mapping[str, RuleFuncBlockType], rules: Sequence[RuleFuncBlockType]
) -> RuleFuncBlockType:
    """One rule in place of ``rules``, which are tried in their order."""
    by_first: dict[str, list[RuleFuncBlockType]] = {}
    for name, rule in named.items():
        for character in _FIRST[name] if rule in rules else "":
            by_first.setdefault(character, []).append(rule)

    def gate(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:  # noqa: FBT001
        first = state.bMarks[start_line] + state.tShift[start_line]
        for rule in by_first.get(state.src[first : first + 1], ()):
            if rule(state, start_line, end_line, silent):
                return True
        return False

    return gate


def parse(text: str) -> Parsed:
    """The blocks of ``text`` at its outermost level; together they cover all that is not blank."""
    source = _NEWLINES.sub("\n", text) if "\r" in text else text
    source = source.replace("\0", "\ufffd")  # as CommonMark says; only the parser sees it
    tokens = _parser().parse(source)
    lines = line_starts(text)
    lines.append(len(text))
    first = next((token.map[0] for token in tokens if token.map is not None), len(lines) - 1)
    begin = lines[first]
    blocks = _blocks(tokens, 0, len(tokens), 0, lines, (begin, len(text)))
    if begin and text[:begin].strip():
        blocks.insert(0, Block("definitions", 0, begin, begin))
    return Parsed(tokens, lines, blocks)


def children(parsed: Parsed, block: Block) -> list[Block]:
    """The blocks inside a list, an item or a quote; none for any other kind."""
    if block.kind not in _CONTAINERS:
        return []
    first, last = block.inner
    level = parsed.tokens[first].level + 1
    extent = (block.start, block.end)
    return _blocks(parsed.tokens, first + 1, last, level, parsed.lines, extent)


def _blocks(
    tokens: Sequence[Token],
    first: int,
    last: int,
    level: int,
    lines: list[int],
    extent: tuple[int, int],
) -> list[Block]:
    """The blocks of one level among ``tokens[first:last]``, stretched to tile ``extent``."""
    found: list[tuple[int, int, int]] = []
    for index in range(first, last):
        token = tokens[index]
        if token.level == level and token.nesting >= 0 and token.map is not None:
            found.append((index, token.map[0], token.map[1]))
    blocks: list[Block] = []
    for number, (index, top, bottom) in enumerate(found):
        following = number + 1 < len(found)
        start = lines[top] if number else extent[0]
        end = lines[found[number + 1][1]] if following else extent[1]
        token = tokens[index]
        kind = _KINDS.get(token.type, "paragraph")
        heading = kind == "heading"
        blocks.append(
            Block(
                kind=kind,
                start=start,
                end=end,
                own_end=min(lines[bottom], end),
                level=int(token.tag[1]) if heading else 0,
                title=" ".join(tokens[index + 1].content.split()) if heading else "",
                inner=(index, found[number + 1][0] if following else last),
            )
        )
    return blocks

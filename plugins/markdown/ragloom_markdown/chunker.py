"""The chunker ``heading``: one chunk a section, and more where a section is too long."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import version

from ragloom import ConfigError, Document, Piece, Span, TokenCounter
from ragloom.text import (
    Budget,
    join_context,
    line_starts_within,
    sentence_starts_within,
    split_to_fit,
    stripped,
)
from ragloom_markdown.blocks import Block, Parsed, parse
from ragloom_markdown.fitting import Part, fit
from ragloom_markdown.flavours import with_plain_titles
from ragloom_markdown.other import parse_plain
from ragloom_markdown.outline import Region, paths, sections, subsections

_SEPARATOR = " > "
_CONTEXT_SHARE = 4
"""At most a fourth of the budget goes to the titles above; outer ones are omitted first."""


class HeadingChunker:
    """Splits Markdown at its headings, and any other text at the sections that its loader hands over.

    Without any, text is split between paragraphs where it is too long. A heading of Markdown counts where
    it stands at the outermost level: one inside a list or a quote is part of that list or quote.

    Args:
        levels: Heading levels at which a section begins.

    Raises:
        ConfigError: ``levels`` is empty or names a level that does not exist.
    """

    def __init__(self, *, levels: Collection[int] = (1, 2)) -> None:
        if not levels or not set(levels) <= set(range(1, 7)):
            raise ConfigError(f"heading: levels must be some of 1 to 6, not {sorted(levels)}")
        self._levels = frozenset(levels)
        listed = ",".join(map(str, sorted(self._levels)))
        self.fingerprint = f"heading-2 levels={listed} pyromark={version('pyromark')}"

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterator[Piece]:
        """Split at headings, and again where a section exceeds ``max_tokens`` with its context.

        Then, in this order: at deeper headings, between blocks, at the items, rows, blank lines or
        lines inside a block, between sentences, between words.
        """
        parsed = _parse(document)
        splitter = _Splitter(document, parsed, Budget(counter=counter, tokens=max_tokens))
        for region in sections(document.text, parsed.blocks, self._levels):
            yield from splitter.split(region)


def _parse(document: Document) -> Parsed:
    if document.media_type == "text/markdown" and not document.sections:
        return with_plain_titles(parse(document.text))
    code = document.media_type.startswith("text/x-") and document.media_type != "text/x-rst"
    return parse_plain(document.text, document.sections, prose=not code)


class _Splitter:
    """Splits the regions of one document."""

    def __init__(self, document: Document, parsed: Parsed, budget: Budget) -> None:
        self._text = document.text
        self._parsed = parsed
        self._blocks = parsed.blocks
        self._budget = budget
        self._paths = paths(parsed.blocks)
        self._title = _document_title(document, parsed.blocks)
        self._contexts: dict[tuple[str, ...], tuple[str, int]] = {}
        self._tokens: list[int | None] = [None] * len(parsed.blocks)

    def split(self, region: Region) -> Iterator[Piece]:
        """The chunks of a region, in order."""
        span = stripped(self._text, *self._extent(region))
        if span is None:
            return
        context, cost = self._context(self._above(region))
        tokens = cost + self._tokens_within(region, self._budget.tokens - cost)
        if tokens <= self._budget.tokens and span.end - span.start <= self._budget.characters:
            if self._budget.additive:  # Blocks begin after a line end.
                yield Piece(span=span, headings=self._path(region), context=context, tokens=tokens)
            else:
                yield from self._checked(span, self._path(region), context)
            return
        parts = subsections(self._text, self._blocks, region)
        if parts == [region]:
            yield from self._pack(region, context, cost)
        else:
            for part in parts:
                yield from self.split(part)

    def _tokens_within(self, region: Region, most: int) -> int:
        """Tokens of a region, by the counts of its blocks; counted no further than above ``most``."""
        spent = 0
        for index in range(region.first, region.last):
            spent += self._tokens_of(index)
            if spent > most:
                break
        return spent

    def _tokens_of(self, index: int) -> int:
        """Tokens of a block, which is counted once."""
        tokens = self._tokens[index]
        if tokens is None:
            block = self._blocks[index]
            tokens = self._budget.count(self._text, block.start, block.end)
            self._tokens[index] = tokens
        return tokens

    def _pack(self, region: Region, context: str, cost: int) -> Iterator[Piece]:
        """Fill chunks with the blocks of a region that has no headings but its own."""
        path = self._path(region)
        inner_context, inner_cost = self._context(path)
        limit = self._budget.tokens
        filled: list[Part] = []
        spent = cost
        for part in self._parts(region, max(limit - max(cost, inner_cost), 1)):
            if filled and (
                spent + part.tokens > limit or part.end - filled[0].start > self._budget.characters
            ):
                yield from self._emit(filled, path, context, spent)
                filled = []
                context, spent = inner_context, inner_cost
                if part.header:
                    context = join_context(inner_context, part.header)
                    spent += self._budget.counter.count(f"{part.header}\n")
            filled.append(part)
            spent += part.tokens
        yield from self._emit(filled, path, context, spent)

    def _parts(self, region: Region, room: int) -> Iterator[Part]:
        """The region's blocks, split to fit; its own headings stay with what follows them."""
        lead = region.first if region.heading is None else region.heading + 1
        headed = 0
        for index in range(region.first, region.last):
            tokens = self._tokens_of(index)
            budget = self._budget.of(room - headed if headed <= room // 2 else room)
            yield from fit(self._text, self._parsed, self._blocks[index], budget, tokens)
            headed = headed + tokens if index < lead else 0

    def _emit(
        self, parts: Sequence[Part], path: tuple[str, ...], context: str, tokens: int
    ) -> Iterator[Piece]:
        span = stripped(self._text, parts[0].start, parts[-1].end) if parts else None
        if span is None:
            return
        blanks = all(self._text[part.start - 1] in " \t\n\r" for part in parts[1:])
        if blanks and self._budget.additive:
            yield Piece(span=span, headings=path, context=context, tokens=tokens)
        else:
            yield from self._checked(span, path, context)

    def _checked(self, span: Span, path: tuple[str, ...], context: str) -> Iterator[Piece]:
        """One chunk; more only if its blocks count more together than one by one."""
        count = self._budget.counter.count
        text = self._text[slice(*span)]
        excess = count(join_context(context, text)) - self._budget.tokens
        if excess <= 0 or len(text) == 1:
            yield Piece(span=span, headings=path, context=context)
            return
        smaller = self._budget.of(max(count(text) - excess - 1, 1))
        boundaries = (line_starts_within, sentence_starts_within)
        for atom in split_to_fit(self._text, *span, budget=smaller, boundaries=boundaries):
            inner = stripped(self._text, atom.start, atom.end)
            if inner is not None:
                yield from self._checked(inner, path, context)

    def _extent(self, region: Region) -> tuple[int, int]:
        return self._blocks[region.first].start, self._blocks[region.last - 1].end

    def _path(self, region: Region) -> tuple[str, ...]:
        return () if region.heading is None else self._paths[region.heading]

    def _above(self, region: Region) -> tuple[str, ...]:
        """The titles that a region stands below, without those that it begins with."""
        if region.heading is None:
            return ()
        own = self._blocks[region.first].kind == "heading"
        return self._paths[region.first][: -1 if own else None]

    def _context(self, path: tuple[str, ...]) -> tuple[str, int]:
        """What is embedded above a text at ``path``, and its tokens."""
        if path not in self._contexts:
            titles = [title for title in (self._title, *path) if title]
            context, cost = "", 0
            while titles:
                context = _SEPARATOR.join(titles)
                cost = self._budget.counter.count(f"{context}\n")
                if cost <= self._budget.tokens // _CONTEXT_SHARE:
                    break
                del titles[0]
                context, cost = "", 0
            self._contexts[path] = context, cost
        return self._contexts[path]


def _document_title(document: Document, blocks: Sequence[Block]) -> str:
    """The front matter's title, unless the first heading says the same."""
    title = document.metadata.get("title")
    if not isinstance(title, str):
        return ""
    title = " ".join(title.split())
    first = next((block.title for block in blocks if block.kind == "heading"), "")
    return "" if title.casefold() == first.casefold() else title

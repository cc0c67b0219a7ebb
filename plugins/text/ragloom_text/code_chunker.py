"""The chunker ``code``: one chunk a function or class, and more where one is too long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.metadata import version

from ragloom import ConfigError, Document, Piece, TokenCounter
from ragloom.text import (
    Budget,
    blank_line_starts,
    join_context,
    line_starts_within,
    sentence_starts_within,
    split_to_fit,
    stripped,
)
from ragloom_text.definitions import Definition, find_definitions
from ragloom_text.plain import language_of

_WORD = re.compile(r"\w")
_PART_ENDS = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SEPARATOR = " > "
_CONTEXT_SHARE = 4
"""At most a fourth of the budget goes to the enclosing names; outer ones are omitted first."""


class CodeChunker:
    """Splits source code at its definitions; any other text at blank lines and lines."""

    def __init__(self, *, size: int = 0) -> None:
        if size < 0:
            raise ConfigError(f"code: size {size} must be 0 or more")
        self._size = size

    @property
    def fingerprint(self) -> str:
        """Changes with the setting, this code's rules, and the grammars."""
        grammars = version("tree-sitter-language-pack")
        return f"code-2 size={self._size} tree-sitter-language-pack={grammars}"

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterator[Piece]:
        """Split at definitions, and those too long at inner definitions, blank lines and lines.

        What stands between definitions, such as imports, is a chunk of its own. A definition's
        comments and decorators belong to it. The names that lead to it are its headings, and in words,
        as models read them, its context: "Vector Store > open file" for ``VectorStore.open_file``.
        """
        language = language_of(document.media_type)
        definitions = find_definitions(document.text, language) if language else []
        tokens = min(self._size, max_tokens) if self._size else max_tokens
        splitter = _Splitter(document.text, Budget(counter=counter, tokens=tokens))
        yield from splitter.split(0, len(document.text), definitions, ())


class _Splitter:
    """Splits one text."""

    def __init__(self, text: str, budget: Budget) -> None:
        self._text = text
        self._budget = budget

    def split(
        self, start: int, end: int, definitions: Sequence[Definition], path: tuple[str, ...]
    ) -> Iterator[Piece]:
        """The chunks of a range in which ``definitions`` stand, below the names of ``path``."""
        position = start
        following = [*(definition.start for definition in definitions[1:]), end]
        for definition, begin in zip(definitions, following, strict=False):
            yield from self._between(position, definition.start, path)
            # Braces and semicolons alone say nothing: they stay with what they close.
            closed = _WORD.search(self._text, definition.end, begin) is None
            position = begin if closed else definition.end
            yield from self._definition(definition, position, path)
        yield from self._between(position, end, path)

    def _definition(
        self, definition: Definition, end: int, above: tuple[str, ...]
    ) -> Iterator[Piece]:
        path = (*above, definition.name)
        start = definition.start
        if self._fits(start, end, self._context(path)) or not definition.inner:
            yield from self._between(start, end, path)
            return
        head = definition.inner[0].start
        yield from self._between(start, head, path)
        yield from self.split(head, end, definition.inner, path)

    def _between(self, start: int, end: int, path: tuple[str, ...]) -> Iterator[Piece]:
        """Chunks of a range that is split by its lines only."""
        context = self._context(path)
        room = self._budget.tokens - self._budget.counter.count(context)
        boundaries = (blank_line_starts, line_starts_within, sentence_starts_within)
        atoms = split_to_fit(
            self._text, start, end, budget=self._budget.of(max(room, 1)), boundaries=boundaries
        )
        filled: tuple[int, int] | None = None
        for atom in atoms:
            if filled is not None and self._fits(filled[0], atom.end, context):
                filled = (filled[0], atom.end)
                continue
            if filled is not None:
                yield from self._emit(*filled, path, context)
            filled = (atom.start, atom.end)
        if filled is not None:
            yield from self._emit(*filled, path, context)

    def _emit(self, start: int, end: int, path: tuple[str, ...], context: str) -> Iterator[Piece]:
        span = stripped(self._text, start, end)
        if span is None:
            return
        if self._fits(*span, context) or span.end - span.start == 1:
            yield Piece(span=span, headings=path, context=context)
        elif context:  # Together they count more than one by one.
            yield from self._emit(start, end, path, "")
        else:
            middle = (span.start + span.end) // 2
            yield from self._emit(span.start, middle, path, "")
            yield from self._emit(middle, span.end, path, "")

    def _fits(self, start: int, end: int, context: str) -> bool:
        if end - start > self._budget.characters:
            return False
        embedded = join_context(context, self._text[start:end])
        return self._budget.counter.count(embedded) <= self._budget.tokens

    def _context(self, path: tuple[str, ...]) -> str:
        names = [" ".join(filter(None, _PART_ENDS.split(name))) for name in path]
        for first in range(len(names)):
            context = _SEPARATOR.join(names[first:])
            if self._budget.counter.count(context) <= self._budget.tokens // _CONTEXT_SHARE:
                return context
        return ""

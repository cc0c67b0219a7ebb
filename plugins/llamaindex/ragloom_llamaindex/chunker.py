"""Node parsers of LlamaIndex as chunkers."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, cast

from ragloom import Document, Piece, PluginError, SourceError, Span, TokenCounter
from ragloom.text import Budget, line_starts_within, sentence_starts_within, split_to_fit, stripped
from ragloom_llamaindex.parts import FAULTS, fingerprint, guarded, label, load_class, make, named
from ragloom_llamaindex.spans import SpanFinder

if TYPE_CHECKING:
    from llama_index.core.node_parser import NodeParser

__all__ = ["NodeParserChunker"]

_OVERLAP_SHARE = 8  # an eighth of the budget, where nothing is said of an overlap
_SHOWN = 40  # characters of a text that an error shows


class NodeParserChunker:
    """Cuts where a node parser cuts.

    Where the parser takes ``chunk_size`` and ``tokenizer`` and the options give neither, it counts in the
    embedder's own tokens and fills what the embedder reads. What is longer all the same is cut again,
    so that the embedder reads all of it.

    Args:
        part: The parser's class.
        options: Its arguments.
    """

    def __init__(self, part: str, options: Mapping[str, object]) -> None:
        self._part = named("chunker", part)
        self._options = dict(options)
        self._parser: tuple[tuple[str, int], NodeParser] | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Changes with the class, its arguments and LlamaIndex."""
        return fingerprint(self._part, self._options)

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterator[Piece]:
        """Cut as the parser does; what it leaves out is in no piece.

        Raises:
            SourceError: A chunk is not a slice of the document, in more than its white space; or the
                parser makes no chunk of it at all.
            PluginError: The parser failed.
        """
        budget = Budget(counter=counter, tokens=max_tokens)
        # Spans may overlap, and those that are cut again then do not come in order.
        spans = {
            fitting
            for span in self._spans(document, counter, max_tokens)
            for fitting in _fitting(document.text, span, budget)
        }
        for span in sorted(spans):
            yield Piece(span=span)

    def _spans(self, document: Document, counter: TokenCounter, max_tokens: int) -> list[Span]:
        finder = SpanFinder(document.text)
        spans: list[Span] = []
        for number, text in enumerate(self._texts(document, counter, max_tokens), 1):
            if not text.strip():
                continue
            span = finder.find(text)
            if span is None:
                shown = " ".join(text.split())[:_SHOWN]
                raise SourceError(
                    f"{label('chunker', self._part)}: its chunk {number}, {shown!r}, is not a slice "
                    "of the file: this parser rewrites text and can give no exact citation"
                )
            spans.append(span)
        if not spans and document.text.strip():
            raise SourceError(
                f"{label('chunker', self._part)}: it leaves out all of the text: it is made for "
                "another kind of file"
            )
        return spans

    def _texts(self, document: Document, counter: TokenCounter, max_tokens: int) -> list[str]:
        from llama_index.core.schema import Document as LlamaDocument
        from llama_index.core.schema import MetadataMode

        parser = self._made(counter, max_tokens)
        source = LlamaDocument(text=document.text, id_=document.uri)
        try:
            with guarded("chunker", self._part):
                nodes = parser.get_nodes_from_documents([source])
        except FAULTS as error:
            said = " ".join(str(error).split()) or type(error).__name__
            raise PluginError(f"{label('chunker', self._part)}: {document.uri}: {said}") from error
        return [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]

    def _made(self, counter: TokenCounter, max_tokens: int) -> NodeParser:
        key = (counter.name, max_tokens)
        if self._parser is None or self._parser[0] != key:
            options = {**self._fitted(counter, max_tokens), **self._options}
            self._parser = key, cast("NodeParser", make("chunker", self._part, options))
        return self._parser[1]

    def _fitted(self, counter: TokenCounter, max_tokens: int) -> dict[str, object]:
        """The arguments that make a parser fill what the embedder reads."""
        takes = inspect.signature(load_class("chunker", self._part)).parameters
        if "chunk_size" not in takes or "tokenizer" not in takes:
            return {}
        if {"chunk_size", "tokenizer"} & set(self._options):
            return {}
        return {
            "chunk_size": max_tokens,
            "chunk_overlap": max_tokens // _OVERLAP_SHARE,
            "tokenizer": counter.spans,
        }


def _fitting(text: str, span: Span, budget: Budget) -> Iterator[Span]:
    """A span whole, or in several parts where the embedder would not read all of it."""
    if _fits(text, *span, budget):
        yield span
        return
    boundaries = (sentence_starts_within, line_starts_within)
    start = end = span.start
    for atom in split_to_fit(text, *span, budget=budget, boundaries=boundaries):
        if end > start and not _fits(text, start, atom.end, budget):
            yield from _without_blanks(text, start, end)
            start = atom.start
        end = atom.end
    yield from _without_blanks(text, start, end)


def _fits(text: str, start: int, end: int, budget: Budget) -> bool:
    within = end - start <= budget.characters
    return within and budget.count(text, start, end) <= budget.tokens


def _without_blanks(text: str, start: int, end: int) -> Iterator[Span]:
    inner = stripped(text, start, end)
    if inner is not None:
        yield inner

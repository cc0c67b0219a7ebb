"""Node parsers of LlamaIndex as chunkers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from ragloom import Document, Piece, PluginError, SourceError, Span, TokenCounter
from ragloom.text import Budget, line_starts_within, sentence_starts_within, split_to_fit, stripped
from ragloom_llamaindex.classes import LlamaClass
from ragloom_llamaindex.spans import SpanFinder

if TYPE_CHECKING:
    from llama_index.core.node_parser import NodeParser

_OVERLAP_SHARE = 8  # an eighth of the budget, where nothing is said of an overlap
_SHOWN = 40  # characters of a text that an error shows


class NodeParserChunker:
    """Splits where a node parser splits.

    Where the parser takes ``chunk_size`` and ``tokenizer`` and the options give neither, it counts in the
    embedder's own tokens and fills what the embedder reads. What is longer all the same is split again,
    so that the embedder reads all of it.
    """

    def __init__(self, part: str, options: Mapping[str, object]) -> None:
        self._class = LlamaClass("chunker", part, dict(options))
        self.fingerprint = self._class.fingerprint
        self._parser: tuple[tuple[str, int], NodeParser] | None = None

    def split(
        self, document: Document, *, counter: TokenCounter, max_tokens: int
    ) -> Iterator[Piece]:
        """Split as the parser does; what it omits is in no chunk.

        Raises:
            SourceError: A chunk is not a slice of the document, in more than its white space; or the
                parser makes no chunk of it at all.
            PluginError: The parser failed.
        """
        budget = Budget(counter=counter, tokens=max_tokens)
        # Spans may overlap, and those that are split again then do not come in order.
        spans = {
            fitting
            for span in self._spans(document, counter, max_tokens)
            for fitting in fitting_spans(document.text, span, budget)
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
                    f"{self._class.label}: its chunk {number}, {shown!r}, is not a slice "
                    "of the file: this parser rewrites text and can give no exact citation"
                )
            spans.append(span)
        if not spans and document.text.strip():
            raise SourceError(
                f"{self._class.label}: it omits all of the text: it is made for "
                "another kind of file"
            )
        return spans

    def _texts(self, document: Document, counter: TokenCounter, max_tokens: int) -> list[str]:
        from llama_index.core.schema import Document as LlamaDocument
        from llama_index.core.schema import MetadataMode

        parser = self._made(counter, max_tokens)
        source = LlamaDocument(text=document.text, id_=document.uri)
        with self._class.failing_as(PluginError, f"{document.uri}: "):
            nodes = parser.get_nodes_from_documents([source])
        return [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]

    def _made(self, counter: TokenCounter, max_tokens: int) -> NodeParser:
        key = (counter.name, max_tokens)
        if self._parser is None or self._parser[0] != key:
            made = self._class.make(**self._fitted(counter, max_tokens))
            self._parser = key, cast("NodeParser", made)
        return self._parser[1]

    def _fitted(self, counter: TokenCounter, max_tokens: int) -> dict[str, object]:
        """The arguments that make a parser fill what the embedder reads."""
        both = {"chunk_size", "tokenizer"}
        if not both <= self._class.parameters.keys() or both & self._class.options.keys():
            return {}
        fitted = {
            "chunk_size": max_tokens,
            "chunk_overlap": max_tokens // _OVERLAP_SHARE,
            "tokenizer": counter.spans,
        }
        return {name: value for name, value in fitted.items() if name not in self._class.options}


def fitting_spans(text: str, span: Span, budget: Budget) -> Iterator[Span]:
    """A span whole, or split where the embedder would not read all of it."""
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

"""A bridge to LlamaIndex, both ways.

Any node parser, reader or embedding of LlamaIndex is a component of ragloom by its name, such as
``chunker: llamaindex:SentenceSplitter``; a class of another package by its dotted path, such as
``embedder: llamaindex:llama_index.embeddings.huggingface.HuggingFaceEmbedding``. The component's other
settings are the arguments of the class. The other way, :class:`RagloomRetriever` is a retriever for
LlamaIndex's own query engines, and :class:`RagloomEmbedding`, :class:`RagloomNodeParser` and
:class:`RagloomVectorStore` are ragloom's components as classes of LlamaIndex.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from ragloom import Chunker, Embedder, Loader, Provider, hookimpl

if TYPE_CHECKING:
    from ragloom_llamaindex.embedding import RagloomEmbedding
    from ragloom_llamaindex.node_parser import RagloomNodeParser
    from ragloom_llamaindex.retriever import RagloomRetriever
    from ragloom_llamaindex.vector_store import RagloomVectorStore

__all__ = [
    "EmbeddingOptions",
    "PartOptions",
    "RagloomEmbedding",
    "RagloomNodeParser",
    "RagloomRetriever",
    "RagloomVectorStore",
]

Component = TypeVar("Component")
Options = TypeVar("Options")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartOptions:
    """Which class of LlamaIndex, and what it is made with.

    Attributes:
        part: A class of ``llama_index.core``, such as ``SentenceSplitter``, or the dotted path of any
            other; what stands behind the colon of ``llamaindex:SentenceSplitter``.
        options: The arguments of the class.
    """

    part: str = field(default="", metadata={"names": "code"})
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingOptions(PartOptions):
    """As :class:`PartOptions`, with what LlamaIndex does not tell of a model.

    Attributes:
        max_tokens: The longest text that the model reads whole, in tokens of ``cl100k_base``.
        dimension: Numbers in a vector; 0 asks the model once.
    """

    max_tokens: int = 512
    dimension: int = 0

    def __post_init__(self) -> None:
        """Refuse numbers that no model has."""
        if self.max_tokens < 1 or self.dimension < 0:
            raise ValueError("max_tokens must be 1 or more, and dimension 0 or more")


def _chunker(options: PartOptions) -> Chunker:
    from ragloom_llamaindex.chunker import NodeParserChunker

    return NodeParserChunker(options.part, options.options)


def _loader(options: PartOptions) -> Loader:
    from ragloom_llamaindex.loader import ReaderLoader

    return ReaderLoader(options.part, options.options)


def _embedder(options: EmbeddingOptions) -> Embedder:
    from ragloom_llamaindex.embedder import EmbeddingEmbedder

    return EmbeddingEmbedder(
        options.part,
        options.options,
        max_tokens=options.max_tokens,
        dimension=options.dimension,
    )


def _offer(
    summary: str, create: Callable[[Options], Component], options: type[Options]
) -> Provider[Component]:
    return Provider(
        name="llamaindex",
        summary=summary,
        create=create,
        options=options,
        requires=("llama_index",),
        extra="ragloom[llamaindex]",
    )


@hookimpl
def ragloom_chunkers() -> Iterable[Provider[Chunker]]:
    """Offer the chunkers ``llamaindex:…``."""
    summary = "a node parser of LlamaIndex, as llamaindex:SentenceSplitter"
    return [_offer(summary, _chunker, PartOptions)]


@hookimpl
def ragloom_loaders() -> Iterable[Provider[Loader]]:
    """Offer the loaders ``llamaindex:…``, for the endings that the setting ``loaders`` gives them."""
    summary = "a reader of LlamaIndex, as llamaindex:SimpleDirectoryReader"
    return [_offer(summary, _loader, PartOptions)]


@hookimpl
def ragloom_embedders() -> Iterable[Provider[Embedder]]:
    """Offer the embedders ``llamaindex:…``."""
    summary = "an embedding of LlamaIndex, as llamaindex:MockEmbedding"
    return [_offer(summary, _embedder, EmbeddingOptions)]


_ON_FIRST_USE = {
    "RagloomEmbedding": "embedding",
    "RagloomNodeParser": "node_parser",
    "RagloomRetriever": "retriever",
    "RagloomVectorStore": "vector_store",
}


def __getattr__(name: str) -> object:
    """Import what is heavy on first use (PEP 562)."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value: object = getattr(import_module(f"{__name__}.{_ON_FIRST_USE[name]}"), name)
    globals()[name] = value
    return value

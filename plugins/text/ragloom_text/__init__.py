"""Plain text, reStructuredText, source code, HTML, PDF and notebooks; chunkers for any text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragloom import Chunker, Loader, NoOptions, Provider, hookimpl

__all__ = ["CodeOptions", "SentenceOptions", "TokenOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceOptions:
    """The settings of the chunker ``sentence``.

    Attributes:
        size: The most characters of a chunk.
        overlap: How many characters of a chunk the next one repeats at most, from a sentence's start.
        fit: Also keep a chunk within what the embedder reads at once; what is longer is embedded in
            windows, whose mean is its vector.
    """

    size: int = 2000
    overlap: int = 200
    fit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenOptions:
    """The settings of the chunker ``token``.

    Attributes:
        size: The most tokens of a chunk.
        overlap: How many tokens of a chunk the next one repeats.
        counter: Whose tokens: ``auto``, ``cl100k_base``, ``o200k_base``, ``approximate``, or
            ``embedder`` for the embedding model's own.
        fit: Also keep a chunk within what the embedder reads at once; what is longer is embedded in
            windows, whose mean is its vector.
    """

    size: int = 500
    overlap: int = 50
    counter: str = "auto"
    fit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions:
    """The settings of the chunker ``code``.

    Attributes:
        size: The most tokens of a chunk, in the embedder's counter; 0 for what the embedder reads.
    """

    size: int = 0


def _text(_options: NoOptions) -> Loader:
    from ragloom_text.plain import TextLoader

    return TextLoader()


def _rst(_options: NoOptions) -> Loader:
    from ragloom_text.rst import RstLoader

    return RstLoader()


def _code(_options: NoOptions) -> Loader:
    from ragloom_text.plain import CodeLoader

    return CodeLoader()


def _notebook(_options: NoOptions) -> Loader:
    from ragloom_text.notebook import NotebookLoader

    return NotebookLoader()


def _html(_options: NoOptions) -> Loader:
    from ragloom_text.html import HtmlLoader

    return HtmlLoader()


def _pdf(_options: NoOptions) -> Loader:
    from ragloom_text.pdf import PdfLoader

    return PdfLoader()


def _sentence_chunker(options: SentenceOptions) -> Chunker:
    from ragloom_text.sentence_chunker import SentenceChunker

    return SentenceChunker(size=options.size, overlap=options.overlap, fit=options.fit)


def _token_chunker(options: TokenOptions) -> Chunker:
    from ragloom_text.token_chunker import TokenChunker

    return TokenChunker(
        size=options.size, overlap=options.overlap, counter=options.counter, fit=options.fit
    )


def _code_chunker(options: CodeOptions) -> Chunker:
    from ragloom_text.code_chunker import CodeChunker

    return CodeChunker(size=options.size)


@hookimpl
def ragloom_loaders() -> Iterable[Provider[Loader]]:
    """Offer the loaders ``text``, ``rst``, ``code``, ``notebook``, ``html`` and ``pdf``."""
    return [
        Provider(name="text", summary="plain text", create=_text),
        Provider(name="restructuredtext", summary="reStructuredText", create=_rst),
        Provider(name="code", summary="source code and configuration files", create=_code),
        Provider(name="notebook", summary="Jupyter notebooks, as Markdown", create=_notebook),
        Provider(
            name="html",
            summary="HTML, as Markdown",
            create=_html,
            requires=("bs4", "lxml", "markdownify"),
            extra="ragloom[html]",
        ),
        Provider(
            name="pdf",
            summary="the text of PDF files",
            create=_pdf,
            requires=("pypdf",),
            extra="ragloom[pdf]",
        ),
    ]


@hookimpl
def ragloom_chunkers() -> Iterable[Provider[Chunker]]:
    """Offer the chunkers ``sentence``, ``token`` and ``code``."""
    return [
        Provider(
            name="sentence",
            summary="whole sentences up to a number of characters, with overlap",
            create=_sentence_chunker,
            options=SentenceOptions,
        ),
        Provider(
            name="token",
            summary="a number of tokens, with overlap",
            create=_token_chunker,
            options=TokenOptions,
        ),
        Provider(
            name="code",
            summary="functions and classes",
            create=_code_chunker,
            options=CodeOptions,
            requires=("tree_sitter", "tree_sitter_language_pack"),
            extra="ragloom[code]",
        ),
    ]

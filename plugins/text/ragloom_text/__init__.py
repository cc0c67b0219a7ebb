"""Plain text, reStructuredText, source code, HTML, PDF and notebooks; chunkers for any text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from importlib import import_module

from ragloom import Chunker, Loader, NoOptions, Provider, hookimpl

__all__ = ["CodeOptions", "SentenceOptions", "TokenOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceOptions:
    """The settings of the chunker ``sentence``.

    Attributes:
        size: The most characters of a chunk.
        overlap: The most characters of a chunk that the next one repeats, from a sentence's start; at
            most half of ``size``, so that there is always progress.
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
        overlap: The number of tokens of a chunk that the next one repeats; at most half of ``size``.
        counter: Whose tokens: ``auto``, ``cl100k_base``, ``o200k_base``, ``approximate``, or
            ``embedder`` for the embedding model's own.
        fit: Also keep a chunk within what the embedder reads at once; what is longer is embedded in
            windows, whose mean is its vector.
    """

    size: int = 500
    overlap: int = 50
    counter: str = field(default="auto", metadata={"names": "nothing"})
    fit: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOptions:
    """The settings of the chunker ``code``.

    Attributes:
        size: The most tokens of a chunk, in the embedder's counter; 0 for what the embedder reads.
    """

    size: int = 0


def _loader(
    name: str,
    summary: str,
    made_by: str,
    requires: tuple[str, ...] = (),
    endings: tuple[str, ...] = (),
) -> Provider[Loader]:
    """A loader without options, made by ``module:class`` of this package; its extra has its name."""

    def create(_options: NoOptions) -> Loader:
        module, _, class_name = made_by.partition(":")
        loader: Loader = getattr(import_module(f"{__name__}.{module}"), class_name)()
        return loader

    extra = f"ragloom[{name}]" if requires else ""
    return Provider(
        name=name, summary=summary, create=create, requires=requires, extra=extra, endings=endings
    )


def _sentence_chunker(options: SentenceOptions) -> Chunker:
    from ragloom_text.sentence_chunker import SentenceChunker

    return SentenceChunker(**asdict(options))


def _token_chunker(options: TokenOptions) -> Chunker:
    from ragloom_text.token_chunker import TokenChunker

    return TokenChunker(**asdict(options))


def _code_chunker(options: CodeOptions) -> Chunker:
    from ragloom_text.code_chunker import CodeChunker

    return CodeChunker(**asdict(options))


@hookimpl
def ragloom_loaders() -> Iterable[Provider[Loader]]:
    """Offer the loaders ``text``, ``rst``, ``code``, ``notebook``, ``html`` and ``pdf``."""
    return [
        _loader("text", "plain text", "plain:TextLoader"),
        _loader("restructuredtext", "reStructuredText", "rst:RstLoader"),
        _loader("asciidoc", "AsciiDoc", "asciidoc:AsciiDocLoader"),
        _loader("org", "Org", "org:OrgLoader"),
        _loader("latex", "LaTeX", "latex:LatexLoader"),
        _loader("code", "source code and configuration files", "plain:CodeLoader"),
        _loader("notebook", "Jupyter notebooks, as Markdown", "notebook:NotebookLoader"),
        _loader(
            "html",
            "HTML, as Markdown",
            "html:HtmlLoader",
            requires=("bs4", "lxml", "markdownify"),
            endings=(".htm", ".html", ".xhtml"),
        ),
        _loader(
            "docx",
            "Word documents, as Markdown",
            "docx:DocxLoader",
            requires=("bs4", "lxml", "mammoth", "markdownify"),
            endings=(".docx",),
        ),
        _loader(
            "epub",
            "books, as Markdown",
            "epub:EpubLoader",
            requires=("bs4", "lxml", "markdownify"),
            endings=(".epub",),
        ),
        _loader(
            "pdf",
            "the text of PDF files",
            "pdf:PdfLoader",
            requires=("pypdf",),
            endings=(".pdf",),
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

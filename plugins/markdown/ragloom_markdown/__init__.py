"""Markdown: a loader that reads YAML front matter, and a chunker that splits at CommonMark headings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ragloom import Chunker, Loader, NoOptions, Provider, hookimpl

__all__ = ["HeadingOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingOptions:
    """The settings of the chunker ``heading``.

    Attributes:
        levels: Heading levels, 1 to 6, at which a section begins. Deeper headings split a section only
            where it is too long for the embedder.
    """

    levels: tuple[int, ...] = (1, 2)


def _loader(_options: NoOptions) -> Loader:
    from ragloom_markdown.loader import MarkdownLoader

    return MarkdownLoader()


def _chunker(options: HeadingOptions) -> Chunker:
    from ragloom_markdown.chunker import HeadingChunker

    return HeadingChunker(levels=options.levels)


@hookimpl
def ragloom_loaders() -> Iterable[Provider[Loader]]:
    """Offer the loader ``markdown``."""
    return [
        Provider(
            name="markdown",
            summary="Markdown with YAML front matter, which becomes metadata",
            create=_loader,
            requires=("yaml",),
            extra="ragloom[markdown]",
        )
    ]


@hookimpl
def ragloom_chunkers() -> Iterable[Provider[Chunker]]:
    """Offer the chunker ``heading``."""
    return [
        Provider(
            name="heading",
            summary="CommonMark sections, split where they are too long for the embedder",
            create=_chunker,
            options=HeadingOptions,
            requires=("pyromark",),
            extra="ragloom[markdown]",
        )
    ]

"""Markdown files: front matter becomes metadata, all the rest is text."""

from __future__ import annotations

from dataclasses import replace

from ragloom import Document, Source
from ragloom.text import read_document, split_front_matter
from ragloom_markdown.flavours import linked_notes

_SUFFIXES = frozenset(
    {".md", ".markdown", ".mdown", ".mkd", ".mkdn"}
    | {".mdc", ".mdx", ".qmd", ".rmd"}  # of Cursor's rules, MDX, Quarto, R Markdown
)


class MarkdownLoader:
    """Reads Markdown; see :func:`ragloom.text.split_front_matter`.

    The notes that wikilinks name become ``links`` in the metadata, unless front matter has such a key.
    """

    suffixes = _SUFFIXES
    fingerprint = "markdown-3"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`, without the front matter."""
        document = read_document(source, content, media_type="text/markdown")
        front_matter = split_front_matter(document.text)
        if front_matter is None:
            return _with_links(document)
        read = replace(
            document,
            text=document.text[front_matter.length :],
            prefix=document.text[: front_matter.length],
            metadata=front_matter.fields,
            warnings=document.warnings + front_matter.warnings,
        )
        return _with_links(read)


def _with_links(document: Document) -> Document:
    links = linked_notes(document.text)
    if not links:
        return document
    return replace(document, metadata={"links": links, **document.metadata})

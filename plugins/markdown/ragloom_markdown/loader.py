"""Markdown files: front matter becomes metadata, all the rest is text."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from ragloom.decoding import decode
from ragloom.types import Document, Source
from ragloom_markdown.front_matter import split_front_matter

_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mdx"})


class MarkdownLoader:
    """Reads Markdown; see :func:`~ragloom_markdown.front_matter.split_front_matter`."""

    suffixes = _SUFFIXES
    fingerprint = "markdown-1"

    def load(self, source: Source, content: bytes) -> Document:
        """Decode ``content`` and take its front matter off.

        Raises:
            SourceError: The content is binary or in no known charset.
        """
        decoded = decode(content)
        document = Document(
            uri=source.uri,
            text=decoded.text,
            media_type="text/markdown",
            encoding=decoded.encoding if decoded.exact else "utf-8",
            bom=decoded.bom,
            extracted=not decoded.exact,
            modified=source.modified,
            content_hash=sha256(content).hexdigest(),
            warnings=decoded.warnings,
        )
        front_matter = split_front_matter(decoded.text)
        if front_matter is None:
            return document
        return replace(
            document,
            text=decoded.text[front_matter.length :],
            prefix=decoded.text[: front_matter.length],
            metadata=front_matter.metadata,
            warnings=decoded.warnings + front_matter.warnings,
        )

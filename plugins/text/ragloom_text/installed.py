"""What loaders that extract text share: their libraries' versions, and the document."""

from __future__ import annotations

from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version

from ragloom import Document, Metadata, Source


def extracted(
    source: Source,
    content: bytes,
    text: str,
    *,
    metadata: Metadata,
    warnings: tuple[str, ...],
    media_type: str = "text/markdown",
) -> Document:
    """A document whose spans, lines and bytes point into ``text``, and not into the file."""
    return Document(
        uri=source.uri,
        text=f"{text}\n" if text else "",
        metadata=metadata,
        media_type=media_type,
        extracted=True,
        modified=source.modified,
        content_hash=sha256(content).hexdigest(),
        warnings=warnings,
    )


def version_of(distribution: str) -> str:
    """The installed version, or ``none``."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "none"

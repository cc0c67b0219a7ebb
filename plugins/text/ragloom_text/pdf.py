"""The text of PDF files, page after page."""

from __future__ import annotations

import io
import zlib
from hashlib import sha256
from typing import TYPE_CHECKING

from ragloom.errors import MissingDependencyError, SourceError
from ragloom.types import Document, Json, Source
from ragloom_text.installed import version_of

if TYPE_CHECKING:
    from pypdf import PdfReader

__all__ = ["PdfLoader"]

# What pypdf raises for files that are not what they say.
_BROKEN = (
    ArithmeticError,
    AttributeError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class PdfLoader:
    """Reads PDF. Spans, lines and bytes point into the text taken from it."""

    suffixes = frozenset({".pdf"})

    @property
    def fingerprint(self) -> str:
        """Changes with pypdf and this code's rules."""
        return f"pdf-1 pypdf={version_of('pypdf')}"

    def load(self, source: Source, content: bytes) -> Document:
        """Take the text out; a blank line stands between pages.

        Raises:
            SourceError: The file is damaged, or encrypted with a password.
            MissingDependencyError: pypdf is not installed.
        """
        try:
            from pypdf import PdfReader
            from pypdf.errors import PyPdfError
        except ImportError as error:
            raise MissingDependencyError("pypdf", "ragloom[pdf]", "the loader 'pdf'") from error
        try:
            reader = PdfReader(io.BytesIO(content))
            if reader.is_encrypted and not reader.decrypt(""):
                raise SourceError("the PDF is encrypted with a password")
            pages = [page.extract_text() for page in reader.pages]
            metadata = _metadata(reader)
        except (PyPdfError, zlib.error, *_BROKEN) as error:
            raise SourceError(f"damaged PDF: {str(error) or type(error).__name__}") from error
        # Glyphs without a meaning come out as lone surrogates or NUL.
        text = "\n\n".join(page.strip() for page in pages if page.strip())
        text = text.encode("utf-8", "ignore").decode().replace("\0", "")
        warnings = () if text else ("no text in the PDF; is it a scan?",)
        return Document(
            uri=source.uri,
            text=f"{text}\n" if text else "",
            metadata=metadata,
            media_type="application/pdf",
            extracted=True,
            modified=source.modified,
            content_hash=sha256(content).hexdigest(),
            warnings=warnings,
        )


def _metadata(reader: PdfReader) -> dict[str, Json]:
    found: dict[str, Json] = {"pages": len(reader.pages)}
    about = reader.metadata
    if about is not None:
        for key, value in (("title", about.title), ("author", about.author)):
            if value and (stripped := str(value).strip()):
                found[key] = stripped
    return found

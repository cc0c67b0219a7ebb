"""The text of PDF files, page after page."""

from __future__ import annotations

import io
import logging
import struct
import zlib
from threading import get_ident
from typing import TYPE_CHECKING, Self

from ragloom import Document, Json, MissingDependencyError, Source, SourceError
from ragloom_text.installed import extracted, version_of

if TYPE_CHECKING:
    from pypdf import PdfReader

# What pypdf raises for files that are not what they say.
_BROKEN = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)

_MEDIA_TYPE = "application/pdf"


class PdfLoader:
    """Reads PDF. Spans, lines and bytes point into the text taken from it."""

    suffixes = frozenset({".pdf"})
    isolated = True

    @property
    def fingerprint(self) -> str:
        """Changes with pypdf and this code's rules."""
        return f"pdf-1 pypdf={version_of('pypdf')}"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`; a blank line stands between pages."""
        from pypdf import PdfReader
        from pypdf.errors import DependencyError, LimitReachedError, PyPdfError

        try:
            with _Remarks() as remarks:
                reader = PdfReader(io.BytesIO(content))
                if reader.is_encrypted and not reader.decrypt(""):
                    raise SourceError("the PDF is encrypted with a password")
                pages = [page.extract_text() for page in reader.pages]
                metadata = _metadata(reader)
        except DependencyError as error:
            needed_for = "an encrypted PDF"
            raise MissingDependencyError("cryptography", "pypdf[crypto]", needed_for) from error
        except LimitReachedError as error:
            why = f"skipped: it unpacks to more than is safe to read ({_said(error)})"
            return extracted(
                source, content, "", metadata={}, warnings=(why,), media_type=_MEDIA_TYPE
            )
        except (PyPdfError, *_BROKEN) as error:
            raise SourceError(f"damaged PDF: {_said(error)}") from error
        # Glyphs without a meaning come out as lone surrogates or NUL.
        text = "\n\n".join(page.strip() for page in pages if page.strip())
        text = text.encode("utf-8", "ignore").decode().replace("\0", "")
        warnings = remarks.warnings if text else ("no text in the PDF; is it a scan?",)
        return extracted(
            source, content, text, metadata=metadata, warnings=warnings, media_type=_MEDIA_TYPE
        )


def _said(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


class _Remarks(logging.Handler):
    """What pypdf logs meanwhile in this thread: without a handler it is printed, and names no file."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread = get_ident()
        self._said: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """One for the document, or none."""
        if not self._said:
            return ()
        first, more = next(iter(self._said)), len(self._said) - 1
        rest = f" (and {more} more)" if more else ""
        return (f"not a correct PDF, read as far as it goes: {first}{rest}",)

    def emit(self, record: logging.LogRecord) -> None:
        """Remember each message once."""
        if record.thread == self._thread:
            self._said[" ".join(record.getMessage().split())] = None

    def __enter__(self) -> Self:
        """Start listening."""
        logging.getLogger("pypdf").addHandler(self)
        return self

    def __exit__(self, *_raised: object) -> None:
        """Stop listening."""
        logging.getLogger("pypdf").removeHandler(self)


def _metadata(reader: PdfReader) -> dict[str, Json]:
    found: dict[str, Json] = {"pages": len(reader.pages)}
    about = reader.metadata
    if about is not None:
        for key, value in (("title", about.title), ("author", about.author)):
            if value and (stripped := str(value).strip()):
                found[key] = stripped
    return found

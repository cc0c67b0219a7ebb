"""Word documents (DOCX) as Markdown, by mammoth, which knows styles, lists, tables and notes."""

from __future__ import annotations

import io
import re
from xml.parsers.expat import ExpatError

from ragloom import Document, Json, Source, SourceError
from ragloom_text.archive import dublin_core, opened, parsed
from ragloom_text.html import as_markdown
from ragloom_text.installed import extracted, version_of

_CODE = "\n".join(
    f"p[style-name='{name}'] => pre:separator('\\n')"
    for name in ("Source Code", "HTML Preformatted", "Plain Text", "Code")
)
_PROPERTIES = "docProps/core.xml"
_ROW = re.compile(r"<table><tr>(.*?)</tr>", re.DOTALL)


class DocxLoader:
    """Reads DOCX. Spans, lines and bytes point into the Markdown made of it."""

    suffixes = frozenset({".docx"})
    isolated = True

    @property
    def fingerprint(self) -> str:
        """Changes with the libraries and this code's rules."""
        libraries = ("mammoth", "beautifulsoup4", "lxml", "markdownify")
        return " ".join(["docx-1", *(f"{name}={version_of(name)}" for name in libraries)])

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`: paragraphs of heading styles are headings; images are omitted."""
        import mammoth

        with opened(content, "DOCX") as archive:
            if (
                "word/document.xml" not in archive.namelist()
                and "_rels/.rels" not in archive.namelist()
            ):
                raise SourceError("no DOCX: it holds no document")
            has_properties = _PROPERTIES in archive.namelist()
            named = dublin_core(parsed(archive, _PROPERTIES)) if has_properties else {}
            try:
                ignored = mammoth.images.img_element(lambda _image: {})
                html = mammoth.convert_to_html(
                    io.BytesIO(content), convert_image=ignored, style_map=_CODE
                ).value
            except RecursionError as error:
                raise SourceError("the DOCX is nested too deeply") from error
            except (AttributeError, ExpatError, LookupError, TypeError) as error:
                raise SourceError(f"damaged DOCX: {type(error).__name__}: {error}") from error
        page = as_markdown(_ROW.sub(_headed, html))
        return extracted(
            source, content, page.text, metadata=_metadata(named), warnings=page.warnings
        )


def _headed(row: re.Match[str]) -> str:
    """The first row of a table as its header: Markdown has no table without one."""
    cells = row[1].replace("<td", "<th").replace("</td>", "</th>")
    return f"<table><tr>{cells}</tr>"


def _metadata(named: dict[str, list[str]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, key in (("title", "title"), ("creator", "author"), ("description", "description")):
        if values := named.get(name):
            found[key] = values[0]
    return found

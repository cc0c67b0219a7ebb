"""Books (EPUB) as Markdown, chapter after chapter."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ragloom import Document, Json, Source, SourceError
from ragloom_text.archive import dublin_core, opened, parsed
from ragloom_text.html import as_markdown
from ragloom_text.installed import extracted, version_of

if TYPE_CHECKING:
    from zipfile import ZipFile

    from lxml.etree import _Element

# https://www.w3.org/TR/epub-33/#sec-container-file and #sec-package-doc
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = frozenset({"application/xhtml+xml", "text/html"})


class EpubLoader:
    """Reads EPUB. Spans, lines and bytes point into the Markdown made of it."""

    suffixes = frozenset({".epub"})
    isolated = True

    @property
    def fingerprint(self) -> str:
        """Changes with the libraries and this code's rules."""
        libraries = ("beautifulsoup4", "lxml", "markdownify")
        return " ".join(["epub-1", *(f"{name}={version_of(name)}" for name in libraries)])

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`: the pages of the spine in their order, without the navigation."""
        from bs4.dammit import UnicodeDammit

        texts: list[str] = []
        warnings: list[str] = []
        with opened(content, "EPUB") as archive:
            package = parsed(archive, _package_of(archive))
            folder = posixpath.dirname(_package_of(archive))
            encrypted = _encrypted(archive)
            for name in _pages(package, folder):
                if name in encrypted:
                    raise SourceError("the EPUB is encrypted")
                if name not in archive.namelist():
                    warnings.append(f"{name} is missing in the EPUB")
                    continue
                markup = UnicodeDammit(archive.read(name), is_html=True).unicode_markup
                page = as_markdown(markup or "")
                warnings.extend(f"{name}: {warning}" for warning in page.warnings)
                texts.append(page.text)
            metadata = _metadata(dublin_core(package))
        text = "\n\n".join(filter(None, texts))
        return extracted(source, content, text, metadata=metadata, warnings=tuple(warnings))


def _package_of(archive: ZipFile) -> str:
    """The path of the package document."""
    for rootfile in parsed(archive, _CONTAINER).iter("{*}rootfile"):
        if path := str(rootfile.get("full-path") or ""):
            return path
    raise SourceError("damaged EPUB: it names no package document")


def _pages(package: _Element, folder: str) -> list[str]:
    """Paths of the pages, in the order in which they are read."""
    pages: dict[str, str] = {}
    for item in package.iter("{*}item"):
        properties = str(item.get("properties") or "").split()
        if item.get("media-type") in _PAGES and "nav" not in properties:
            path = posixpath.join(folder, unquote(str(item.get("href") or "")))
            pages[str(item.get("id"))] = posixpath.normpath(path)
    spine = (str(one.get("idref")) for one in package.iter("{*}itemref"))
    return [pages[name] for name in spine if name in pages]


def _encrypted(archive: ZipFile) -> frozenset[str]:
    """Paths that are encrypted; fonts often are."""
    if _ENCRYPTION not in archive.namelist():
        return frozenset()
    references = parsed(archive, _ENCRYPTION).iter("{*}CipherReference")
    return frozenset(unquote(str(one.get("URI") or "")) for one in references)


def _metadata(named: dict[str, list[str]]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, key in (
        *(("title", "title"), ("creator", "author"), ("description", "description")),
        ("language", "lang"),
    ):
        if values := named.get(name):
            found[key] = ", ".join(values) if name == "creator" else values[0]
    if subjects := named.get("subject"):
        found["tags"] = list(subjects)
    return found

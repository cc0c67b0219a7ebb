"""HTML as Markdown, so that its headings, lists and tables stay what they are."""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, NamedTuple
from warnings import catch_warnings, simplefilter

from ragloom import Document, Json, Source, SourceError
from ragloom_text.installed import extracted, version_of

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

# It logs bytes that it replaces, and so do we, with the file's name.
logging.getLogger("bs4").addHandler(logging.NullHandler())

_MOST_COLUMNS = 50  # that a cell spans: each becomes a cell of Markdown
_MOST_GROWTH = (
    10  # times the characters of the page: nested lists and quotes repeat their indentation
)
_FREE_GROWTH = 10_000
_BLANKS = re.compile(r"([ \t\r\n\f])[ \t\r\n\f]{200,}")  # quadratic to markdownify

_NOT_TEXT = ("head", "script", "style", "template", "noscript", "svg", "iframe", "nav")


class HtmlLoader:
    """Reads HTML. Spans, lines and bytes point into the Markdown made of it."""

    suffixes = frozenset({".htm", ".html", ".xhtml"})
    isolated = True

    @property
    def fingerprint(self) -> str:
        """Changes with the libraries and this code's rules."""
        libraries = ("beautifulsoup4", "lxml", "markdownify")
        return " ".join(["html-3", *(f"{name}={version_of(name)}" for name in libraries)])

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`: the page as Markdown, its title and description as metadata.

        The charset is what the page declares, else what its bytes look like. Scripts, styles and
        navigation are omitted.
        """
        from bs4.dammit import UnicodeDammit

        read = UnicodeDammit(content, is_html=True)
        if read.unicode_markup is None or "\0" in read.unicode_markup[:1024]:
            raise SourceError("not HTML: its bytes are text in no known charset")
        warnings: tuple[str, ...] = ()
        if read.contains_replacement_characters:
            encoding = read.original_encoding
            warnings = (f"damaged {encoding}: some bytes were replaced by U+FFFD",)
        page = as_markdown(read.unicode_markup)
        warnings += page.warnings
        return extracted(source, content, page.text, metadata=page.metadata, warnings=warnings)


class Page(NamedTuple):
    """A page as Markdown.

    Attributes:
        text: Without blanks around it.
        metadata: Title, description and language.
        warnings: What was odd, a line each.
    """

    text: str
    metadata: dict[str, Json]
    warnings: tuple[str, ...]


def as_markdown(markup: str) -> Page:
    """HTML as Markdown, without scripts, styles and navigation.

    Raises:
        SourceError: It is nested too deeply.
    """
    from bs4 import BeautifulSoup

    from ragloom_text.converter import Converter

    try:
        markup = _BLANKS.sub(r"\1", markup)
        with catch_warnings():  # its warnings are advice to programmers and name no file
            simplefilter("ignore", UserWarning)
            soup = BeautifulSoup(markup, "lxml")
        metadata = _metadata(soup)
        for tag in soup.find_all(_NOT_TEXT):
            tag.decompose()
        _narrow(soup)
        text = str(Converter().convert_soup(soup)).strip()
    except RecursionError as error:
        raise SourceError("the HTML is nested too deeply") from error
    most = _MOST_GROWTH * len(markup) + _FREE_GROWTH
    if len(text) <= most:
        return Page(text, metadata, ())
    why = f"read up to {_MOST_GROWTH} times its length: it repeats itself"
    return Page(text[:most], metadata, (why,))


def _narrow(soup: BeautifulSoup) -> None:
    """Let no cell be wider than a page's table is, and drop the data of images."""
    for cell in soup.find_all(["td", "th"], colspan=True):
        columns = str(cell["colspan"])
        if not columns.isdecimal() or int(columns[:9]) > _MOST_COLUMNS:
            del cell["colspan"]
    for image in soup.find_all("img", src=re.compile(r"(?i)\s*data:")):
        del image["src"]


def _metadata(soup: BeautifulSoup) -> dict[str, Json]:
    """The page's title, description and language."""
    found: dict[str, Json] = {}
    if soup.title is not None and (title := " ".join(soup.title.get_text().split())):
        found["title"] = title
    for tag in soup.find_all("meta", attrs={"name": "description"}):
        if content := str(tag.get("content") or "").strip():
            found.setdefault("description", content)
    if soup.html is not None and (language := str(soup.html.get("lang") or "")):
        found["lang"] = language
    return found

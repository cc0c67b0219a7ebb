"""Files that are ZIP archives of XML, such as DOCX and EPUB."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ragloom import SourceError

if TYPE_CHECKING:
    from lxml.etree import _Element

_MOST_BYTES = 300_000_000  # unpacked
_LONGEST_NAME = 80


@contextmanager
def opened(content: bytes, kind: str) -> Iterator[zipfile.ZipFile]:
    """The archive; what is wrong with it becomes a SourceError that names the kind of file.

    Raises:
        SourceError: It is damaged, encrypted, or unpacks to more than is safe to read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                raise SourceError(f"the {kind} unpacks to more than {_MOST_BYTES:,} bytes")
            yield archive
    except KeyError as error:
        raise SourceError(f"damaged {kind}: {str(error)[1:-1]}") from error
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
        ValueError,
    ) as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise SourceError(f"damaged {kind}: {problem}") from error


def parsed(archive: zipfile.ZipFile, name: str) -> _Element:
    """An XML file of an archive; its entities are not expanded.

    Raises:
        SourceError: It is not XML.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        return etree.fromstring(archive.read(name), parser)
    except etree.XMLSyntaxError as error:
        raise SourceError(f"damaged {name[:_LONGEST_NAME]}: {error.msg}") from error


def dublin_core(element: _Element) -> dict[str, list[str]]:
    """The texts of ``title``, ``creator``, ``language``, ``description`` and ``subject``, by name."""
    found: dict[str, list[str]] = {}
    for name in ("title", "creator", "language", "description", "subject"):
        for one in element.iter(f"{{http://purl.org/dc/elements/1.1/}}{name}"):
            if text := " ".join("".join(one.itertext()).split()):
                found.setdefault(name, []).append(text)
    return found

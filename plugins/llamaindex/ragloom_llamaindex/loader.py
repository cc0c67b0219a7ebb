"""Readers of LlamaIndex as loaders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, cast

from ragloom import Document, Json, Metadata, Source, SourceError
from ragloom.text import decode, read_document
from ragloom_llamaindex.classes import LlamaClass

if TYPE_CHECKING:
    from llama_index.core.readers.base import BaseReader
    from llama_index.core.schema import Document as LlamaDocument

_OF_THE_FILE = frozenset(
    {
        "creation_date",
        "file_name",
        "file_path",
        "file_size",
        "file_type",
        "filename",
        "last_accessed_date",
        "last_modified_date",
    }
)
"""Metadata that says where and when a file is, which ragloom knows, and not what it says."""
_BETWEEN = "\n\n"


class ReaderLoader:
    """Reads a file with a reader that takes a path.

    Where what it gives is the file's own text, spans point into the file; where it is not, as with a
    PDF, they point into what was extracted.
    """

    suffixes: frozenset[str] = frozenset()
    """None: the setting ``loaders`` says which files it reads."""
    isolated = True

    def __init__(self, part: str, options: Mapping[str, object]) -> None:
        self._made_of = part, dict(options)
        self._class = LlamaClass("loader", part, dict(options))
        self.fingerprint = self._class.fingerprint

    def __reduce__(self) -> tuple[type[ReaderLoader], tuple[str, dict[str, object]]]:
        """Created again in another process: a reader may hold what cannot be pickled."""
        return type(self), self._made_of

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`; several documents of the reader are joined by a blank line."""
        with self._class.failing_as(SourceError):
            read = self._read(source)
        text = _BETWEEN.join(document.get_content() for document in read)
        if not text.strip():
            raise SourceError(f"{self._class.label}: it gave no text")
        metadata = _metadata([document.metadata for document in read])
        return replace(_document(source, content, text), metadata=metadata)

    def _read(self, source: Source) -> Sequence[LlamaDocument]:
        if (
            "input_files" in self._class.parameters
        ):  # SimpleDirectoryReader is made for the files it reads
            if not source.path.is_file():
                raise FileNotFoundError(f"{source.path} is gone")
            made = self._class.make(input_files=[str(source.path)])
            return cast("BaseReader", made).load_data()
        return self._reader.load_data(source.path)

    @cached_property
    def _reader(self) -> BaseReader:
        return cast("BaseReader", self._class.make())


def _document(source: Source, content: bytes, text: str) -> Document:
    """The document whose spans point into the file, if the file ends with ``text``."""
    try:
        decoded = decode(content).text
    except SourceError:  # no text file
        decoded = ""
    if decoded and decoded.endswith(text):
        whole = read_document(source, content, media_type="text/plain")
        return replace(whole, text=text, prefix=decoded.removesuffix(text))
    return Document(
        uri=source.uri,
        text=text,
        extracted=True,
        modified=source.modified,
        content_hash=sha256(content).hexdigest(),
    )


def _metadata(found: Sequence[Mapping[str, object]]) -> Metadata:
    """What all documents of the file agree on, as far as JSON can hold it."""
    first = found[0]
    return {
        key: cast("Json", value)
        for key, value in first.items()
        if key not in _OF_THE_FILE
        and (value is None or isinstance(value, bool | int | float | str))
        and all(other.get(key) == value for other in found)
    }

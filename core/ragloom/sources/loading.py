"""From the bytes of one file to its chunks; an error of a plugin concerns that file only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from ragloom.errors import (
    ConfigError,
    ModelError,
    NotIndexedError,
    RagloomError,
    SourceError,
    StoreError,
)
from ragloom.protocols import Chunker, Embedder, Loader
from ragloom.sources.screening import ending_of
from ragloom.text.chunks import make_chunks
from ragloom.types import Chunk, Document, Source


def content_hash(content: bytes) -> str:
    """SHA-256 in hex."""
    return sha256(content).hexdigest()


def loader_for(path: str | Path, loaders: Mapping[str, Loader]) -> Loader:
    """The loader of a file: that of its ending, or else that of files without one, which reads any text.

    Raises:
        SourceError: There is neither.
    """
    loader = loaders.get(ending_of(path)) or loaders.get("")
    if loader is None:
        raise SourceError(f"{path}: no loader reads this kind of file")
    return loader


def chunker_for(path: str | Path, chunkers: Mapping[str, Chunker]) -> Chunker:
    """The chunker of a file; ``chunkers`` as in :attr:`ragloom.components.Components.chunkers`."""
    return chunkers.get(ending_of(path)) or chunkers[""]


def load_document(source: Source, content: bytes, loader: Loader) -> Document:
    """What ``loader`` makes of a file, with what the core knows of it.

    Raises:
        SourceError: The file cannot be understood.
    """
    with _reading_with(loader):
        document = replace(
            loader.load(source, content),
            uri=source.uri,
            content_hash=content_hash(content),
            modified=source.modified,
        )
        json.dumps(document.metadata, allow_nan=False)  # kept as JSON: a date in it ends no run
        edges = [0, *(edge for section in document.sections for edge in section.span)]
        if edges != sorted(edges) or edges[-1] > len(document.text):
            raise SourceError("its sections are not in order, not apart, or outside of its text")
        return document


def split_document(document: Document, chunker: Chunker, embedder: Embedder) -> list[Chunk]:
    """The chunks of a document, for the limit and in the tokens of ``embedder``.

    Raises:
        SourceError: The chunker failed.
    """
    counter, max_tokens = embedder.counter, embedder.max_tokens
    with _reading_with(chunker):
        pieces = chunker.split(document, counter=counter, max_tokens=max_tokens)
        return make_chunks(document, pieces, counter)


@contextmanager
def _reading_with(part: Loader | Chunker) -> Iterator[None]:
    """Raise any error of a plugin over one file as a SourceError that names the component.

    Errors of settings, model or store concern every file, and pass.
    """
    try:
        yield
    except (SourceError, ConfigError, ModelError, StoreError, NotIndexedError):
        raise
    except RagloomError as error:
        raise SourceError(str(error)) from error
    except Exception as error:
        name = f"{type(part).__module__}.{type(part).__qualname__}"
        said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
        raise SourceError(f"{name} failed: {said}") from error

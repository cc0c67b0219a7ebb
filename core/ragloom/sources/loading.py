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
from ragloom.plugin.info import reason
from ragloom.protocols import Chunker, Embedder, Loader
from ragloom.secrets.redaction import (
    blank_out,
    find_secrets,
    hide,
    is_mostly_secret,
    redact,
    summary,
)
from ragloom.sources.screening import ending_of
from ragloom.text.chunks import make_chunks
from ragloom.text.embedded_data import Reduced
from ragloom.types import Chunk, Document, Json, Source


class SecretFileError(SourceError):
    """A file holds little but keys, tokens or passwords."""


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
    """What ``loader`` makes of a file, with what the core knows of it, and without secrets.

    Each secret is replaced by as many characters, so spans, lines and bytes are the file's. Whatever reads
    a file reads it here: an index run, a search that checks its hits, ``verify``, ``read_source``.

    Raises:
        SecretFileError: The file is a secret.
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
    return _redacted(document)


def _redacted(document: Document) -> Document:
    """The document with its secrets replaced, and a warning that names them, but not their values."""
    whole = document.prefix + document.text
    secrets = find_secrets(whole)
    document = replace(
        document,
        metadata={key: _without_secrets(key, value) for key, value in document.metadata.items()},
        warnings=tuple(map(hide, document.warnings)),
    )
    if not secrets:
        return document
    found = summary(whole, secrets)
    if is_mostly_secret(whole, secrets):
        raise SecretFileError(f"looks like a secret: {found}")
    shown, start = blank_out(whole, secrets), len(document.prefix)
    return replace(
        document,
        prefix=shown[:start],
        text=shown[start:],
        sections=tuple(replace(one, title=redact(one.title)) for one in document.sections),
        warnings=(*document.warnings, f"redacted: {found}"),
    )


def _without_secrets(key: str, value: Json) -> Json:
    """A value of the metadata; its key may be what tells a password."""
    if isinstance(value, str):
        named = f"{key}: "
        return redact(named + value)[len(named) :]
    if isinstance(value, Mapping):
        return {name: _without_secrets(name, inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_without_secrets(key, inner) for inner in value]
    return value


def split_document(document: Document, chunker: Chunker, embedder: Embedder) -> list[Chunk]:
    """The chunks of a document, for the limit and in the tokens of ``embedder``; none holds data.

    Raises:
        SourceError: The chunker failed.
    """
    counter, max_tokens = embedder.counter, embedder.max_tokens
    with _reading_with(chunker):
        reduced = Reduced(document)
        if getattr(counter, "additive", False):
            # One that remembers words learns them sooner at once than block by block.
            counter.count(reduced.document.text)
        pieces = chunker.split(reduced.document, counter=counter, max_tokens=max_tokens)
        return make_chunks(document, reduced.restored(pieces), counter)


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
        kind = type(getattr(part, "loader", part))  # that which is held to limits
        name = f"{kind.__module__}.{kind.__qualname__}"
        raise SourceError(f"{name} failed: {reason(error)}") from error

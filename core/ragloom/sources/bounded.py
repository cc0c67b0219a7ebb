"""Loaders held to what a file may take: its size, its text, and where it matters time and memory."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from ragloom.protocols import Loader
from ragloom.sources.worker import WORKER, Job, OverBudgetError, UnavailableError, shortened
from ragloom.types import Document, Json, Source

_MOST_METADATA: Final = 32_000  # characters as JSON: every chunk of the file carries them


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may take.

    Attributes:
        size: Bytes.
        characters: Of its text.
        seconds: Of processor time to read it, for loaders that are ``isolated``.
        encoding: The charset of files that are not UTF-8; empty to guess it.
    """

    size: int
    characters: int
    seconds: int
    encoding: str = ""


class BoundedLoader:
    """A loader that stays within limits: what is over them is truncated or skipped, with a warning.

    Args:
        loader: Reads the files.
        limits: For each file.
    """

    def __init__(self, loader: Loader, limits: Limits) -> None:
        self.loader = loader
        self.limits = limits
        self.suffixes: frozenset[str] = loader.suffixes
        self.chunker: str = str(getattr(loader, "chunker", ""))
        self.chunker_hint: str = str(getattr(loader, "chunker_hint", ""))

    @property
    def fingerprint(self) -> str:
        """The loader's, with the limits of the text: another limit, another document."""
        held = (self.limits.characters, self.limits.seconds)
        read_as = f" in {self.limits.encoding}" if self.limits.encoding else ""
        return f"{self.loader.fingerprint} within {held[0]} {held[1]}{read_as}"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`; a file that takes too much becomes an empty document."""
        if self.limits.encoding and not source.encoding:
            source = replace(source, encoding=self.limits.encoding)
        if len(content) > self.limits.size:
            return _skipped(source, content, too_large(len(content), self.limits.size))
        try:
            document = self._load(source, content)
        except OverBudgetError as error:
            setting = "; the setting max_file_seconds allows more" if "time" in str(error) else ""
            return _skipped(source, content, f"skipped: {error}{setting}")
        return _with_short_metadata(shortened(document, self.limits.characters))

    def _load(self, source: Source, content: bytes) -> Document:
        if getattr(self.loader, "isolated", False):
            try:
                return WORKER.load(
                    Job(
                        loader=self.loader,
                        source=source,
                        content=content,
                        seconds=self.limits.seconds,
                        characters=self.limits.characters,
                    )
                )
            except UnavailableError:
                pass  # read without a limit of time, as by Python itself
        return self.loader.load(source, content)


def too_large(size: int, most: int) -> str:
    """Why a file of so many bytes is skipped."""
    return f"skipped: {size:,} bytes are more than {most:,}; the setting max_file_bytes allows more"


def _skipped(source: Source, content: bytes, why: str) -> Document:
    return Document(
        uri=source.uri,
        text="",
        modified=source.modified,
        content_hash=sha256(content).hexdigest(),
        warnings=(why,),
    )


def _with_short_metadata(document: Document) -> Document:
    """The document with the first of its metadata, as far as they are short enough to be repeated."""
    kept: dict[str, Json] = {}
    left = _MOST_METADATA
    for key, value in document.metadata.items():
        left -= len(json.dumps([key, value], default=str))
        if left < 0:
            break
        kept[key] = value
    if len(kept) == len(document.metadata):
        return document
    omitted = len(document.metadata) - len(kept)
    warning = f"{omitted} of {len(document.metadata)} metadata values omitted: too long"
    return replace(document, metadata=kept, warnings=(*document.warnings, warning))

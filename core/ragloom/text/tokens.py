"""Counting tokens for a budget, when no model is at hand whose own tokenizer could.

``cl100k_base`` and ``o200k_base`` are exact: tiktoken's byte pair encoding over a vocabulary that is
already on this disk, of whose file the SHA-256 is checked. Nothing is ever downloaded. ``approximate``
needs neither; ``auto`` is ``cl100k_base`` where that works, and ``approximate`` where it does not.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ragloom.config.spelling import unknown
from ragloom.errors import ConfigError, MissingDependencyError, ModelError
from ragloom.protocols import TokenCounter
from ragloom.text.token_estimate import estimate, estimated_spans

if TYPE_CHECKING:
    from tiktoken import Encoding

COUNTERS = ("auto", "cl100k_base", "o200k_base", "approximate")
"""The names that :func:`counter` knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vocabulary:
    """A published byte pair vocabulary (https://github.com/openai/tiktoken, openai_public.py).

    Attributes:
        url: Where it was published; its SHA-1 is the file's name in a tiktoken cache.
        sha256: Of the file.
        pattern: Matches the pieces of a text whose bytes are merged.
    """

    url: str
    sha256: str
    pattern: str


_VOCABULARIES = {
    "cl100k_base": _Vocabulary(
        url="https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
            r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
    ),
    "o200k_base": _Vocabulary(
        url="https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken",
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern=(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
    ),
}


def counter(name: str = "auto") -> TokenCounter:
    """A token counter by its name, one of :data:`COUNTERS`; its ``name`` says which it became.

    Vocabularies are looked for in the folder that ``TIKTOKEN_CACHE_DIR`` names, in tiktoken's own
    cache, and in an installed ``llama-index-core``, which is found without being imported.

    Raises:
        ConfigError: There is no such counter.
        MissingDependencyError: tiktoken is not installed. Not for ``auto``.
        ModelError: No file holds the vocabulary. Not for ``auto``.
    """
    if name not in COUNTERS:
        raise ConfigError(unknown("token counter", name, COUNTERS))
    if name == "approximate":
        return ApproximateCounter()
    if name != "auto":
        return _exact(name)
    try:
        return _exact("cl100k_base")
    except (MissingDependencyError, ModelError):
        return ApproximateCounter()


class ApproximateCounter:
    """Estimates tokens of ``cl100k_base`` without a vocabulary.

    On each of the 27 collections it was fitted to, it counts 4 to 10 % more tokens than there are, and
    never fewer; see ``docs`` for the table. On a single paragraph it can be off by a fourth.
    """

    name = "approximate"

    def count(self, text: str) -> int:
        """About how many tokens are in ``text``."""
        return estimate(text)

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """As many spans as :meth:`count` counts, up to one a character."""
        return estimated_spans(text)


class BytePairCounter:
    """Counts exactly, with tiktoken."""

    def __init__(self, name: str, encoding: Encoding) -> None:
        self._name = name
        self._encoding = encoding

    @property
    def name(self) -> str:
        """The vocabulary."""
        return self._name

    def count(self, text: str) -> int:
        """Tokens in ``text``; what looks like a special token is counted as plain text."""
        return len(self._encoding.encode_ordinary(text))

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The span of each token; of those that share a character, the later ones are empty."""
        tokens = self._encoding.encode_ordinary(text)
        spans: list[tuple[int, int]] = []
        position = 0
        for part in self._encoding.decode_tokens_bytes(tokens):
            begun = len(part)
            if not part.isascii():  # Bytes 10xxxxxx go on with a character, all others begin one.
                begun = sum(byte & 0xC0 != 0x80 for byte in part)  # noqa: PLR2004 - see above
            spans.append((position, position + begun))
            position += begun
        return spans


@cache
def _exact(name: str) -> BytePairCounter:
    try:
        from tiktoken import Encoding
    except ImportError as error:
        needed_for = f"the token counter {name!r}"
        raise MissingDependencyError("tiktoken", "ragloom[tokens]", needed_for) from error
    vocabulary = _VOCABULARIES[name]
    content = _find(vocabulary)
    if content is None:
        raise ModelError(
            f"the vocabulary {name} is not on this disk: set TIKTOKEN_CACHE_DIR to a folder with it,"
            " install llama-index-core, which ships it, or count with 'approximate'"
        )
    ranks = {
        base64.b64decode(token): int(rank)
        for token, rank in (line.split() for line in content.splitlines() if line)
    }
    encoding = Encoding(name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={})
    return BytePairCounter(name, encoding)


def _find(vocabulary: _Vocabulary) -> bytes | None:
    """The vocabulary's file, from the first folder that holds it undamaged."""
    # The name that tiktoken gives to a file in its cache; no secret is involved.
    name = hashlib.sha1(vocabulary.url.encode(), usedforsecurity=False).hexdigest()
    for folder in _folders():
        try:
            content = (folder / name).read_bytes()
        except OSError:
            continue
        if hashlib.sha256(content).hexdigest() == vocabulary.sha256:
            return content
    return None


def _folders() -> Iterator[Path]:
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if value := os.environ.get(variable):
            yield Path(value)
    yield Path(tempfile.gettempdir()) / "data-gym-cache"
    # llama_index is a namespace package: looking for it runs no code, llama_index.core's would.
    spec = find_spec("llama_index")
    for location in (spec and spec.submodule_search_locations) or ():
        yield Path(location) / "core" / "_static" / "tiktoken_cache"

"""Components for tests: real behaviour, no model and no download."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ragloom.errors import StoreError
from ragloom.hookspecs import Provider
from ragloom.protocols import Embedder, Embeddings
from ragloom.stores.records import check_records, search_exactly
from ragloom.types import Calibration, Chunk, Condition

__all__ = ["ExactStore", "HashingEmbedder", "HashingOptions", "RegexCounter", "hashing_provider"]

_TOKEN = re.compile(r"\w+|[^\w\s]")


class RegexCounter:
    """Takes every word, and every other character that is not blank, for a token."""

    name = "regex"

    def count(self, text: str) -> int:
        """Tokens in ``text``."""
        return len(self.spans(text))

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """The half-open character span of every token."""
        return [token.span() for token in _TOKEN.finditer(text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class HashingOptions:
    """Options of :class:`HashingEmbedder`."""

    dimension: int = 64
    max_tokens: int = 256


class HashingEmbedder:
    """Feature hashing of case-folded tokens: texts that share words have a positive cosine.

    The sign and the place of a token come from its hash, so that different words cancel out on
    average (Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009).
    The same text always gives the same vector, in every process.

    Attributes:
        passages: Every passage embedded since this object was made, in order; a test counts them.
    """

    calibration: Calibration | None = None

    def __init__(self, options: HashingOptions | None = None) -> None:
        options = options or HashingOptions()
        if options.dimension < 1 or options.max_tokens < 1:
            raise ValueError("dimension and max_tokens must be at least 1")
        self.passages: list[str] = []
        self._dimension = options.dimension
        self._max_tokens = options.max_tokens
        self._counter = RegexCounter()
        self._truncated = 0

    @property
    def fingerprint(self) -> str:
        """``hashing-<dimension>-<max_tokens>``."""
        return f"hashing-{self._dimension}-{self._max_tokens}"

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._dimension

    @property
    def counter(self) -> RegexCounter:
        """The tokens that are hashed."""
        return self._counter

    @property
    def max_tokens(self) -> int:
        """Tokens of a passage that are hashed."""
        return self._max_tokens

    @property
    def truncated(self) -> int:
        """Texts that were longer than that."""
        return self._truncated

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """``(len(texts), dimension)`` float32, rows of unit length."""
        self.passages.extend(texts)
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in zip(vectors, texts, strict=True):
            row[:] = self._embed(text)
        return vectors

    def embed_query(self, text: str) -> Embeddings:
        """``(dimension,)`` float32 of unit length."""
        return self._embed(text)

    def close(self) -> None:
        """Nothing is loaded, so that nothing is freed."""

    def _embed(self, text: str) -> Embeddings:
        tokens = [text[start:end].casefold() for start, end in self._counter.spans(text)]
        self._truncated += len(tokens) > self._max_tokens
        vector = np.zeros(self._dimension, np.float32)
        for place, sign in map(self._feature, tokens[: self._max_tokens]):
            vector[place] += sign
        length = np.linalg.norm(vector)
        if not length:  # no token, or all of them cancelled out
            vector[0] = length = np.float32(1)
        return (vector / length).astype(np.float32)

    def _feature(self, token: str) -> tuple[int, int]:
        number = int.from_bytes(hashlib.blake2b(token.encode(), digest_size=8).digest(), "big")
        return (number >> 1) % self._dimension, 1 if number & 1 else -1


def hashing_provider(name: str = "hashing") -> Provider[Embedder]:
    """Offers :class:`HashingEmbedder`, for a plugin of a test's own."""
    return Provider(
        name=name,
        summary="hashed words, for tests",
        create=HashingEmbedder,
        options=HashingOptions,
        local=True,
    )


class ExactStore:
    """Keeps chunks in this object and compares every vector: the oracle of store tests.

    Its spaces live as long as the object; closing it keeps them.
    """

    fingerprint = "exact"

    def __init__(self) -> None:
        self._spaces: dict[str, tuple[int, dict[str, tuple[Chunk, Embeddings]]]] = {}
        self._records: dict[str, dict[str, str]] = {}
        self._space: str | None = None

    def open(self, *, space: str, dimension: int, directory: Path) -> None:  # noqa: ARG002
        """Create the space if it is new; :class:`StoreError` for another dimension."""
        known, rows = self._spaces.get(space, (dimension, {}))
        if rows and known != dimension:
            raise StoreError(f"the space {space!r} holds vectors of {known} numbers")
        self._spaces[space] = (dimension, rows)
        self._space = space

    def close(self) -> None:
        """Close the space; its chunks stay in this object."""
        self._space = None

    def upsert(self, chunks: Sequence[Chunk], vectors: Embeddings) -> None:
        """Write chunks, replacing those with the same id."""
        dimension, rows = self._opened
        check_records(chunks, vectors, dimension=dimension)
        for chunk, vector in zip(chunks, vectors, strict=True):
            rows[chunk.id] = (replace(chunk, metadata=deepcopy(chunk.metadata)), vector.copy())

    def delete(self, ids: Sequence[str]) -> None:
        """Remove chunks; unknown ids are ignored."""
        _, rows = self._opened
        for name in ids:
            rows.pop(name, None)

    def count(self) -> int:
        """Chunks in the space."""
        return len(self._opened[1])

    def scan(self, *, batch_size: int = 1000) -> Iterator[tuple[Sequence[Chunk], Embeddings]]:
        """Everything in the space, in the order of the ids."""
        _, rows = self._opened
        ids = sorted(rows)
        for start in range(0, len(ids), batch_size):
            page = [rows[name] for name in ids[start : start + batch_size]]
            yield [chunk for chunk, _ in page], np.stack([vector for _, vector in page])

    def search(
        self, vector: Embeddings, *, limit: int, where: Sequence[Condition] = ()
    ) -> Sequence[tuple[str, float]]:
        """The nearest chunks and their cosine, exactly; ties by id."""
        return search_exactly(self.scan(), vector, limit=limit, where=where)

    def put_records(self, records: Mapping[str, str]) -> None:
        """Keep texts by name; empty ones are removed."""
        kept = self._records.setdefault(self._opened_name, {})
        kept.update(records)
        for name in [name for name, text in kept.items() if not text]:
            del kept[name]

    def get_records(self, names: Sequence[str]) -> Mapping[str, str]:
        """The texts that are there."""
        kept = self._records.get(self._opened_name, {})
        return {name: kept[name] for name in names if name in kept}

    def drop(self) -> None:
        """Remove this space's chunks and records."""
        self._opened[1].clear()
        self._records.pop(self._opened_name, None)

    @property
    def _opened_name(self) -> str:
        if self._space is None:
            raise StoreError("the store is not open")
        return self._space

    @property
    def _opened(self) -> tuple[int, dict[str, tuple[Chunk, Embeddings]]]:
        return self._spaces[self._opened_name]

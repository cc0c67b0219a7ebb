"""Texts to vectors by ``POST /embeddings``, as OpenAI documents it and other servers implement it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from ragloom import Calibration, ConfigError, Embeddings, ModelError, TokenCounter
from ragloom.text import counter

from ragloom_openai import OpenAIOptions
from ragloom_openai.requests import Service

_NOTHING = "."
"""Sent for a text without a character that is not blank: servers refuse the empty string."""


class OpenAIEmbedder:
    """Sends texts in batches, and normalises the vectors."""

    calibration: Calibration | None = None

    def __init__(self, options: OpenAIOptions) -> None:
        if not options.url or not options.model:
            raise ConfigError(
                "embedder 'openai': set 'url' and 'model'; every passage is sent to that address"
            )
        self._options = options
        self._service = Service(options)
        self._dimension = options.dimensions
        self._counter: TokenCounter | None = None
        self.max_tokens = options.max_tokens
        self.truncated = 0

    @property
    def fingerprint(self) -> str:
        """The options that change vectors; sends nothing."""
        options = self._options
        return (
            f"openai-1 {options.url} {options.model} dimensions={options.dimensions} "
            f"max_tokens={options.max_tokens} query={options.query_prefix!r} "
            f"passage={options.passage_prefix!r}"
        )

    @property
    def dimension(self) -> int:
        """Numbers in a vector; one request finds it where no setting does."""
        if not self._dimension:
            self._dimension = self._embed([_NOTHING]).shape[1]
        return self._dimension

    @property
    def counter(self) -> TokenCounter:
        """cl100k_base where its vocabulary is on this disk, an approximation otherwise."""
        if self._counter is None:
            self._counter = counter("auto")
        return self._counter

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """``(len(texts), dimension)`` float32 of unit length, in the order given."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        prefix = self._options.passage_prefix
        return np.vstack(
            [
                self._embed(batch)
                for batch in self._batches([prefix + self._truncated(t) for t in texts])
            ]
        )

    def embed_query(self, text: str) -> Embeddings:
        """``(dimension,)`` float32 of unit length."""
        vector: Embeddings = self._embed([self._options.query_prefix + self._truncated(text)])[0]
        return vector

    def close(self) -> None:
        """Nothing to close: every request has its own connection."""

    def _truncated(self, text: str) -> str:
        """The text that is sent: the beginning of one that is too long."""
        if len(text) > self.max_tokens:  # a token has one character at the least
            tokens = self.counter.count(text)
            if tokens > self.max_tokens:
                self.truncated += 1
                # Where tokens are estimated, spans may be fewer than they are counted.
                spans = self.counter.spans(text)
                text = text[: spans[self.max_tokens * len(spans) // tokens - 1][1]]
        return text if text.strip() else _NOTHING

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text in texts:
            full = len(batch) >= self._options.batch
            if batch and (full or size + len(text) > self._options.batch_characters):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text)
        if batch:
            yield batch

    def _embed(self, texts: list[str]) -> Embeddings:
        body: dict[str, object] = {
            "model": self._options.model,
            "input": texts,
            "encoding_format": "float",
        }
        if self._options.dimensions:
            body["dimensions"] = self._options.dimensions
        answer = self._service.post("embeddings", body)
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"{self._options.url} answered without embeddings: {error}") from error
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        whole = vectors.ndim == 2 and len(vectors) == len(texts)  # noqa: PLR2004 - a matrix
        if not whole or not np.isfinite(lengths).all() or not lengths.all():
            raise ModelError(
                f"{self._options.url} answered {len(texts)} texts with embeddings of the shape "
                f"{vectors.shape}, or with one that is zero or no number"
            )
        if self._dimension and vectors.shape[1] != self._dimension:
            raise ModelError(
                f"the model {self._options.model!r} gives {vectors.shape[1]} numbers, not "
                f"{self._dimension}: leave the option 'dimensions' out"
            )
        return np.ascontiguousarray(vectors / lengths, dtype=np.float32)

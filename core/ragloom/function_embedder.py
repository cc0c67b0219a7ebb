"""An embedder made of one function from texts to vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ragloom.errors import ModelError
from ragloom.protocols import Embedder, Embeddings, TokenCounter
from ragloom.text.tokens import ApproximateCounter
from ragloom.types import Calibration


def embedder_from(
    embed: Callable[[Sequence[str]], npt.ArrayLike],
    *,
    dimension: int,
    fingerprint: str,
    max_tokens: int = 512,
    counter: TokenCounter | None = None,
) -> Embedder:
    """Make an embedder of ``embed``, which embeds passages and queries alike.

    Args:
        embed: Texts to ``(len(texts), dimension)`` finite numbers of any type, or nested lists. Rows need
            not be normalised; one of zeros is a text of which the model knows nothing. Raises
            :class:`~ragloom.ModelError` where the model does not answer.
        dimension: Numbers in a vector.
        fingerprint: Names the model and all that changes its vectors.
        max_tokens: The longest text that ``embed`` is given, in tokens; of a longer one the beginning.
        counter: The model's own tokenizer; an approximate one by default.

    Raises:
        ModelError: When embedding: an array of another shape, or not finite.
    """
    return _FunctionEmbedder(
        embed, dimension, fingerprint, max_tokens, counter or ApproximateCounter()
    )


class _FunctionEmbedder:
    calibration: Calibration | None = None

    def __init__(
        self,
        embed: Callable[[Sequence[str]], npt.ArrayLike],
        dimension: int,
        fingerprint: str,
        max_tokens: int,
        counter: TokenCounter,
    ) -> None:
        if dimension < 1 or max_tokens < 1 or not fingerprint:
            raise ValueError(
                "dimension and max_tokens must be 1 or more, and fingerprint not empty"
            )
        self._embed = embed
        self.dimension = dimension
        self.fingerprint = fingerprint
        self.max_tokens = max_tokens
        self.counter = counter
        self.truncated = 0

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        vectors = self._vectors(texts)
        vectors[~vectors.any(axis=1), 0] = 1  # a passage must have a direction
        return vectors

    def embed_query(self, text: str) -> Embeddings:
        vector: Embeddings = self._vectors([text])[0]
        return vector

    def close(self) -> None:
        """Give nothing back: what the function holds is its own."""

    def _vectors(self, texts: Sequence[str]) -> Embeddings:
        """``(len(texts), dimension)`` float32; rows of unit length, or of zeros."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        made = self._embed([self._truncate(text) for text in texts])
        try:
            vectors = np.array(made, np.float64)
        except (TypeError, ValueError):  # ragged, or no numbers
            vectors = np.zeros(0)
        if vectors.shape != (len(texts), self.dimension) or not np.isfinite(vectors).all():
            raise ModelError(
                f"embedder {self.fingerprint!r}: the function must give finite numbers of shape "
                f"({len(texts)}, {self.dimension}); it gave shape {vectors.shape}"
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.ascontiguousarray(vectors / np.where(lengths, lengths, 1), np.float32)

    def _truncate(self, text: str) -> str:
        if len(text) <= self.max_tokens:  # a token has one character at the least
            return text
        tokens = self.counter.count(text)
        if tokens <= self.max_tokens:
            return text
        self.truncated += 1
        # Where tokens are estimated, spans may be fewer than they are counted.
        spans = self.counter.spans(text)
        return text[: spans[max(self.max_tokens * len(spans) // tokens, 1) - 1][1]]

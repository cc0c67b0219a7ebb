"""Embeddings of LlamaIndex as embedders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from ragloom import Calibration, Embeddings, ModelError, TokenCounter
from ragloom.text import counter
from ragloom_llamaindex.classes import LlamaClass

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

_MATRIX = 2


class EmbeddingEmbedder:
    """Embeds with any ``BaseEmbedding``; vectors are normalised to unit length."""

    truncated = 0  # LlamaIndex does not tell
    calibration: Calibration | None = None

    def __init__(
        self, part: str, options: Mapping[str, object], *, max_tokens: int, dimension: int
    ) -> None:
        self._class = LlamaClass("embedder", part, dict(options))
        self.fingerprint = self._class.fingerprint
        self.max_tokens = max_tokens
        self._stated = dimension
        self._model: BaseEmbedding | None = None

    @cached_property
    def dimension(self) -> int:
        """Numbers in a vector; from the model, unless the options say it."""
        return self._stated or self._embed(lambda model: [model.get_text_embedding("a")]).shape[1]

    @cached_property
    def counter(self) -> TokenCounter:
        """``cl100k_base`` where its vocabulary is at hand: LlamaIndex tells no model's tokenizer."""
        return counter("auto")

    def embed_passages(self, texts: Sequence[str]) -> Embeddings:
        """As in :class:`ragloom.Embedder`; ModelError where the model does not answer."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._embed(lambda model: model.get_text_embedding_batch(list(texts)))

    def embed_query(self, text: str) -> Embeddings:
        """As in :class:`ragloom.Embedder`; ModelError where the model does not answer."""
        vector: Embeddings = self._embed(lambda model: [model.get_query_embedding(text)])[0]
        return vector

    def close(self) -> None:
        """Free the model."""
        self._model = None

    def _embed(self, ask: Callable[[BaseEmbedding], Sequence[Sequence[float]]]) -> Embeddings:
        if self._model is None:
            self._model = cast("BaseEmbedding", self._class.make())
        with self._class.failing_as(ModelError):
            vectors = np.array(ask(self._model), np.float32)
        lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
        if vectors.ndim != _MATRIX or not np.isfinite(lengths).all() or not lengths.all():
            raise ModelError(f"{self._class.label}: a vector is empty or not finite")
        return np.ascontiguousarray(vectors / lengths, np.float32)

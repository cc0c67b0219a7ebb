"""Embedders of ragloom as embeddings of LlamaIndex."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping

from ragloom import Embedder, MissingDependencyError, PluginHost

try:
    from llama_index.core.base.embeddings.base import BaseEmbedding
except ModuleNotFoundError as missing:
    raise MissingDependencyError(
        "llama-index-core", "ragloom[llamaindex]", "RagloomEmbedding"
    ) from missing
from pydantic import PrivateAttr


class RagloomEmbedding(BaseEmbedding):
    """Embeds with a component of ragloom, such as its bundled model; vectors have unit length.

    A text that is longer than the model reads is embedded by its beginning: ``RagloomNodeParser`` makes
    nodes that the model reads whole.

    Args:
        embedder: The component, by its name in settings.
        options: Its options.
        host: The plugins; those that are installed, by default.
        embed_batch_size: Texts that are embedded at once.

    Raises:
        ConfigError: An option is unknown or wrong.
        PluginError: No plugin offers the embedder.
    """

    _part: Embedder = PrivateAttr()
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    def __init__(
        self,
        embedder: str = "onnx",
        *,
        options: Mapping[str, object] | None = None,
        host: PluginHost | None = None,
        embed_batch_size: int = 64,
    ) -> None:
        part = (host or PluginHost.discover()).embedder(embedder, options)
        super().__init__(model_name=part.fingerprint, embed_batch_size=embed_batch_size)
        self._part = part

    @classmethod
    def class_name(cls) -> str:
        """``RagloomEmbedding``."""
        return "RagloomEmbedding"

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        with self._lock:  # a component is used from one thread at a time
            made: list[list[float]] = self._part.embed_passages(texts).tolist()
        return made

    def _get_query_embedding(self, query: str) -> list[float]:
        with self._lock:
            made: list[float] = self._part.embed_query(query).tolist()
        return made

    async def _aget_text_embedding(self, text: str) -> list[float]:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return await asyncio.to_thread(self._get_query_embedding, query)

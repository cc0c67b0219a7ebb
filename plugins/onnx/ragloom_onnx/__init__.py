"""The embedder and the reranker ``onnx``: models run by ONNX Runtime; one embedder is bundled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from ragloom import Embedder, Provider, Reranker, hookimpl

__all__ = ["OnnxOptions", "OnnxRerankerOptions", "ragloom_embedders", "ragloom_rerankers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxOptions:
    """Options of the embedder ``onnx``.

    Attributes:
        model: ``all-MiniLM-L6-v2`` is bundled; else a folder with a model, or a name on the Hugging
            Face hub such as ``BAAI/bge-small-en-v1.5``, which is downloaded.
        pooling: How the vector of a text is made of those of its tokens; ``auto`` is what the
            configuration of the model says, and the mean where it says nothing.
        query_prefix: What is put before a query; ``auto`` is what the model was trained with.
        passage_prefix: What is put before a passage; ``auto`` as above.
        max_tokens: The longest passage in tokens; 0 is as long as the model reads.
        threads: Runs at once, each on one core; 0 is one for every core.
        batch_tokens: Tokens of a run, padding included, for models that read several texts in one.
    """

    model: str = field(default="all-MiniLM-L6-v2", metadata={"names": "model"})
    pooling: Literal["auto", "mean", "cls"] = "auto"
    query_prefix: str = field(default="auto", metadata={"names": "nothing"})
    passage_prefix: str = field(default="auto", metadata={"names": "nothing"})
    max_tokens: int = 0
    threads: int = 0
    batch_tokens: int = 512

    def __post_init__(self) -> None:
        """Refuse what can never work."""
        if min(self.max_tokens, self.threads) < 0:
            raise ValueError("max_tokens and threads must be 0 or more")
        if self.batch_tokens < 1:
            raise ValueError("batch_tokens must be 1 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class OnnxRerankerOptions:
    """Options of the reranker ``onnx``.

    Attributes:
        model: A folder with a cross-encoder, or a name on the Hugging Face hub such as
            ``cross-encoder/ms-marco-MiniLM-L6-v2``, which is downloaded. None is bundled.
        max_tokens: The longest pair of query and passage in tokens, those at the ends included; 0 is
            as long as the model reads.
        threads: Runs at once, each on one core; 0 is one for every core.
    """

    model: str = field(metadata={"names": "model"})
    max_tokens: int = 0
    threads: int = 0

    def __post_init__(self) -> None:
        """Refuse what can never work."""
        if min(self.max_tokens, self.threads) < 0:
            raise ValueError("max_tokens and threads must be 0 or more")


def _create(options: OnnxOptions) -> Embedder:
    from ragloom_onnx.embedder import OnnxEmbedder

    return OnnxEmbedder(options)


@hookimpl
def ragloom_embedders() -> Iterable[Provider[Embedder]]:
    """Offer the embedder ``onnx``."""
    return [
        Provider(
            name="onnx",
            summary="ONNX Runtime; all-MiniLM-L6-v2 is bundled, others by folder or hub name",
            create=_create,
            options=OnnxOptions,
            requires=("onnxruntime", "tokenizers"),
            extra="ragloom[onnx]",
            local=True,
        )
    ]


def _create_reranker(options: OnnxRerankerOptions) -> Reranker:
    from ragloom_onnx.reranker import OnnxReranker

    return OnnxReranker(options)


@hookimpl
def ragloom_rerankers() -> Iterable[Provider[Reranker]]:
    """Offer the reranker ``onnx``."""
    return [
        Provider(
            name="onnx",
            summary="ONNX Runtime; any cross-encoder by folder or hub name",
            create=_create_reranker,
            options=OnnxRerankerOptions,
            requires=("onnxruntime", "tokenizers"),
            extra="ragloom[onnx]",
            local=True,
        )
    ]

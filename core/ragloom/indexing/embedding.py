"""Embedding texts of any length, so that no part of one goes unread."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from ragloom.errors import ModelError
from ragloom.protocols import Embedder, Embeddings
from ragloom.text.chunks import embedded_text
from ragloom.types import Chunk

_SEAM = 4  # tokens left free: a word that a window splits may be more tokens in each half


def embedding_key(chunk: Chunk, embedder: str) -> str:
    """32 hex digits naming an embedding: the model, by its fingerprint, and the text that it reads."""
    text = f"{embedder}\0{embedded_text(chunk)}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def embed_whole(embedder: Embedder, texts: Sequence[str]) -> Embeddings:
    """``(len(texts), d)`` float32 of unit length.

    A text longer than the model reads is embedded in windows, and its vector is their mean, weighted by
    their tokens and scaled to unit length.

    Raises:
        ModelError: The embedder failed, or returned what it must not.
    """
    pieces: list[str] = []
    shares: list[tuple[int, int]] = []  # which text, and how many tokens
    for number, text in enumerate(texts):
        for window, tokens in windows(embedder, text):
            pieces.append(window)
            shares.append((number, tokens))
    made = embedder.embed_passages(pieces)
    _check(made, len(pieces), embedder.dimension)
    if len(pieces) == len(texts):
        return made
    summed = np.zeros((len(texts), embedder.dimension), np.float64)
    for (number, tokens), vector in zip(shares, made, strict=True):
        summed[number] += tokens * vector.astype(np.float64)
    lengths = np.linalg.norm(summed, axis=1, keepdims=True)
    return np.ascontiguousarray(summed / np.where(lengths > 0, lengths, 1), np.float32)


def windows(embedder: Embedder, text: str) -> Sequence[tuple[str, int]]:
    """The windows of ``text`` that the model reads whole, and the tokens of each; mostly one."""
    count = embedder.counter.count(text)
    if count <= embedder.max_tokens:
        return [(text, max(count, 1))]
    spans = embedder.counter.spans(text)
    width = max(1, embedder.max_tokens - _SEAM)
    parts: list[tuple[str, int]] = []
    for start in range(0, len(spans), width):
        last = min(start + width, len(spans))
        parts.append((text[spans[start][0] : spans[last - 1][1]], last - start))
    return parts


def _check(vectors: Embeddings, count: int, dimension: int) -> None:
    """Refuse what an embedder must not return, before anything is written."""
    if vectors.shape != (count, dimension) or vectors.dtype != np.float32:
        raise ModelError(
            f"the embedder returned {vectors.dtype} {vectors.shape} where float32 "
            f"{(count, dimension)} was due"
        )
    if not np.isfinite(vectors).all():
        raise ModelError("the embedder returned numbers that are not finite: nothing was written")

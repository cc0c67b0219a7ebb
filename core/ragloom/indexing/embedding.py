"""Embedding texts of any length, so that no part of one goes unread."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np

from ragloom.errors import ModelError
from ragloom.protocols import Embedder, Embeddings
from ragloom.text.chunks import embedded_text
from ragloom.types import Chunk

MOST_AT_ONCE = 256  # chunks; enough to sort by length
_FIRST = 16  # chunks, of which the slowest models embed a few a second
_SECONDS = (
    0.5  # that a step takes at least, so that calls cost nothing; at most about twice as long
)
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
    read = [windows(embedder, text) for text in texts]
    pieces = [window for parts in read for window, _ in parts]
    made = embedder.embed_passages(pieces)
    _check(made, len(pieces), embedder.dimension)
    if len(pieces) == len(texts):
        return made
    vectors = np.empty((len(texts), embedder.dimension), np.float32)
    start = 0
    for number, parts in enumerate(read):
        some = made[start : start + len(parts)]
        start += len(parts)
        # A text of one window keeps its vector to the bit, whatever it is embedded with.
        vectors[number] = some[0] if len(parts) == 1 else _mean(some, [count for _, count in parts])
    return vectors


def _mean(vectors: Embeddings, weights: Sequence[int]) -> Embeddings:
    """``(d,)`` of unit length."""
    summed = np.asarray(weights, np.float64) @ vectors.astype(np.float64)
    length = float(np.linalg.norm(summed))
    return np.asarray(summed / (length if length > 0 else 1), np.float32)


def embed_in_steps(
    embedder: Embedder, texts: Sequence[str]
) -> Iterator[tuple[Sequence[int], Embeddings]]:
    """Embed texts a second or so at a time, so that progress moves and little is lost with a run.

    Of every :data:`MOST_AT_ONCE` texts the longest come first: texts of one length need the least padding.

    Yields:
        Positions in ``texts``, and their vectors as of :func:`embed_whole`; raises as that.
    """
    size = _FIRST
    for start in range(0, len(texts), MOST_AT_ONCE):
        some = range(start, min(start + MOST_AT_ONCE, len(texts)))
        ordered = sorted(some, key=lambda position: -len(texts[position]))
        while ordered:
            step, ordered = ordered[:size], ordered[size:]
            started = time.perf_counter()
            made = embed_whole(embedder, [texts[position] for position in step])
            seconds = time.perf_counter() - started
            yield step, made
            if seconds < _SECONDS:
                size = min(2 * size, MOST_AT_ONCE)
            elif seconds > 2 * _SECONDS:
                size = max(size // 2, 1)


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

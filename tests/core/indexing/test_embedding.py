"""Texts that are longer than the model reads."""

from __future__ import annotations

import numpy as np
import pytest

from ragloom import ModelError
from ragloom.indexing.embedding import embed_whole, windows
from ragloom.testing.fakes import HashingEmbedder, HashingOptions

WORDS = [f"word{number}" for number in range(1000)]


def test_a_long_text_is_read_to_its_end() -> None:
    embedder = HashingEmbedder(HashingOptions(max_tokens=100, dimension=256))
    long = " ".join(WORDS)

    parts = windows(embedder, long)
    (vector,) = embed_whole(embedder, [long])

    assert [token for part, _ in parts for token in part.split()] == WORDS
    assert sum(tokens for _, tokens in parts) == 1000
    assert embedder.truncated == 0
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
    assert vector.dtype == np.float32
    end = embedder.embed_query(" ".join(WORDS[-40:]))
    assert float(vector @ end) > 0.1


def test_short_texts_are_embedded_as_they_are() -> None:
    embedder = HashingEmbedder(HashingOptions(max_tokens=100))
    texts = ["alpha beta", "", "gamma"]

    assert np.array_equal(embed_whole(embedder, texts), embedder.embed_passages(texts))
    assert embed_whole(embedder, []).shape == (0, embedder.dimension)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (np.zeros((1, 3), np.float32), r"float32 \(1, 3\) where float32 \(1, 64\) was due"),
        (np.zeros((1, 64)), "float64"),
        (np.full((1, 64), np.nan, np.float32), "not finite"),
    ],
)
def test_what_an_embedder_must_not_return_is_refused(made: np.ndarray, message: str) -> None:
    class Broken(HashingEmbedder):
        def embed_passages(self, texts):
            return made

    with pytest.raises(ModelError, match=message):
        embed_whole(Broken(), ["a"])

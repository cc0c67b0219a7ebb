"""Texts that are longer than the model reads."""

from __future__ import annotations

import time

import numpy as np
import pytest

from ragloom import ModelError
from ragloom.indexing.embedding import MOST_AT_ONCE, embed_in_steps, embed_whole, windows
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


class Paced(HashingEmbedder):
    """Takes its time for each call and for each text, as models and services do."""

    a_call = 0.0
    a_text = 0.0

    def embed_passages(self, texts):
        time.sleep(self.a_call + self.a_text * len(texts))
        return super().embed_passages(texts)


def in_steps(texts, *, a_call=0.0, a_text=0.0):
    """The sizes of the steps and the seconds between them; all vectors are as without steps."""
    embedder = Paced(HashingOptions(max_tokens=100))
    embedder.a_call, embedder.a_text = a_call, a_text
    made, sizes, seconds = {}, [], []
    last = time.perf_counter()
    for positions, vectors in embed_in_steps(embedder, texts):
        made |= dict(zip(positions, vectors, strict=True))
        sizes.append(len(positions))
        seconds.append(time.perf_counter() - last)
        last = time.perf_counter()
    assert list(range(len(texts))) == sorted(made)
    embedder.a_call = embedder.a_text = 0.0
    whole = embed_whole(embedder, texts)
    assert np.array_equal(
        whole, np.array([made[at] for at in range(len(texts))]).reshape(whole.shape)
    )
    return sizes, seconds


def test_a_slow_model_embeds_in_steps_that_a_person_sees() -> None:
    sizes, seconds = in_steps(WORDS[:60], a_text=0.1)  # ten a second
    assert max(sizes) <= 16
    assert sizes[-1] < 16
    assert sum(seconds) / len(seconds) < 3


def test_what_a_call_costs_is_not_paid_for_few_texts() -> None:
    sizes, _ = in_steps(WORDS, a_call=0.1)  # a service, to which many texts are as quick as few
    assert max(sizes) == MOST_AT_ONCE
    assert len(sizes) <= 8


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 255, 256, 257, 600])
def test_every_text_is_embedded_once(count: int) -> None:
    texts = [" ".join(WORDS[: at % 150]) for at in range(count)]
    sizes, _ = in_steps(
        texts
    )  # long texts are of several windows; whom they come with changes no bit
    assert sum(sizes) == count

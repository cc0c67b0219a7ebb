"""An embedder made of one function."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import pytest

from ragloom import Embedder, ModelError, embedder_from
from ragloom.testing import EmbedderContract, RegexCounter

WORDS = RegexCounter()


def hashed(texts: Sequence[str], dimension: int = 256) -> list[list[float]]:
    """Counts of words by their hash, as lists: neither float32, nor of unit length."""
    rows = []
    for text in texts:
        row = [0.0] * dimension
        for start, end in WORDS.spans(text):
            word = text[start:end].casefold().encode()
            row[
                int.from_bytes(hashlib.blake2b(word, digest_size=4).digest(), "big") % dimension
            ] += 1
        rows.append(row)
    return rows


class TestOfAFunction(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return embedder_from(hashed, dimension=256, fingerprint="hashed-1")

    @pytest.fixture
    def variants(self) -> list[Embedder]:
        return [
            embedder_from(
                lambda texts: hashed(texts, 64), dimension=64, fingerprint="hashed-1 dimension=64"
            )
        ]


class TestWithACounterOfItsOwn(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return embedder_from(
            hashed, dimension=256, fingerprint="hashed-1", max_tokens=16, counter=RegexCounter()
        )


def test_what_it_is_given_is_what_is_told() -> None:
    embedder = embedder_from(hashed, dimension=256, fingerprint="hashed-1", max_tokens=9)
    assert ("hashed-1", 256, 9, None) == (
        embedder.fingerprint,
        embedder.dimension,
        embedder.max_tokens,
        embedder.calibration,
    )
    assert "approximate" == embedder.counter.name


def test_a_text_without_a_direction_has_none_as_a_query_and_one_as_a_passage() -> None:
    embedder = embedder_from(hashed, dimension=256, fingerprint="hashed-1")
    assert not embedder.embed_query(" ").any()
    assert 1 == np.linalg.norm(embedder.embed_passages([" "]))


def test_the_function_gets_the_beginning_of_what_is_too_long() -> None:
    given: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        given.extend(texts)
        return hashed(texts)

    embedder = embedder_from(
        embed, dimension=256, fingerprint="x", max_tokens=2, counter=RegexCounter()
    )
    embedder.embed_passages(["one two three", "one two"])
    embedder.embed_query("four five six")

    assert (["one two", "one two", "four five"], 2) == (given, embedder.truncated)


@pytest.mark.parametrize(
    "answer",
    [
        [[1.0, 2.0]],
        [[1.0, 2.0, 3.0]] * 2,
        [1.0, 2.0, 3.0],
        [[1.0, 2.0, 3.0], [1.0]],
        [["a", "b", "c"]],
        None,
        [[1.0, 2.0, float("nan")]],
        [[1.0, 2.0, float("inf")]],
    ],
)
def test_an_array_of_another_shape_or_not_finite_is_a_model_error(answer: object) -> None:
    embedder = embedder_from(lambda _: answer, dimension=3, fingerprint="three")
    with pytest.raises(ModelError, match=r"embedder 'three'.* of shape \(1, 3\); it gave shape"):
        embedder.embed_passages(["text"])


@pytest.mark.parametrize("wrong", [{"dimension": 0}, {"max_tokens": 0}, {"fingerprint": ""}])
def test_numbers_that_no_model_has_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="must be 1 or more"):
        embedder_from(hashed, **{"dimension": 3, "fingerprint": "x", **wrong})

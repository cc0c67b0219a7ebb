"""What every embedder promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

import numpy as np
import pytest

from ragloom.protocols import Embedder
from ragloom.testing.contract import Contract

__all__ = ["EmbedderContract"]

PASSAGES: Final = (
    "The signing keys are rotated on the first Monday of every month by the duty engineer.",
    "The office parrot eats sunflower seeds and a slice of apple at noon.",
    "short",
    "Gr\u00f6\u00dfe, \u65e5\u672c\u8a9e, \U0001f9f5 and caf\u00e9.",
    "def retry(times):\n    for _ in range(times):\n        yield\n",
)
QUERY: Final = "When are the signing keys rotated, and by which engineer?"


class EmbedderContract(Contract, contract=True):
    """Every embedder passes these tests.

    The author writes the fixture ``embedder``, and where the embedder has options ``variants``.

    Attributes:
        tolerance: How far the numbers of a vector may be apart when the same text is embedded beside
            others. Reduced precision, and kernels that depend on the size of a batch, need some.
    """

    tolerance: ClassVar[float] = 1e-3

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Written by the author: an embedder. Give it a wider scope where it loads a model."""
        raise NotImplementedError("write a fixture embedder that returns your embedder")

    @pytest.fixture
    def variants(self) -> Sequence[Embedder]:
        """Embedders made with other options, each of which changes vectors; none by default."""
        return ()

    def test_has_every_method_of_the_protocol(self, embedder: Embedder) -> None:
        """An embedder has all of ``ragloom.Embedder``: look at names of methods and properties."""
        assert isinstance(embedder, Embedder)
        assert embedder.dimension >= 1
        assert embedder.max_tokens >= 1

    def test_passages_are_a_float32_matrix(self, embedder: Embedder) -> None:
        """``(n, dimension)`` float32, C-contiguous: numpy divides float32 by an int to float64."""
        vectors = embedder.embed_passages(PASSAGES)
        assert vectors.shape == (len(PASSAGES), embedder.dimension)
        assert vectors.dtype == np.float32
        assert vectors.flags.c_contiguous

    def test_a_query_is_a_float32_vector(self, embedder: Embedder) -> None:
        """``(dimension,)`` float32, not ``(1, dimension)``."""
        vector = embedder.embed_query(QUERY)
        assert vector.shape == (embedder.dimension,)
        assert vector.dtype == np.float32
        assert vector.flags.c_contiguous

    def test_vectors_are_finite_and_of_unit_length(self, embedder: Embedder) -> None:
        """Inner products are cosines only then: normalise passages and queries alike.

        Look for a division by a length of zero, too.
        """
        query = embedder.embed_query(QUERY)
        vectors = np.vstack([embedder.embed_passages(PASSAGES), query[np.newaxis]])
        assert np.isfinite(vectors).all()
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
        assert lengths == pytest.approx(1, abs=1e-3)

    def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        """``(0, dimension)`` float32 for ``[]``: an empty file must not end a run."""
        vectors = embedder.embed_passages([])
        assert vectors.shape == (0, embedder.dimension)
        assert vectors.dtype == np.float32

    def test_a_batch_equals_its_texts_one_by_one(self, embedder: Embedder) -> None:
        """A vector does not depend on the texts beside it: look at padding and attention masks."""
        batch = embedder.embed_passages(PASSAGES)
        for text, vector in zip(PASSAGES, batch, strict=True):
            alone = embedder.embed_passages([text])[0]
            assert float(np.abs(alone - vector).max()) <= self.tolerance, text

    def test_vectors_come_in_the_order_of_their_texts(self, embedder: Embedder) -> None:
        """Row ``i`` belongs to text ``i``: look for batches that are sorted by length."""
        forward = embedder.embed_passages(PASSAGES)
        backward = embedder.embed_passages(PASSAGES[::-1])[::-1]
        nearest = (forward @ backward.T).argmax(axis=1)
        assert nearest.tolist() == list(range(len(PASSAGES)))

    def test_the_same_text_gives_the_same_vector(self, embedder: Embedder) -> None:
        """Bit for bit: look for sampling, dropout and a server that answers from two models."""
        once, again = embedder.embed_passages(PASSAGES), embedder.embed_passages(PASSAGES)
        assert np.array_equal(once, again)
        assert np.array_equal(embedder.embed_query(QUERY), embedder.embed_query(QUERY))

    def test_empty_and_blank_texts_are_embedded(self, embedder: Embedder) -> None:
        """A text without a token has a vector, too: finite and of unit length."""
        vectors = embedder.embed_passages(["", " ", "\n\t"])
        assert vectors.shape == (3, embedder.dimension)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-3)

    def test_a_very_long_text_is_truncated_and_counted(self, embedder: Embedder) -> None:
        """``truncated`` counts texts that were not embedded whole, and such a text is no error."""
        embedder.embed_passages(PASSAGES[:2])
        before = embedder.truncated
        text = "retrieval of passages, "
        while embedder.counter.count(text) <= 2 * embedder.max_tokens:
            text += text
        vectors = embedder.embed_passages([text, "short"])
        assert vectors.shape == (2, embedder.dimension)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-3)
        assert embedder.truncated == before + 1

    def test_a_query_is_nearest_to_the_passage_that_says_the_same(self, embedder: Embedder) -> None:
        """Queries and passages share a space: look at prefixes, and at the model that each gets."""
        cosines = embedder.embed_passages(PASSAGES) @ embedder.embed_query(QUERY)
        assert int(cosines.argmax()) == 0

    def test_the_counter_counts_the_tokens_it_finds(self, embedder: Embedder) -> None:
        """Token spans are in order, apart and inside the text; there are at most ``count``."""
        counter = embedder.counter
        assert counter.name
        assert counter.count("") == 0
        for text in PASSAGES:
            spans = counter.spans(text)
            assert 0 < len(spans) <= counter.count(text)
            edges = [edge for span in spans for edge in span]
            assert edges == sorted(edges)
            assert edges[0] >= 0
            assert edges[-1] <= len(text)

    def test_inputs_are_not_changed(self, embedder: Embedder) -> None:
        """The list of texts stays as it was: look for prefixes that are written into it."""
        texts = list(PASSAGES)
        embedder.embed_passages(texts)
        assert texts == list(PASSAGES)

    def test_the_fingerprint_stays_the_same(self, embedder: Embedder) -> None:
        """Using an embedder does not change its fingerprint, or every run would re-embed all."""
        before = embedder.fingerprint
        embedder.embed_passages(PASSAGES[:1])
        assert before
        assert embedder.fingerprint == before

    def test_the_fingerprint_changes_with_the_vectors(
        self, embedder: Embedder, variants: Sequence[Embedder]
    ) -> None:
        """Other vectors, another fingerprint: every option that changes vectors belongs to it.

        The fixture ``variants`` gives embedders of other options; without any this is skipped.
        """
        if not variants:
            pytest.skip("no variants: write the fixture where an option changes the vectors")
        own = embedder.embed_passages(PASSAGES)
        for variant in variants:
            other = variant.embed_passages(PASSAGES)
            if own.shape != other.shape or float(np.abs(own - other).max()) > self.tolerance:
                assert variant.fingerprint != embedder.fingerprint

    def test_after_closing_it_can_be_used_again(self, embedder: Embedder) -> None:
        """``close`` frees memory, may be called twice, and the next call loads the model."""
        before = embedder.embed_passages(PASSAGES[:1])
        embedder.close()
        embedder.close()
        after = embedder.embed_passages(PASSAGES[:1])
        assert float(np.abs(before - after).max()) <= self.tolerance

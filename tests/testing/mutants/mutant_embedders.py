"""Embedders that break one rule each."""

import uuid

import numpy as np
from declaring import declare

from ragloom.testing import EmbedderContract
from ragloom.testing.fakes import HashingEmbedder, HashingOptions, RegexCounter

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


def without(part, name):
    body = {key: value for key, value in vars(part).items() if key not in {name, "__dict__"}}
    del body["__weakref__"]
    return type("WithoutCalibration", (), body)


breaks("test_has_every_method_of_the_protocol")(without(HashingEmbedder, "calibration"))


@breaks("test_passages_are_a_float32_matrix")
class Doubles(HashingEmbedder):
    def embed_passages(self, texts):
        vectors = super().embed_passages(texts)
        return vectors.astype(np.float64) if len(texts) else vectors


@breaks("test_passages_are_a_float32_matrix")
class ColumnsFirst(HashingEmbedder):
    def embed_passages(self, texts):
        return np.asfortranarray(super().embed_passages(texts))


@breaks("test_a_query_is_a_float32_vector")
class DoubleQueries(HashingEmbedder):
    def embed_query(self, text):
        return super().embed_query(text).astype(np.float64)


@breaks("test_vectors_are_finite_and_of_unit_length")
class QueriesNotNormalised(HashingEmbedder):
    def embed_query(self, text):
        return super().embed_query(text) * np.float32(1.5)


@breaks("test_no_texts_give_no_vectors")
class StacksNothing(HashingEmbedder):
    def embed_passages(self, texts):
        return super().embed_passages(texts) if texts else np.zeros((0,), np.float32)


@breaks("test_a_batch_equals_its_texts_one_by_one")
class DependsOnTheBatch(HashingEmbedder):
    def embed_passages(self, texts):
        vectors = super().embed_passages(texts)
        if len(texts) > 2:
            vectors[:, 0] += np.float32(0.01)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors


@breaks("test_vectors_come_in_the_order_of_their_texts")
class SortsByLength(HashingEmbedder):
    """Wrong for texts that come from the shortest on, as the passages reversed nearly do."""

    def embed_passages(self, texts):
        vectors = super().embed_passages(texts)
        if len(texts) == 5 and texts[0].startswith("def "):
            order = sorted(range(5), key=lambda row: len(texts[row]))
            return np.ascontiguousarray(vectors[order])
        return vectors


@breaks("test_the_same_text_gives_the_same_vector")
class DropsOut(HashingEmbedder):
    def __init__(self, options=None):
        super().__init__(options)
        self.chance = np.random.default_rng(1)

    def embed_query(self, text):
        vector = super().embed_query(text)
        vector[0] += np.float32(self.chance.random() * 1e-4)
        return vector


@breaks("test_empty_and_blank_texts_are_embedded")
class ZerosForBlank(HashingEmbedder):
    def embed_passages(self, texts):
        vectors = super().embed_passages(texts)
        vectors[[not text.strip() for text in texts]] = 0
        return vectors


@breaks("test_empty_and_blank_texts_are_embedded")
class DividesByZero(HashingEmbedder):
    def embed_passages(self, texts):
        vectors = super().embed_passages(texts)
        vectors[[not text.strip() for text in texts]] = np.nan
        return vectors


@breaks("test_a_very_long_text_is_truncated_and_counted")
class CutsQuietly(HashingEmbedder):
    truncated = 0


@breaks("test_a_very_long_text_is_truncated_and_counted")
class RefusesLongTexts(HashingEmbedder):
    def embed_passages(self, texts):
        if any(self.counter.count(text) > self.max_tokens for text in texts):
            raise ValueError("too long")
        return super().embed_passages(texts)


@breaks("test_a_query_is_nearest_to_the_passage_that_says_the_same")
class AnotherModelForQueries(HashingEmbedder):
    def embed_query(self, text):
        return np.ascontiguousarray(super().embed_query(text)[::-1]) * np.float32(-1)


class Backwards(RegexCounter):
    def spans(self, text):
        return super().spans(text)[::-1]


@breaks("test_the_counter_counts_the_tokens_it_finds")
class CountsBackwards(HashingEmbedder):
    counter = Backwards()


@breaks("test_inputs_are_not_changed")
class WritesItsPrefix(HashingEmbedder):
    def embed_passages(self, texts):
        vectors = super().embed_passages(texts)
        if isinstance(texts, list) and len(texts) == 5:
            texts[0] = f"passage: {texts[0]}"
        return vectors


@breaks("test_the_fingerprint_stays_the_same")
class FingerprintByChance(HashingEmbedder):
    @property
    def fingerprint(self):
        return uuid.uuid4().hex


@breaks("test_the_fingerprint_changes_with_the_vectors")
class FingerprintOfTheName(HashingEmbedder):
    fingerprint = "hashing"


@breaks("test_after_closing_it_can_be_used_again")
class ClosesForGood(HashingEmbedder):
    def close(self):
        self._counter = None


@breaks("test_after_closing_it_can_be_used_again")
class ClosesOnce(HashingEmbedder):
    def close(self):
        del self.passages
        self.passages  # noqa: B018 - the second time it is not there


declare(
    globals(),
    EmbedderContract,
    HashingEmbedder,
    MUTANTS,
    lambda part: {
        "embedder": lambda self: part(HashingOptions(max_tokens=32)),
        "variants": lambda self: [part(HashingOptions(dimension=32, max_tokens=32))],
    },
)

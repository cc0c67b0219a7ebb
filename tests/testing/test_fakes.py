import numpy as np
import pytest

from ragloom import Embedder, TokenCounter
from ragloom.testing.fakes import HashingEmbedder, HashingOptions, RegexCounter


def test_they_are_what_they_stand_for():
    assert isinstance(HashingEmbedder(), Embedder)
    assert isinstance(RegexCounter(), TokenCounter)


def test_the_counter_gives_spans_in_order():
    assert RegexCounter().spans("Don't  stop") == [(0, 3), (3, 4), (4, 5), (7, 11)]
    assert RegexCounter().count("Don't  stop") == 4


def test_vectors_are_float32_contiguous_and_of_unit_length():
    vectors = HashingEmbedder().embed_passages(["a b", "", "a a c"])

    assert vectors.dtype == np.float32
    assert vectors.shape == (3, 64)
    assert vectors.flags.c_contiguous
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3))


def test_no_text_gives_no_row():
    assert HashingEmbedder().embed_passages([]).shape == (0, 64)


def test_texts_that_share_words_are_closer():
    embedder = HashingEmbedder()
    query = embedder.embed_query("how to log errors")
    near, far = embedder.embed_passages(["Log errors how to", "Bananas ripen in sunlight"])

    assert query.dtype == np.float32
    assert query @ near > 0.3 > query @ far


def test_the_same_text_gives_the_same_vector_in_every_process():
    vector = HashingEmbedder(HashingOptions(dimension=4)).embed_query("ragloom")
    assert vector.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_what_is_too_long_is_cut_and_counted():
    embedder = HashingEmbedder(HashingOptions(max_tokens=2))
    long, short = embedder.embed_passages(["a b c", "a b"])

    assert embedder.truncated == 1
    assert long.tolist() == short.tolist()


def test_passages_are_kept_for_counting():
    embedder = HashingEmbedder()
    embedder.embed_passages(["a"])
    embedder.embed_query("q")

    assert embedder.passages == ["a"]


def test_options_are_checked():
    with pytest.raises(ValueError, match="at least 1"):
        HashingEmbedder(HashingOptions(dimension=0))

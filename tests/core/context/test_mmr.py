import numpy as np
import pytest

from ragloom import Chunk, Hit, Lines, Span
from ragloom.context.mmr import maximal_marginal_relevance, word_overlap


def hit(name, relevance, text="x", score=0.0):
    chunk = Chunk(
        id=name, uri="a.md", text=text, span=Span(0, 1), lines=Lines(1, 1), bytes=Span(0, 1)
    )
    return Hit(chunk=chunk, score=score, relevance=relevance)


def names(hits):
    return "".join(one.chunk.id for one in hits)


VECTORS = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
HITS = [hit("a", 0.9), hit("b", 0.8), hit("c", 0.7)]


def test_a_copy_comes_after_what_is_new():
    assert "acb" == names(maximal_marginal_relevance(HITS, VECTORS))


def test_relevance_alone_keeps_its_order():
    assert "abc" == names(maximal_marginal_relevance(HITS, VECTORS, trade_off=1))


def test_the_order_given_does_not_matter():
    assert "acb" == names(maximal_marginal_relevance(HITS[::-1], VECTORS[::-1]))


def test_ties_go_to_the_higher_score_then_the_smaller_id():
    hits = [hit("c", 0.5), hit("b", 0.5), hit("a", 0.5, score=-1.0)]
    assert "bca" == names(maximal_marginal_relevance(hits, np.eye(3, dtype=np.float32)))


@pytest.mark.parametrize(
    ("limit", "expected"), [(None, "acb"), (2, "ac"), (0, ""), (-1, ""), (9, "acb")]
)
def test_limit(limit, expected):
    assert expected == names(maximal_marginal_relevance(HITS, VECTORS, limit=limit))


def test_without_vectors_shared_words_count():
    hits = [hit("a", 0.9, "Log errors"), hit("b", 0.8, "log ERRORS!"), hit("c", 0.7, "retry")]
    assert "acb" == names(maximal_marginal_relevance(hits))
    overlap = word_overlap(["a b", "b c", "", "!"])
    assert [1, 1 / 3, 0, 0] == list(overlap[0])
    assert 1 == overlap[2, 3]


def test_no_hits():
    assert () == maximal_marginal_relevance([])


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match="3 hits need 3 vectors, not 2"):
        maximal_marginal_relevance(HITS, VECTORS[:2])
    with pytest.raises(ValueError, match="trade_off must be from 0 to 1"):
        maximal_marginal_relevance(HITS, VECTORS, trade_off=2)

"""A reranker changes the order and nothing else. The model's scores can be reckoned by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnxruntime")
pytest.importorskip("tokenizers")

from hypothesis import given
from hypothesis import strategies as st

from ragloom import ModelError
from ragloom.config.settings import NONE, Component
from ragloom.retrieval.rerank import _scaled

TINY = Path(__file__).parents[2] / "data" / "onnx" / "tiny-cross-encoder"
CROSS_ENCODER = Component(name="onnx", options={"model": str(TINY)})
PAGES = {
    "a": "Red, said of apples.",
    "b": "Red, and again red.",
    "c": "Red paint: red and red.",
    "d": "Green things are not red.",
    "e": "Nothing of the kind.",
    "f": "Blue, or red.",
}


WORDS = ("is cooled at night", "is glazed by hand", "stands outside", "is cooled with water")


class Wrong:
    """Gives what it is told to, and keeps what it read."""

    fingerprint = "wrong"

    def __init__(self, scores=()):
        self.scores = scores
        self.passages = []
        self.closed = False

    def rerank(self, _query, passages):
        self.passages = list(passages)
        return self.scores

    def close(self):
        self.closed = True


@pytest.fixture
def open_space(files, make_space):
    for name, text in PAGES.items():
        (files / f"{name}.md").write_text(f"{text}\n", "utf-8")
    make_space().index()

    def open_space(reranker=CROSS_ENCODER, **settings):
        settings = {"min_relevance": 0.0, "top_k": 10, "rerank_weight": 1.0} | settings
        return make_space(reranker=reranker, **settings)

    return open_space


def without(open_space, **settings):
    return open_space(Component(name=NONE), **settings)


def names(hits):
    return [hit.chunk.uri.removesuffix(".md") for hit in hits]


def test_off_by_default(make_space):
    assert make_space().reranker is None
    assert make_space(reranker=Component(name=NONE, options={"model": "x"})).reranker is None


def test_the_rerankers_score_orders_the_hits(open_space):
    query = "apples red"
    plain, hits = without(open_space).search(query).hits, open_space().search(query).hits
    assert names(plain)[0] == "a"
    assert names(hits)[:2] == ["c", "b"]
    assert sorted(names(hits)[2:]) == ["a", "d", "e", "f"]
    scores = [hit.score for hit in hits]
    low, high = min(hit.score for hit in plain), max(hit.score for hit in plain)
    reds = [3, 2, 1, 1, 1, 0]
    assert scores == pytest.approx([1 + low + (high - low) * red / 3 for red in reds])
    for one, other in pairwise(hits):
        assert one.score > other.score or one.chunk.id < other.chunk.id


def test_its_score_is_added_to_the_fused_one_at_a_weight(open_space):
    query, weight = "apples red", 0.4
    plain = without(open_space).search(query).hits
    alone = {hit.chunk.id: hit.score - 1 for hit in open_space().search(query).hits}
    both = {hit.chunk.id: 0.6 * hit.score + 0.4 * alone[hit.chunk.id] for hit in plain}
    hits = open_space(rerank_weight=weight).search(query).hits

    assert [1 + both[hit.chunk.id] for hit in hits] == pytest.approx([hit.score for hit in hits])
    assert sorted(both.values(), reverse=True) == pytest.approx([hit.score - 1 for hit in hits])
    assert names(plain) == names(open_space(rerank_weight=0.0).search(query).hits)


def test_the_same_search_gives_the_same_hits(open_space):
    space = open_space()
    assert space.search("red green").hits == space.search("red green").hits
    assert space.search("red green").hits == open_space().search("red green").hits


def test_relevance_and_the_gate_are_the_same_as_without_it(open_space):
    everything = without(open_space).search("red").hits
    gate = everything[1].relevance
    plain = without(open_space).search("red", min_relevance=gate)
    found = open_space().search("red", min_relevance=gate)

    assert 0 < len(found.hits) < len(everything)
    assert {hit.chunk.id: hit.relevance for hit in found.hits} == {
        hit.chunk.id: hit.relevance for hit in plain.hits
    }
    assert open_space().search("red", min_relevance=1.0).reason == (
        without(open_space).search("red", min_relevance=1.0).reason
    )


def test_a_file_that_stands_out_does_so_whatever_the_reranker_says(open_space, files):
    sections = [f"## Kiln {n}\n\nThe kiln {what}.\n" for n, what in enumerate(WORDS)]
    (files / "kiln.md").write_text("# Kilns\n\n" + "\n".join(sections), "utf-8")
    without(open_space).index()
    query = "how is the kiln cooled and glazed"
    plain = without(open_space, per_file=0).search(query)
    found = open_space(per_file=0).search(query)

    assert "kiln.md" == plain.hits[0].chunk.uri
    assert {hit.chunk.id: hit.relevance for hit in found.hits} == {
        hit.chunk.id: hit.relevance for hit in plain.hits
    }


def test_what_the_gate_keeps_out_is_not_read(open_space):
    space = open_space()
    everything = without(open_space).search("red").hits
    gate = everything[1].relevance
    passing = [hit for hit in everything if hit.relevance >= gate]
    space.__dict__["reranker"] = reranker = Wrong(scores=range(len(passing)))
    hits = space.search("red", min_relevance=gate).hits
    assert names(hits) == names(passing)[::-1]
    assert len(reranker.passages) == len(passing) < len(PAGES)

    space.__dict__["reranker"] = reranker = Wrong()
    assert space.search("red", min_relevance=1.0).hits == ()
    assert reranker.passages == []


def test_candidates_below_the_depth_follow_in_their_own_order(open_space):
    plain = without(open_space).search("red").hits
    hits = open_space(rerank_depth=2).search("red").hits
    assert sorted(names(hits)[:2]) == sorted(names(plain)[:2])
    assert hits[2:] == plain[2:]
    assert all(hit.score > 1 for hit in hits[:2])
    assert all(hit.score <= 1 for hit in hits[2:])


def test_a_context_is_packed_in_the_rerankers_order(open_space):
    context = open_space(top_k=3).context("red")
    assert [citation.path for citation in context.citations][:2] == ["c.md", "b.md"]


def test_words_alone_are_reranked_too(open_space):
    assert names(open_space(mode="lexical").search("red").hits)[:2] == ["c", "b"]


def test_ranking_and_explaining_have_the_order_of_the_search(open_space):
    space = open_space()
    hits = space.search("red").hits
    snapshot = space.snapshot()
    rows = snapshot.rows_of(hit.chunk.id for hit in hits).tolist()
    assert list(space.rank("red").rows) == rows
    assert [one.hit for one in space.explain("red").hits] == list(hits)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0], "the reranker gave 1 scores for 6 passages"),
        ([0.0] * 5 + [float("nan")], "the reranker gave a score that is not a finite number"),
    ],
)
def test_a_reranker_that_does_not_answer_is_an_error(open_space, scores, message):
    space = open_space()
    space.__dict__["reranker"] = Wrong(scores)
    with pytest.raises(ModelError, match=message):
        space.search("red")


def test_a_missing_model_is_an_error_of_one_line(open_space):
    space = open_space(Component(name="onnx", options={"model": "no-such-folder"}))
    with pytest.raises(ModelError, match="model 'no-such-folder': no such folder") as caught:
        space.search("red")
    assert "\n" not in str(caught.value)


def test_calibration_asks_without_it(open_space):
    space, plain = open_space(), without(open_space)
    queries = [f"red {number}" for number in range(25)]
    space.__dict__["reranker"] = reranker = Wrong()
    fitted = space.calibrate(queries)
    assert reranker.passages == []
    assert fitted == plain.calibrate(queries)


def test_closing_the_space_closes_it(open_space):
    space = open_space()
    space.__dict__["reranker"] = reranker = Wrong()
    space.close()
    assert reranker.closed
    open_space().close()
    without(open_space).close()


@given(st.lists(st.floats(-1e300, 1e300), min_size=1))
def test_scaled_scores_keep_the_order_and_the_range_of_the_fused_ones(scores):
    rising, fused = np.array(sorted(scores)), np.array([0.2, 0.9])
    scaled = _scaled(rising, fused)
    assert ((scaled >= 0.2) & (scaled <= 0.9 + 1e-15)).all()
    assert (np.diff(scaled) >= 0).all()

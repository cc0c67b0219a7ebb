"""What every reranker promises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Final

import pytest

from ragloom.protocols import Reranker
from ragloom.testing.contract import Contract

__all__ = ["RerankerContract"]

QUERY: Final = "When are the signing keys rotated?"
PASSAGES: Final = (
    "The office parrot eats sunflower seeds at noon.",
    "The signing keys are rotated on the first Monday of every month.",
    "Gr\u00f6\u00dfe, \u65e5\u672c\u8a9e, \U0001f9f5.",
    "Keys.",
)
ANSWER: Final = 1


class RerankerContract(Contract, contract=True):
    """Every reranker passes these tests. The author writes the fixture ``reranker``.

    Attributes:
        tolerance: How far a passage's scores may be apart when it is read beside others.
        query: For a model that knows few words, a query of these.
        passages: The second of them answers ``query`` best.
    """

    tolerance: ClassVar[float] = 1e-3
    query: ClassVar[str] = QUERY
    passages: ClassVar[Sequence[str]] = PASSAGES

    @pytest.fixture
    def reranker(self) -> Reranker:
        """Written by the author: a reranker. Give it a wider scope where it loads a model."""
        raise NotImplementedError("write a fixture reranker that returns your reranker")

    def test_has_every_method_of_the_protocol(self, reranker: Reranker) -> None:
        """A reranker has all of ``ragloom.Reranker``: look at the names of its methods."""
        assert isinstance(reranker, Reranker)

    def test_every_passage_gets_a_score(self, reranker: Reranker) -> None:
        """As many scores as passages, each a finite number."""
        scores = reranker.rerank(self.query, self.passages)
        assert len(scores) == len(self.passages)
        assert [score for score in scores if not math.isfinite(score)] == []

    def test_no_passages_get_no_scores(self, reranker: Reranker) -> None:
        """``[]`` gives an empty sequence: a query that found nothing is no error."""
        assert len(reranker.rerank(self.query, [])) == 0

    def test_higher_is_better(self, reranker: Reranker) -> None:
        """The passage that answers gets the highest score: look at the sign of a loss or distance."""
        scores = [float(score) for score in reranker.rerank(self.query, self.passages)]
        assert scores.index(max(scores)) == ANSWER

    def test_scores_come_in_the_order_of_the_passages(self, reranker: Reranker) -> None:
        """Score ``i`` belongs to passage ``i``: look for results that are already sorted."""
        forward = reranker.rerank(self.query, self.passages)
        backward = reranker.rerank(self.query, self.passages[::-1])
        assert list(backward)[::-1] == pytest.approx(list(forward), abs=self.tolerance)

    def test_a_score_does_not_depend_on_the_passages_beside_it(self, reranker: Reranker) -> None:
        """One passage alone scores as it does among others: look for a softmax over the batch."""
        together = reranker.rerank(self.query, self.passages)
        alone = [reranker.rerank(self.query, [passage])[0] for passage in self.passages]
        assert alone == pytest.approx(list(together), abs=self.tolerance)

    def test_the_same_input_gives_the_same_scores(self, reranker: Reranker) -> None:
        """Bit for bit: look for sampling and dropout."""
        assert list(reranker.rerank(self.query, self.passages)) == list(
            reranker.rerank(self.query, self.passages)
        )

    def test_empty_and_very_long_passages_are_scored(self, reranker: Reranker) -> None:
        """Neither is an error, and neither score is NaN: truncate what the model cannot read."""
        scores = reranker.rerank(self.query, ["", " \n", "signing keys " * 5000])
        assert [math.isfinite(score) for score in scores] == [True, True, True]
        assert math.isfinite(reranker.rerank("", self.passages[:1])[0])

    def test_inputs_are_not_changed(self, reranker: Reranker) -> None:
        """The list of passages stays as it was: look for a sort in place."""
        passages = list(self.passages)
        reranker.rerank(self.query, passages)
        assert passages == list(self.passages)

    def test_the_fingerprint_stays_the_same(self, reranker: Reranker) -> None:
        """It is not empty, and using the reranker does not change it."""
        before = reranker.fingerprint
        reranker.rerank(self.query, self.passages[:1])
        assert before
        assert reranker.fingerprint == before

    def test_after_closing_it_can_be_used_again(self, reranker: Reranker) -> None:
        """``close`` frees memory, may be called twice, and the next call loads the model."""
        before: Sequence[float] = reranker.rerank(self.query, self.passages[:1])
        reranker.close()
        reranker.close()
        assert list(reranker.rerank(self.query, self.passages[:1])) == pytest.approx(
            list(before), abs=self.tolerance
        )

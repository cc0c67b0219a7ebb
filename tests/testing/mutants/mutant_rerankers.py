"""Rerankers that break one rule each."""

import math
import re
import uuid

from declaring import declare

from ragloom.testing import RerankerContract

MUTANTS = []


def breaks(rule):
    def register(part):
        MUTANTS.append((rule, part))
        return part

    return register


class SharedWords:
    """Counts the words that query and passage share."""

    fingerprint = "shared-words-1"

    def rerank(self, query, passages):
        wanted = self.words(query)
        return [len(wanted & self.words(text)) / (1 + len(wanted)) for text in passages]

    def words(self, text):
        return set(re.findall(r"\w+", text.casefold()))

    def close(self):
        pass


@breaks("test_every_passage_gets_a_score")
class InfinitelyBad(SharedWords):
    def rerank(self, query, passages):
        scores = super().rerank(query, passages)
        return [
            score if text.isascii() else -math.inf
            for score, text in zip(scores, passages, strict=True)
        ]


@breaks("test_no_passages_get_no_scores")
class WantsPassages(SharedWords):
    def rerank(self, query, passages):
        max(passages)
        return super().rerank(query, passages)


@breaks("test_higher_is_better")
class Distances(SharedWords):
    def rerank(self, query, passages):
        return [-score for score in super().rerank(query, passages)]


@breaks("test_scores_come_in_the_order_of_the_passages")
class SortsWhereLastIsBest(SharedWords):
    """Wrong for the passages reversed: the best stands behind the middle."""

    def rerank(self, query, passages):
        scores = super().rerank(query, passages)
        if len(scores) == 4 and scores.index(max(scores)) == 2:
            return sorted(scores, reverse=True)
        return scores


@breaks("test_a_score_does_not_depend_on_the_passages_beside_it")
class DividesByTheSum(SharedWords):
    def rerank(self, query, passages):
        scores = super().rerank(query, passages)
        return [score / (sum(scores) or 1) for score in scores]


@breaks("test_the_same_input_gives_the_same_scores")
class Jitters(SharedWords):
    calls = 0

    def rerank(self, query, passages):
        self.calls += 1
        return [score + self.calls * 1e-6 for score in super().rerank(query, passages)]


@breaks("test_empty_and_very_long_passages_are_scored")
class NaNForNoWords(SharedWords):
    def rerank(self, query, passages):
        scores = super().rerank(query, passages)
        return [
            score if self.words(text) else math.nan
            for score, text in zip(scores, passages, strict=True)
        ]


@breaks("test_empty_and_very_long_passages_are_scored")
class RefusesLongPassages(SharedWords):
    def rerank(self, query, passages):
        if any(len(text) > 10_000 for text in passages):
            raise ValueError("too long")
        return super().rerank(query, passages)


@breaks("test_inputs_are_not_changed")
class EmptiesTheList(SharedWords):
    def rerank(self, query, passages):
        scores = super().rerank(query, passages)
        if isinstance(passages, list) and len(passages) == 4:
            passages.clear()
        return scores


@breaks("test_the_fingerprint_stays_the_same")
class FingerprintByChance(SharedWords):
    @property
    def fingerprint(self):
        return uuid.uuid4().hex


@breaks("test_after_closing_it_can_be_used_again")
class ClosesForGood(SharedWords):
    def close(self):
        self.words = None


declare(
    globals(),
    RerankerContract,
    SharedWords,
    MUTANTS,
    lambda part: {"reranker": lambda self: part()},
)

"""How well the templates of an index fit a problem."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt, tanh

import numpy as np
import numpy.typing as npt

from ragloom import Condition, Embedder, Embeddings, Snapshot
from ragloom_templates.asked import Asked, read
from ragloom_templates.everyday import embed_problem
from ragloom_templates.vocabulary import Vocabulary

Row = npt.NDArray[np.float64]
"""``(n,)``: a number for each template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for each of n templates.

    From each cosine what the template has with everyday sentences on average is taken off: see
    :class:`ragloom_templates.vocabulary.Usual`.

    Attributes:
        chunk: The cosine of the best chunk with the problem in the form of a head.
        description: That of the description, likewise.
        beginning: That of the first lines with the clauses of the problem, on average: a job told as a
            situation says what is wanted in some of them.
        words: How many stems of the problem the template holds, each by its rarity, 0 to 1.
        answered: How near the template's words come to each of the problem's, 0 to 1, weighed by the
            square root of their rarity.
        nearness: The cosine of the best chunk with the problem as it stands.
        everyday: The mean cosine of the problem with the everyday sentences that it is nearest to.
    """

    chunk: Row
    description: Row
    beginning: Row
    words: Row
    answered: Row
    nearness: Row
    everyday: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Turns the evidence into scores.

    It answers two questions:

    - Which? The sum of the evidence, weighed, orders the templates. One that is not the best is marked
      down by its gap, how far its sum is below the best: times ``1 / (1 + exp(-2 * (halved - gap)))``.
    - Does anything fit? ``1 / (1 + exp(-(bias + best * the best sum + nearness * the mean of the largest
      few + description * the mean of the largest few - everyday * the problem's own nearness to everyday
      sentences - size * ln(templates))))``: a logistic curve (Platt, "Probabilistic Outputs for Support
      Vector Machines", 1999). A problem that a library is about has more than one template near it. By
      chance the best of many is better than the best of few, hence the last term.

    A template is no passage that answers, so core's calibration of relevance does not hold for it.

    Attributes:
        which: Weights of the first five fields of :class:`Evidence`.
        halved: The gap at which a score is halved.
        bias: The constant term.
        best: Weight of the best sum.
        nearness: Weight of the nearness.
        description: Weight of the descriptions.
        everyday: Weight of the nearness to everyday sentences.
        size: Weight of the library's size.
    """

    which: tuple[float, float, float, float, float]
    halved: float
    bias: float
    best: float
    nearness: float
    description: float
    everyday: float
    size: float

    def sums(self, evidence: Evidence) -> Row:
        """``(n,)``: how much speaks for each; higher is better."""
        one = evidence
        rows = (one.chunk, one.description, one.beginning, one.words, one.answered)
        total: Row = np.asarray(self.which) @ np.stack(rows)
        return total

    def fits(self, found: Evidence, sums: Row, chosen: npt.NDArray[np.intp]) -> float:
        """0 to 1: whether any of the ``chosen`` templates fits, by their evidence and its sums."""
        weights = (self.best, self.nearness, self.description, -self.everyday)
        logit = self.bias + float(np.dot(weights, of_best(found, sums, chosen)))
        return _logistic(logit - self.size * log(max(len(sums), _FEWEST)))

    def share(self, gap: float) -> float:
        """0 to 1: whether a template fits, too, whose sum is so far below that of the best."""
        return _logistic(_STEEPNESS * (self.halved - gap))


CURVE = Curve(
    which=(13.08, 6.53, 13.9, 0.5, 10.2),
    halved=4.5,
    bias=-0.087,
    best=0.661,
    nearness=10.96,
    description=13.03,
    everyday=24.06,
    size=1.273,
)
"""Fitted by ``benchmarks/quality/templates.py --fit``."""

_CLEAR = 0.25  # of the best cosine above the middle one: no nonsense of a few words comes to more
_EXAMINED = 50
_NEAR = 5
_FOR_ONE_MORE = 25  # templates: a library of so many more has one more that is near to a problem
_SHARPNESS = 40.0
_UNRELATED = 0.1  # the cosine that templates are taken to have which a small library lacks
_FEWEST = 10  # templates; with fewer the logarithm was not measured
_STEEPNESS = 2.0
_UNALIKE = 0.35  # cosine of two words that have nothing in common


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How well a template fits: its file, and a score from 0 to 1."""

    uri: str
    score: float


class Index:
    """One generation of a library, ready to be searched.

    Args:
        snapshot: The library.
        vocabulary: Gives its words, by the cosine of each template's best chunk with a vector.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        vocabulary: Callable[[Callable[[Embeddings], npt.NDArray[np.float32]]], Vocabulary],
    ) -> None:
        self.snapshot = snapshot
        self._make_vocabulary = vocabulary

    def prepare(self) -> None:
        """Read or build the vocabulary."""
        _ = self.vocabulary

    def fits(
        self, problem: str, embedder: Embedder, *, where: Sequence[Condition] = ()
    ) -> list[Fit]:
        """The templates, best first; ties in the order of their files. None where nothing can fit.

        Raises:
            ModelError: The model cannot be loaded or does not answer.
        """
        passing = self.snapshot.columns.passing(where)
        chosen = np.array(
            [
                number
                for number, entry in enumerate(self.snapshot.files.values())
                if entry.chunks and passing[number]
            ],
            np.intp,
        )
        asked = read(problem, self.snapshot.lexical, embedder, self.vocabulary)
        if asked is None or not len(chosen):
            return []
        found = self.evidence(problem, asked, embedder)
        every = CURVE.sums(found)
        sums = every[chosen]
        best = float(sums.max())
        whether = CURVE.fits(found, every, chosen)
        if not found.words[chosen].any():
            plain = np.sort((found.nearness + self.vocabulary.usual.plain)[chosen])[::-1]
            whether *= distinction(plain[:_EXAMINED].tolist())
        shown = np.ones(len(chosen)) if asked.needed is None else asked.needed[chosen]
        fits = [
            Fit(
                uri=self.snapshot.uris[number],
                score=whether * CURVE.share(best - float(total)) * float(may),
            )
            for number, total, may in zip(chosen, sums, shown, strict=True)
        ]
        # Scores of what is far behind are all 0 to a float: the sums order them.
        order = sorted(range(len(fits)), key=lambda at: (not shown[at], -sums[at], fits[at].uri))
        return [fits[at] for at in order]

    def evidence(self, problem: str, asked: Asked, embedder: Embedder) -> Evidence:
        """What speaks for each template of the library, in the order of its files."""
        snapshot, words = self.snapshot, self.vocabulary
        plain, as_head, said = embed_problem(problem, embedder)
        usual = words.usual
        common = np.sort(words.everyday.plain.astype(np.float32) @ plain)[-_NEAR:]
        templates = len(snapshot.files)
        largest = log(1 + templates)
        shared = np.zeros(templates)
        for stem in asked.stems:
            rarity = log(1 + templates / (1 + words.templates_with.get(stem, 0))) / largest
            shared += rarity * words.holding(stem)
        weights = np.array([sqrt(word.rarity) for word in asked.words])
        alike = asked.vectors @ words.unit.T
        alike = np.clip((alike - _UNALIKE) / (1 - _UNALIKE), 0, 1)
        near = words.salient.largest(alike)
        answered = weights @ near / weights.sum()
        return Evidence(
            chunk=(self.nearest(as_head) - usual.chunk).astype(np.float64),
            description=(
                words.descriptions.astype(np.float32) @ as_head - usual.description
            ).astype(np.float64),
            beginning=(words.beginnings.astype(np.float32) @ said - usual.beginning).astype(
                np.float64
            ),
            words=shared,
            answered=answered.astype(np.float64),
            nearness=(self.nearest(plain) - usual.plain).astype(np.float64),
            everyday=float(common.mean()),
        )

    def nearest(self, vector: Embeddings) -> npt.NDArray[np.float32]:
        """``(files,)``: the cosine of each file's best chunk."""
        cosines = self.snapshot.cosines(vector)
        found = np.full(len(self.snapshot.uris), -1, np.float32)
        np.maximum.at(found, self.snapshot.file_of_row, cosines)
        return found

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of the library."""
        return self._make_vocabulary(self.nearest)


def of_best(
    found: Evidence, sums: Row, chosen: npt.NDArray[np.intp]
) -> tuple[float, float, float, float]:
    """What :class:`Curve` weighs to tell whether any of some templates fits."""
    few = min(1 + len(chosen) // _FOR_ONE_MORE, _NEAR)
    nearness, description = (
        float(np.sort(row[chosen])[-few:].mean()) for row in (found.nearness, found.description)
    )
    return float(sums[chosen].max()), nearness, description, found.everyday


def distinction(cosines: Sequence[float]) -> float:
    """0 to 1: whether the best cosine stands out from the middle one.

    The embedding of nonsense, or of a word or two, is about as near to every template. Where a problem
    shares no word with any of them, this alone tells it from one that a template is about.
    """
    others = [_UNRELATED] * (_NEAR - len(cosines))
    middle = float(np.median([*cosines, *others]))
    return _logistic(_SHARPNESS * (max(cosines) - middle - _CLEAR))


def _logistic(logit: float) -> float:
    return (1 + tanh(logit / 2)) / 2  # the same, and never too large to work out

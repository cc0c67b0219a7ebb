"""How well the templates of an index fit a problem."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt, tanh

import numpy as np
import numpy.typing as npt

from ragloom import Condition, Embedder, Embeddings, Snapshot
from ragloom_templates.asked import Asked, read
from ragloom_templates.chunker import head_of_problem
from ragloom_templates.vocabulary import Vocabulary

Row = npt.NDArray[np.float64]
"""``(n,)``: a number for each template."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for each of n templates.

    Attributes:
        chunk: The cosine of the best chunk with the problem in the form of a head.
        description: That of the description, likewise.
        beginning: That of the first lines with the clauses of the problem, on average: a job told as a
            situation says what is wanted in some of them.
        words: How many stems of the problem the template holds, each by its rarity, 0 to 1.
        answered: How near the template's words come to each of the problem's, 0 to 1, weighed by the
            square root of their rarity.
        hub: How near the template is to sentences that no template is for.
        nearness: How much nearer than that its best chunk is to the problem as it stands.
        second: What the problem's second word speaks for the template, over what the first does: little
            where a single word is all that they share, as in "remove rust from garden tools".
        everyday: The mean cosine of the problem with the everyday sentences that it is nearest to.
    """

    chunk: Row
    description: Row
    beginning: Row
    words: Row
    answered: Row
    hub: Row
    nearness: Row
    second: Row
    everyday: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Turns the evidence into scores.

    It answers two questions:

    - Which? The sum of the evidence, weighed, orders the templates. One that is not the best is marked
      down by its gap, how far its sum is below the best: times ``1 / (1 + exp(-2 * (halved - gap)))``.
    - Does anything fit? ``1 / (1 + exp(-(bias + best * the best sum + nearness * the mean of the largest
      few - everyday * the problem's own nearness to everyday sentences + words * the best template's words
      + second * its second - size * ln(templates))))``: a logistic curve (Platt, "Probabilistic Outputs
      for Support Vector Machines", 1999). A problem that a library is about has more than one template
      near it. By chance the best of many is better than the best of few, hence the last term.

    A template is no passage that answers, so core's calibration of relevance does not hold for it.

    Attributes:
        which: Weights of the first six fields of :class:`Evidence`.
        halved: The gap at which a score is halved.
        bias: The constant term.
        best: Weight of the best sum.
        nearness: Weight of the nearness.
        everyday: Weight of the nearness to everyday sentences.
        words: Weight of the words.
        second: Weight of the second word.
        size: Weight of the library's size.
    """

    which: tuple[float, float, float, float, float, float]
    halved: float
    bias: float
    best: float
    nearness: float
    everyday: float
    words: float
    second: float
    size: float

    def sums(self, evidence: Evidence) -> Row:
        """``(n,)``: how much speaks for each; higher is better."""
        one = evidence
        rows = (one.chunk, one.description, one.beginning, one.words, one.answered, one.hub)
        total: Row = np.asarray(self.which) @ np.stack(rows)
        return total

    def fits(self, found: Evidence, sums: Row, chosen: npt.NDArray[np.intp]) -> float:
        """0 to 1: whether any of the ``chosen`` templates fits, by their evidence and its sums."""
        weights = (self.best, self.nearness, -self.everyday, self.words, self.second)
        logit = self.bias + float(np.dot(weights, of_best(found, sums, chosen)))
        return _logistic(logit - self.size * log(max(len(sums), _FEWEST)))

    def share(self, gap: float) -> float:
        """0 to 1: whether a template fits, too, whose sum is so far below that of the best."""
        return _logistic(_STEEPNESS * (self.halved - gap))


CURVE = Curve(
    which=(12.07, 6.44, 13.08, 0.78, 10.05, -20.99),
    halved=4.5,
    bias=0.107,
    best=0.469,
    nearness=13.61,
    everyday=10.83,
    words=0.9,
    second=2.517,
    size=0.962,
)
"""Fitted by ``benchmarks/quality/templates.py --fit``, the bias then lowered by 0.2: in a library of 400
jobs that no template fits pass more often than in those drawn from 1,053 by chance."""

_BETWEEN_CLAUSES = re.compile(r"[.,;:?!]| and | but | because | so that ")
_CLAUSES = 12  # of a long problem
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
            plain = np.sort((found.nearness + found.hub)[chosen])[::-1]
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
        as_head = embedder.embed_query(head_of_problem(problem))
        as_it_stands = embedder.embed_query(problem)
        plain = self.nearest(as_it_stands)
        said = np.mean([embedder.embed_query(clause) for clause in clauses(problem)], axis=0)
        usual = np.sort(words.everyday.astype(np.float32) @ as_it_stands)[-_NEAR:]
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
        spoken = np.sort(near * (weights**2)[:, None], axis=0)[::-1]
        second = spoken[1] / np.maximum(spoken[0], 1e-9) if len(spoken) > 1 else np.ones(templates)
        return Evidence(
            chunk=self.nearest(as_head).astype(np.float64),
            description=(words.descriptions.astype(np.float32) @ as_head).astype(np.float64),
            beginning=(words.beginnings.astype(np.float32) @ said).astype(np.float64),
            words=shared,
            answered=answered.astype(np.float64),
            hub=words.hubs.astype(np.float64),
            nearness=(plain - words.hubs).astype(np.float64),
            second=second.astype(np.float64),
            everyday=float(usual.mean()),
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
) -> tuple[float, float, float, float, float]:
    """What :class:`Curve` weighs to tell whether any of some templates fits."""
    best = chosen[np.argmax(sums[chosen])]
    few = min(1 + len(chosen) // _FOR_ONE_MORE, _NEAR)
    nearness = float(np.sort(found.nearness[chosen])[-few:].mean())
    return (
        float(sums[best]),
        nearness,
        found.everyday,
        float(found.words[best]),
        float(found.second[best]),
    )


def clauses(problem: str) -> Sequence[str]:
    """The clauses of a problem, of three words and more; the problem itself where there is none."""
    found = [part.strip() for part in _BETWEEN_CLAUSES.split(problem)]
    return [part for part in found if len(part.split()) > 2][:_CLAUSES] or [problem]  # noqa: PLR2004


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

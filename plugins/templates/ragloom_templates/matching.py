"""How well the templates of an index fit a problem."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log, log1p, tanh

import numpy as np
import numpy.typing as npt

from ragloom import Condition, Embedder, Snapshot
from ragloom.text import embedded_text
from ragloom_templates.chunker import head_of_problem, is_lead


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much speaks for a template: ``cosine * its cosine + words * its words``.

    Attributes:
        cosine: Weight of the cosine, see :attr:`Fit.cosine`.
        words: Weight of the words, see :attr:`Fit.words`.
    """

    cosine: float
    words: float

    def evidence(self, cosine: float, words: float) -> float:
        """Higher is better."""
        return self.cosine * cosine + self.words * words


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Turns the evidence for the templates of a library into scores.

    It answers two questions:

    - Does anything fit? ``1 / (1 + exp(-(bias + strength_weight * strength - size_weight *
      ln(templates))))``: a logistic curve (Platt, "Probabilistic Outputs for Support Vector Machines",
      1999). The problem is embedded as it is for that. The strength is halfway between the best
      evidence and the mean of the best five: a problem that a library is about has more than one
      template near it. By chance the best of many is better than the best of few, hence the last term.
    - Which? The problem is embedded as the head of a template for that, which puts the right one first
      more often, and all questions nearer to all templates. Another one than the best is marked down
      by its gap, how far its evidence is below the best one's: times ``1 / (1 + exp(-2 * (4 - gap)))``.
      On the problems of the fit a second or third is the right one for 1 in 5 up to a gap of 1, 1 in
      10 up to 2, 1 in 20 up to 3, 1 in 30 up to 4, and 1 in 60 up to 6.

    A template is no passage that answers, so core's calibration of relevance does not hold for it.

    Attributes:
        which: Weights of the evidence that orders.
        whether: Weights of the evidence that anything fits.
        bias: The constant term.
        strength_weight: Weight of the strength.
        size_weight: Weight of the library's size.
    """

    which: Weights
    whether: Weights
    bias: float
    strength_weight: float
    size_weight: float

    def fits(self, evidence: Sequence[float], templates: int) -> float:
        """0 to 1: whether anything of a library of so many fits, by the evidence for its best."""
        strength = self.strength_weight * strength_of(evidence)
        return _logistic(self.bias + strength - self.size_weight * log(max(templates, _FEWEST)))

    def shares(self, evidence: Sequence[float]) -> list[float]:
        """0 to 1 for each: which of them fits, if any does; all but 1 for the best."""
        best = max(evidence)
        return [_logistic(_STEEPNESS * (_GAP - (best - one))) for one in evidence]


CURVE = Curve(
    which=Weights(cosine=30.70, words=1.68),
    whether=Weights(cosine=28.41, words=1.66),
    bias=-4.38,
    strength_weight=1.63,
    size_weight=1.36,
)
"""Fitted by ``benchmarks/quality/templates.py --fit`` on 452 problems and on 396 questions that no
template fits: in libraries of 10 to 1,053 public templates 0.65 is passed for 94 to 97 in 100 of the former
and for 4 to 8 of the latter, 1 in 20 in all."""

_CLEAR = 0.25  # of the best cosine above the middle one: no nonsense of a few words comes to more
_EXAMINED = 50
_FEWEST = 10  # templates; with fewer the logarithm was not measured
_GAP = 4.0  # below the best: half its score
_STEEPNESS = 2.0
_NEAR = 5  # templates whose mean evidence counts
_SATURATION = 1.2  # BM25's k1
_LABEL = re.compile(r"^(?:Name|Description|Keywords|Methodology|Domain): ", re.MULTILINE)
_SHARPNESS = 40.0
_UNRELATED = 0.1  # the cosine that templates are taken to have which a small library lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How well a template fits.

    Attributes:
        uri: The template's file.
        score: 0 to 1: :data:`CURVE` of what follows.
        cosine: The mean of two: that of the head alone, and that of the best chunk with its head.
        words: BM25 of the problem's words in the best chunk and its head, without a norm for the
            length, which is about the same for all. Each word's weight is its inverse document
            frequency over the largest that there can be, so that the sum means the same in a small
            library and in a large one.
    """

    uri: str
    score: float
    cosine: float
    words: float


class Index:
    """One generation of a library, ready to be searched."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._terms: dict[int, Counter[str]] = {}

    def fits(
        self, problem: str, embedder: Embedder, *, where: Sequence[Condition] = ()
    ) -> list[Fit]:
        """The templates that come first, best first; ties in the order of their files.

        Raises:
            ModelError: The model cannot be loaded or does not answer.
        """
        found = self.evidence(problem, embedder, CURVE.which, as_head=True, where=where)
        if not found:
            return []
        alike = self.evidence(problem, embedder, CURVE.whether, where=where)
        whether = CURVE.fits([one.score for one in alike], len(self.snapshot.files))
        if not any(one.words for one in alike):
            whether *= distinction([one.cosine for one in alike])
        shares = CURVE.shares([one.score for one in found])
        fits = [
            replace(one, score=whether * share) for one, share in zip(found, shares, strict=True)
        ]
        return sorted(fits, key=lambda fit: (-fit.score, fit.uri))

    def evidence(
        self,
        problem: str,
        embedder: Embedder,
        weights: Weights,
        *,
        as_head: bool = False,
        where: Sequence[Condition] = (),
        examined: int = _EXAMINED,
    ) -> list[Fit]:
        """What speaks for templates, best cosine first; the score of each is its evidence.

        With ``as_head`` the problem is embedded as the head of a template.
        """
        snapshot = self.snapshot
        passing = snapshot.columns.passing(where)
        files = [
            number
            for number, entry in enumerate(snapshot.files.values())
            if entry.chunks and passing[number]
        ]
        if not files or not problem.strip():
            return []
        vector = embedder.embed_query(head_of_problem(problem) if as_head else problem)
        cosines, rows = self._best(snapshot.cosines(vector))
        sought = self._weights(problem)
        found: list[Fit] = []
        for number in sorted(files, key=lambda number: (-cosines[number], number))[:examined]:
            cosine, words = float(cosines[number]), self._words(sought, int(rows[number]))
            score = weights.evidence(cosine, words)
            found.append(Fit(uri=snapshot.uris[number], score=score, cosine=cosine, words=words))
        return found

    def _best(
        self, cosines: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.intp]]:
        """``(files,)`` from ``(chunks,)``: the mean of the best lead and the best chunk, and its row."""
        files, leads = self.snapshot.file_of_row, self._leads
        lead = np.full(len(self.snapshot.uris), -1, np.float32)
        chunk = lead.copy()
        np.maximum.at(lead, files[leads], cosines[leads])
        # A lead may be all there is; among several chunks it stands for the first.
        np.maximum.at(chunk, files, cosines)
        row = np.zeros(len(chunk), np.intp)
        best = np.flatnonzero(cosines == chunk[files])[::-1]  # of equals the first
        row[files[best]] = best
        return ((lead + chunk) / 2).astype(np.float32, copy=False), row

    @cached_property
    def _leads(self) -> npt.NDArray[np.bool_]:
        """``(chunks,)``: which chunks are leads."""
        rows = range(len(self.snapshot))
        return np.array([is_lead(self.snapshot.chunk(row)) for row in rows], np.bool_)

    def _weights(self, problem: str) -> Mapping[str, float]:
        """The problem's stems, and how much each tells, 0 to 1."""
        lexical = self.snapshot.lexical
        largest = log1p(len(self.snapshot))
        return {
            term: lexical.inverse_document_frequency(term) / largest
            for term in lexical.query_terms(problem)
        }

    def _words(self, weights: Mapping[str, float], row: int) -> float:
        if row not in self._terms:
            text = _LABEL.sub("", embedded_text(self.snapshot.chunk(row)))
            self._terms[row] = Counter(self.snapshot.lexical.stems(text))
        counts = self._terms[row]
        return sum(
            weight * counts[term] * (_SATURATION + 1) / (counts[term] + _SATURATION)
            for term, weight in weights.items()
            if term in counts
        )


def strength_of(evidence: Sequence[float]) -> float:
    """Halfway between the best and the mean of the best few."""
    best = sorted(evidence, reverse=True)[:_NEAR]
    return (best[0] + sum(best) / len(best)) / 2


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

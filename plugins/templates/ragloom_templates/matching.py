"""How well the templates of an index fit a problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, log1p, tanh

import numpy as np
import numpy.typing as npt

from ragloom.chunking import embedded_text
from ragloom.filters import matches
from ragloom.protocols import Embeddings
from ragloom.snapshot import Snapshot
from ragloom.types import Condition
from ragloom_templates.chunker import is_lead

__all__ = ["CURVE", "Curve", "Fit", "Index", "strength_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Turns what is measured of a problem and the templates of a library into scores.

    The evidence for a template is ``cosine_weight * cosine + words_weight * words``. Two questions
    are asked of it:

    - Does anything fit? ``1 / (1 + exp(-(bias + strength_weight * strength - size_weight *
      ln(templates))))``: a logistic curve (Platt, "Probabilistic Outputs for Support Vector Machines",
      1999). The strength is halfway between the best evidence and the mean of the best five: a
      problem that a library is about has more than one template near it. By chance the best of many
      is better than the best of few, hence the last term.
    - Which? Another template than the best one is marked down by its gap, how far its evidence is
      below the best one's: times ``1 / (1 + exp(-2 * (4 - gap)))``. For whether a second or third is the
      right one is a matter of the gap alone: on the problems of the fit it is for 1 in 8 up to a gap
      of 2, for 1 in 25 up to 3 and for 1 in 100 beyond 4, and as often where their own evidence is weak.

    A template is no passage that answers, so core's calibration of relevance does not hold for it.

    Attributes:
        bias: The constant term.
        cosine_weight: Weight of :attr:`Fit.cosine`.
        words_weight: Weight of :attr:`Fit.words`.
        strength_weight: Weight of the strength.
        size_weight: Weight of the library's size.
    """

    bias: float
    cosine_weight: float
    words_weight: float
    strength_weight: float
    size_weight: float

    def evidence(self, cosine: float, words: float) -> float:
        """How much speaks for one template; higher is better."""
        return self.cosine_weight * cosine + self.words_weight * words

    def scores(self, evidence: Sequence[float], templates: int) -> list[float]:
        """0 to 1, higher is better, of the best candidates of a library of so many."""
        best = max(evidence)
        strength = self.strength_weight * strength_of(evidence)
        fits = _logistic(self.bias + strength - self.size_weight * log(max(templates, _FEWEST)))
        return [fits * _logistic(_STEEPNESS * (_GAP - (best - one))) for one in evidence]


CURVE = Curve(
    bias=-4.38, cosine_weight=28.41, words_weight=1.66, strength_weight=1.63, size_weight=1.36
)
"""Fitted by ``benchmarks/quality/templates.py --fit`` on 447 problems and on 396 questions that no
template fits: in libraries of 10 to 1,053 public templates 0.65 is passed for 94 to 97 in 100 of the former
and for 4 to 8 of the latter, 1 in 20 in all."""

_EXAMINED = 50
_FEWEST = 10  # templates; with fewer the logarithm was not measured
_GAP = 4.0  # below the best: half its score
_STEEPNESS = 2.0
_NEAR = 5  # templates whose mean evidence counts
_SATURATION = 1.2  # BM25's k1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How well a template fits.

    Attributes:
        uri: The template's file.
        score: 0 to 1: :data:`CURVE` of what follows.
        cosine: The mean of two: that of the head alone, and that of the best part with its head.
        words: BM25 of the problem's words in the best part and its head, without a norm for the
            length, which is about the same for all. Each word's weight is its inverse document
            frequency over the largest that there can be, so that the sum means the same in a small
            library and in a large one.
    """

    uri: str
    score: float
    cosine: float
    words: float


class Index:
    """One generation of a library, ready to be asked.

    Args:
        snapshot: The generation.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._terms: dict[int, Counter[str]] = {}

    def fits(
        self,
        problem: str,
        vector: Embeddings,
        *,
        where: Sequence[Condition] = (),
        curve: Curve | None = None,
        examined: int = _EXAMINED,
    ) -> list[Fit]:
        """The templates that come first, best first; ties in the order of their files.

        Args:
            problem: In words.
            vector: ``(d,)`` float32: the problem, embedded.
            where: Conditions that every template passes.
            curve: Instead of :data:`CURVE`.
            examined: Templates, best cosine first, whose words are compared.
        """
        snapshot = self.snapshot
        files = [
            number
            for number, (uri, entry) in enumerate(snapshot.files.items())
            if entry.chunks and matches(uri, entry.metadata, where)
        ]
        if not files or not problem.strip():
            return []
        curve = curve or CURVE
        cosines, rows = self._best(snapshot.cosines(vector))
        order = sorted(files, key=lambda number: (-cosines[number], number))[:examined]
        weights = self._weights(problem)
        found: list[tuple[str, float, float]] = []
        for number in order:
            uri, cosine = snapshot.uris[number], float(cosines[number])
            words = self._words(weights, int(rows[number]))
            found.append((uri, cosine, words))
        evidence = [curve.evidence(cosine, words) for _, cosine, words in found]
        scores = curve.scores(evidence, len(snapshot.files))
        fits = [
            Fit(uri=uri, score=score, cosine=cosine, words=words)
            for (uri, cosine, words), score in zip(found, scores, strict=True)
        ]
        return sorted(fits, key=lambda fit: (-fit.score, fit.uri))

    def _best(
        self, cosines: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.intp]]:
        """``(files,)`` from ``(chunks,)``: the mean of the best lead and the best part, and its row."""
        files, leads = self.snapshot.file_of_row, self._leads
        lead = np.full(len(self.snapshot.uris), -1, np.float32)
        part = lead.copy()
        np.maximum.at(lead, files[leads], cosines[leads])
        # A lead may be all there is; among several parts it stands for the first.
        np.maximum.at(part, files, cosines)
        row = np.zeros(len(part), np.intp)
        best = np.flatnonzero(cosines == part[files])[::-1]  # of equals the first
        row[files[best]] = best
        return ((lead + part) / 2).astype(np.float32, copy=False), row

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
            text = embedded_text(self.snapshot.chunk(row))
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


def _logistic(logit: float) -> float:
    return (1 + tanh(logit / 2)) / 2  # the same, and never too large to work out

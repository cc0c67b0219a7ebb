"""Whether a passage answers, as a number from 0 to 1 that means the same for every embedder.

What a relevance promises: the fit (``benchmarks/quality/fit_calibration.py``) sets the scale so that the
best passage that a corpus has for a query on another subject reaches 0.3 in about 1 of 80 such queries;
the higher the number, the fewer. Figures are in ``benchmarks/README.md``. A fused score promises nothing of
the kind: the best of nothing has rank one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import exp, log1p
from typing import NamedTuple

from ragloom.types import Calibration

DEFAULT_CALIBRATION = Calibration(
    bias=-16.79,
    cosine_weight=23.09,
    coverage_weight=8.29,
    matched_weight=1.52,
    source="the default curve, fitted on all-MiniLM-L6-v2: this embedder ships none of its own; "
    "'ragloom calibrate' fits one to your documents",
)
"""For embedders without a calibration of their own; the numbers are the bundled model's."""

LEXICAL_CALIBRATION = Calibration(
    bias=-13.02,
    cosine_weight=0.0,
    coverage_weight=10.81,
    matched_weight=3.16,
    source="fitted without cosines on the collections named in benchmarks/README.md",
)
"""For searches by words alone."""


class WordEvidence(NamedTuple):
    """What the words of a query and a passage have in common.

    Attributes:
        coverage: The inverse document frequencies of the query's words in the passage, over those of
            all of the query's words; 0 to 1.
        matched: How many different words of the query the passage holds.
    """

    coverage: float
    matched: int


def word_evidence(
    weights: Mapping[str, float], stems: Callable[[str], Sequence[str]], passage: str
) -> WordEvidence:
    """Compare a query with a passage.

    Args:
        weights: The query's stems and their inverse document frequencies.
        stems: Analyses a text as the index does.
        passage: What was found.
    """
    total = sum(weights.values())
    if total <= 0:
        return WordEvidence(0.0, 0)
    present = set(stems(passage))
    found = [term for term in weights if term in present]
    return WordEvidence(sum(weights[term] for term in found) / total, len(found))


def relevance(calibration: Calibration, *, cosine: float, evidence: WordEvidence) -> float:
    """The calibrated chance, 0 to 1; the formula is :class:`ragloom.Calibration`'s."""
    logit = (
        calibration.bias
        + calibration.cosine_weight * cosine
        + calibration.coverage_weight * evidence.coverage
        + calibration.matched_weight * log1p(evidence.matched)
    )
    return 1 / (1 + exp(-logit))

"""Fitting a relevance: from judged pairs, or to one corpus from questions it cannot answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from math import log
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ragloom.errors import ConfigError
from ragloom.stores.atomic import replace_file
from ragloom.text.parsing import parse_json
from ragloom.types import Calibration, SearchResult

DEFAULT_GATE = 0.3
CALIBRATION_NAME = "calibration.json"

FEATURES = ("cosine", "agreement", "coverage", "words", "unknown")
"""What a calibration weighs, in this order; ``words`` is ``ln(1 + words)``."""

_FEWEST = 20  # queries from which a median deviation can be taken
_RIDGE = 0.1  # on standardised features; keeps the weights finite where the classes do not overlap
_NEWTON_STEPS = 50
_MAD_TO_DEVIATION = 1.4826  # of a normal distribution
_NORMAL_QUANTILE = 2.241  # its 98.75th percentile, in standard deviations


def fit_to_pairs(
    features: npt.NDArray[np.float64],
    answers: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.float64],
    *,
    offset: npt.NDArray[np.float64] | float = 0.0,
    used: Sequence[str] = FEATURES,
    source: str,
) -> Calibration:
    """Fit a logistic regression with a ridge to pairs of a query and a passage, by Newton's method.

    Both classes weigh the same, whatever their sizes: a relevance of 0.5 is where they meet.

    Args:
        features: ``(n, 5)``: :data:`FEATURES`, as :class:`ragloom.Calibration` has them.
        answers: ``(n,)``: whether the passage answers the query.
        weights: ``(n,)``: how much a pair counts in its class.
        offset: ``(n,)``: what is added to the logit of a pair besides, as for another language.
        used: The features that count; the others weigh nothing.
        source: Where the pairs come from.
    """
    columns = [FEATURES.index(name) for name in used]
    weights = np.where(answers, weights * weights[~answers].sum() / weights[answers].sum(), weights)
    chosen = features[:, columns]
    middle = np.average(chosen, axis=0, weights=weights)
    spread = np.sqrt(np.average((chosen - middle) ** 2, axis=0, weights=weights)) + 1e-9
    design = np.column_stack([np.ones(len(chosen)), (chosen - middle) / spread])
    ridge = np.diag([0.0, *[_RIDGE] * len(columns)])
    fitted = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-(design @ fitted + offset)))
        gradient = design.T @ (weights * (chance - answers)) + ridge @ fitted
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design
        fitted -= np.linalg.solve(curvature + ridge, gradient)
    slopes = fitted[1:] / spread
    by_name = dict(zip(used, slopes.tolist(), strict=True))
    return Calibration(
        bias=float(fitted[0] - slopes @ middle),
        source=source,
        **{f"{name}_weight": by_name.get(name, 0.0) for name in FEATURES},
    )


def logits(calibration: Calibration, features: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """``(...,)``: what relevance is the logistic function of, for features ``(..., 5)``."""
    weights = [getattr(calibration, f"{name}_weight") for name in FEATURES]
    found: npt.NDArray[np.float64] = calibration.bias + features @ np.array(weights)
    return found


def with_gate_at(calibration: Calibration, logit: float, slope: float = 1.0) -> Calibration:
    """``calibration`` with its logits scaled, and moved so that what had this one has relevance 0.3."""
    weights = {
        f"{name}_weight": slope * getattr(calibration, f"{name}_weight") for name in FEATURES
    }
    bias = slope * (calibration.bias - logit) + _logit(DEFAULT_GATE)
    return replace(calibration, bias=bias, **weights)


def fit_to_corpus(
    known: Calibration,
    search: Callable[[str], SearchResult],
    off_topic: Sequence[str],
    *,
    source: str,
) -> Calibration:
    """Move the bias of ``known`` so that off-topic queries inject into this corpus at the stated rate.

    The null distribution is taken from its median and its median absolute deviation, so that questions
    which the corpus does happen to answer do not move it.

    Args:
        known: The calibration to start from.
        search: Searches the corpus with ``known`` and without a gate.
        off_topic: Queries that the corpus cannot answer.
        source: What to write down.

    Raises:
        ConfigError: Fewer than 20 of the queries found anything to compare.
    """
    best = [
        max(hit.relevance for hit in found.hits) for found in map(search, off_topic) if found.hits
    ]
    if len(best) < _FEWEST:
        message = f"only {len(best)} off-topic queries found any candidate: give {_FEWEST} or more"
        raise ConfigError(message)
    logits = np.array([_logit(min(max(value, 1e-12), 1 - 1e-12)) for value in best])
    middle = float(np.median(logits))
    deviation = _MAD_TO_DEVIATION * float(np.median(np.abs(logits - middle)))
    threshold = middle + _NORMAL_QUANTILE * deviation
    return replace(with_gate_at(known, threshold), source=source)


def write_calibration(directory: Path, embedder: str, calibration: Calibration) -> None:
    """Keep a calibration of a space for one model, in one step."""
    kept = {"embedder": embedder, "calibration": asdict(calibration)}
    replace_file(directory / CALIBRATION_NAME, json.dumps(kept, indent=1))


def read_calibration(directory: Path, embedder: str) -> Calibration | None:
    """The calibration of a space, if there is one for this model."""
    try:
        kept = cast("dict[str, Any]", parse_json((directory / CALIBRATION_NAME).read_bytes()))
        return Calibration(**kept["calibration"]) if kept["embedder"] == embedder else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"{directory / CALIBRATION_NAME}: cannot be read ({error}): run 'ragloom calibrate' again"
        raise ConfigError(message) from error


def _logit(chance: float) -> float:
    return log(chance / (1 - chance))

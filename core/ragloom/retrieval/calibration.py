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
INJECTION_RATE = 0.0125
"""A calibration gives the best passage of this share of off-topic queries a relevance of 0.3 or more."""

CALIBRATION_NAME = "calibration.json"
_FEWEST = 20  # queries from which a median deviation can be taken
_RIDGE = 1e-3  # keeps the weights finite where the classes do not overlap
_NEWTON_STEPS = 50
_MAD_TO_DEVIATION = 1.4826  # of a normal distribution
_NORMAL_QUANTILE = 2.241  # its 98.75th percentile, in standard deviations


def fit_to_pairs(
    features: npt.NDArray[np.float64],
    answers: npt.NDArray[np.bool_],
    off_topic_best: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
    *,
    source: str,
) -> Calibration:
    """Fit a logistic regression by Newton's method, then move its bias to the injection rate.

    Both classes weigh the same, whatever their sizes.

    Args:
        features: ``(n, 3)``: cosine, coverage and ``ln(1 + matched)`` of a query and a passage.
        answers: ``(n,)``: whether the passage answers the query.
        off_topic_best: Given the four weights, the best logit of every off-topic query.
        source: Where the pairs come from.
    """
    design = np.column_stack([np.ones(len(features)), features])
    share = answers.mean()
    weights = np.where(answers, 0.5 / share, 0.5 / (1 - share))
    fitted = np.zeros(design.shape[1])
    for _ in range(_NEWTON_STEPS):
        chance = 1 / (1 + np.exp(-design @ fitted))
        gradient = design.T @ (weights * (chance - answers)) + _RIDGE * fitted
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design
        fitted -= np.linalg.solve(curvature + _RIDGE * np.eye(len(fitted)), gradient)
    threshold = float(np.quantile(off_topic_best(fitted), 1 - INJECTION_RATE))
    return Calibration(
        bias=float(fitted[0]) - threshold + _logit(DEFAULT_GATE),
        cosine_weight=float(fitted[1]),
        coverage_weight=float(fitted[2]),
        matched_weight=float(fitted[3]),
        source=source,
    )


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
    return replace(known, bias=known.bias - threshold + _logit(DEFAULT_GATE), source=source)


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

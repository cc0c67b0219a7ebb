"""The number that decides whether anything is shown."""

from __future__ import annotations

import numpy as np
import pytest

from ragloom import Calibration, ConfigError, SearchResult
from ragloom.retrieval.calibration import (
    fit_to_corpus,
    fit_to_pairs,
    read_calibration,
    write_calibration,
)
from ragloom.retrieval.relevance import (
    DEFAULT_CALIBRATION,
    LEXICAL_CALIBRATION,
    WordEvidence,
    relevance,
    word_evidence,
)


def of(cosine: float, coverage: float, matched: int) -> float:
    """The relevance on the default curve."""
    evidence = WordEvidence(coverage, matched)
    return relevance(DEFAULT_CALIBRATION, cosine=cosine, evidence=evidence)


def test_it_rises_with_each_kind_of_evidence() -> None:
    assert of(0.3, 0.5, 2) < of(0.4, 0.5, 2) < of(0.4, 0.9, 2) < of(0.4, 0.9, 3)
    assert 0 <= of(-1.0, 0.0, 0) < 0.001
    assert 0.999 < of(1.0, 1.0, 5) <= 1


def test_words_alone_need_most_of_the_query() -> None:
    some = relevance(LEXICAL_CALIBRATION, cosine=0.0, evidence=WordEvidence(0.5, 2))
    nearly_all = relevance(LEXICAL_CALIBRATION, cosine=0.0, evidence=WordEvidence(0.95, 4))
    assert some < 0.3 < nearly_all


def test_word_evidence_weighs_rare_words_more() -> None:
    weights = {"log": 1.0, "serilog": 3.0}

    assert word_evidence(weights, str.split, "log it") == (0.25, 1)
    assert word_evidence(weights, str.split, "serilog can log") == (1.0, 2)
    assert word_evidence(weights, str.split, "") == (0.0, 0)
    assert word_evidence({}, str.split, "log") == (0.0, 0)


def test_a_fit_puts_off_topic_queries_below_the_gate() -> None:
    random = np.random.default_rng(0)
    right = random.normal([0.6, 0.8, 1.2], 0.1, (300, 3))
    wrong = random.normal([0.3, 0.3, 0.5], 0.1, (900, 3))
    null = wrong.reshape(180, 5, 3)

    fitted = fit_to_pairs(
        np.vstack([right, wrong]),
        np.repeat([True, False], [300, 900]),
        lambda weights: (weights[0] + null @ weights[1:]).max(axis=1),
        source="made up",
    )

    def share(rows: np.ndarray) -> float:
        logits = fitted.bias + rows @ [
            fitted.cosine_weight,
            fitted.coverage_weight,
            fitted.matched_weight,
        ]
        return float((1 / (1 + np.exp(-logits)) >= 0.3).mean())

    assert share(wrong) < 0.02
    assert share(right) > 0.95


def test_a_calibration_is_kept_for_its_model_only(tmp_path) -> None:
    fitted = Calibration(
        bias=-1.5, cosine_weight=2.0, coverage_weight=3.0, matched_weight=0.5, source="made up"
    )
    write_calibration(tmp_path, "model-a", fitted)

    assert read_calibration(tmp_path, "model-a") == fitted
    assert read_calibration(tmp_path, "model-b") is None
    (tmp_path / "calibration.json").write_text("{", "utf-8")
    with pytest.raises(ConfigError, match="run 'ragloom calibrate' again"):
        read_calibration(tmp_path, "model-a")


def test_too_few_queries_fit_nothing() -> None:
    def nothing(query: str) -> SearchResult:
        return SearchResult(query=query, space="x")

    with pytest.raises(ConfigError, match="give 20 or more"):
        fit_to_corpus(DEFAULT_CALIBRATION, nothing, ["a"] * 30, source="x")

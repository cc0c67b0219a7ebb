"""Scores from evidence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom_templates.chunker import head_of_problem
from ragloom_templates.matching import CURVE

EVIDENCE = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)
THRESHOLD = 0.65


@given(EVIDENCE, st.integers(1, 100_000))
def test_scores_are_between_0_and_1_in_the_order_of_the_evidence(evidence, templates):
    shares = CURVE.shares(evidence)
    assert all(0 <= score <= 1 for score in [CURVE.fits(evidence, templates), *shares])
    ranked = [share for _, share in sorted(zip(evidence, shares, strict=True))]
    assert sorted(shares) == ranked


@given(st.floats(-20, 20), st.integers(10, 1_000))
def test_the_more_templates_the_less_the_same_evidence_says(best, templates):
    assert CURVE.fits([best], 2 * templates) <= CURVE.fits([best], templates)


def test_a_problem_that_the_library_is_about_passes_sooner_than_one_that_meets_a_single_template():
    alone = CURVE.fits([9.0, 1.0, 1.0, 1.0, 1.0], 134)
    among_its_like = CURVE.fits([9.0, 7.0, 7.0, 6.0, 6.0], 134)
    assert alone < THRESHOLD < among_its_like


@pytest.mark.parametrize("best", [-3.0, 9.0, 20.0])
def test_a_second_template_is_shown_by_its_gap_to_the_best_however_strong_that_is(best):
    first, near, far = CURVE.shares([best, best - 2, best - 6])
    assert far < THRESHOLD < near < first


def test_a_problem_is_named_and_described_by_itself():
    assert "Name: Fix it\nDescription: Fix it" == head_of_problem("Fix it")

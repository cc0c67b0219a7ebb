"""Scores from evidence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragloom_templates.chunker import head_of_problem
from ragloom_templates.everyday import clauses
from ragloom_templates.matching import CURVE, Evidence

NUMBER = st.floats(-1e6, 1e6)
THRESHOLD = 0.65


SPEAKING = ("chunk", "description", "beginning", "words", "answered")
FIELDS = (*SPEAKING, "nearness")


def evidence(count=1, **given):
    return Evidence(**{name: np.zeros(count) for name in FIELDS} | {"everyday": 0.0} | given)


@given(NUMBER, NUMBER, st.integers(1, 100), st.floats(0, 1e6))
def test_scores_are_between_0_and_1(total, nearness, templates, gap):
    found = evidence(templates, nearness=np.full(templates, nearness))
    sums = np.full(templates, total)
    assert 0 <= CURVE.fits(found, sums, np.arange(templates)) <= 1
    assert 0 <= CURVE.share(gap) <= 1


@given(st.floats(0, 100), st.floats(0, 100))
def test_the_further_behind_the_best_the_lower_the_score(gap, other):
    low, high = sorted([gap, other])
    assert CURVE.share(high) <= CURVE.share(low)


@given(st.floats(-20, 20), st.integers(10, 1_000))
def test_the_more_templates_the_less_the_same_evidence_says(best, templates):
    few, many = (
        CURVE.fits(evidence(n), np.full(n, best), np.arange(n)) for n in (templates, 2 * templates)
    )
    assert many <= few


def test_a_problem_that_the_library_is_about_passes_sooner_than_one_that_meets_a_single_template():
    sums, chosen = np.full(200, 9.0), np.arange(200)
    single = np.zeros(200)
    single[0] = 0.2
    alone = CURVE.fits(evidence(200, nearness=single), sums, chosen)
    among_its_like = CURVE.fits(evidence(200, nearness=np.full(200, 0.2)), sums, chosen)
    assert alone < among_its_like


def test_a_problem_of_every_day_passes_less_easily():
    sums, chosen = np.array([9.0]), np.arange(1)
    unusual, usual = (CURVE.fits(evidence(everyday=cosine), sums, chosen) for cosine in (0.2, 0.6))
    assert usual < unusual


def test_a_problem_that_several_descriptions_are_near_to_passes_sooner():
    sums, chosen = np.full(200, 9.0), np.arange(200)
    single = np.zeros(200)
    single[0] = 0.2
    alone = CURVE.fits(evidence(200, description=single), sums, chosen)
    among_its_like = CURVE.fits(evidence(200, description=np.full(200, 0.2)), sums, chosen)
    assert alone < among_its_like


@pytest.mark.parametrize("field", SPEAKING)
def test_each_kind_of_evidence_speaks_for_a_template(field):
    first, second = CURVE.sums(evidence(2, **{field: np.array([0.0, 1.0])}))
    assert first < second


def test_a_second_template_is_shown_by_its_gap_to_the_best():
    first, near, far = map(CURVE.share, (0.0, 2.0, 6.0))
    assert far < THRESHOLD < near < first


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        ("Fix it", ["Fix it"]),
        ("", [""]),
        ("Our site is slow, and I want it fast.", ["Our site is slow", "I want it fast"]),
        (
            "Hello! Please sum up this talk and name its books",
            ["Please sum up this talk", "name its books"],
        ),
    ],
)
def test_a_problem_has_clauses(problem, expected):
    assert expected == clauses(problem)


def test_a_problem_is_named_and_described_by_itself():
    assert "Name: Fix it\nDescription: Fix it" == head_of_problem("Fix it")

"""The number that decides whether anything is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ragloom import Calibration, ConfigError, SearchResult, Space
from ragloom.retrieval.calibration import (
    FEATURES,
    fit_to_corpus,
    fit_to_pairs,
    logits,
    read_calibration,
    with_gate_at,
    write_calibration,
)
from ragloom.retrieval.parsed_query import parse
from ragloom.retrieval.ranking import find_candidates, order
from ragloom.retrieval.relevance import (
    DEFAULT_CALIBRATION,
    LEXICAL_CALIBRATION,
    LITERAL_RELEVANCE,
    Evidence,
    weigh,
)
from ragloom.types import Mode

NOTHING = Calibration(bias=-20.0, cosine_weight=0.0, coverage_weight=0.0, source="made up")
MOST = "how do the gateway and the ledger and the violin agree"


@pytest.fixture
def space(files: Path, make_space: Callable[..., Space]) -> Space:
    """A note that says the most of ``MOST``, one that says some of it, and others."""
    texts = {
        "most": "The gateway asks the ledger, and the violin agrees.",
        "some": "A gateway is a door. The ledger is a book about money.",
        **{f"other-{number}": f"The weather of day {number} was fair." for number in range(9)},
    }
    for name, text in texts.items():
        (files / f"{name}.md").write_text(f"# Note\n\n{text}\n", "utf-8")
    space = make_space()
    space.index()
    return space


def weighed(
    space: Space, query: str, calibration: Calibration, mode: Mode = "lexical"
) -> dict[str, Evidence]:
    """The evidence for each note that is a candidate."""
    snapshot = space.snapshot()
    parsed, *_ = parse(query, snapshot, space.embedder)
    found = find_candidates(parsed, snapshot=snapshot, embedder=space.embedder, mode=mode)
    (ranking,) = order([found], mode)
    return {
        Path(snapshot.uris[snapshot.file_of_row[row]]).stem: weigh(
            parsed, found, np.array([row], np.intp), calibration
        )
        for row in ranking.rows.tolist()
    }


def test_it_rises_with_the_words_that_a_passage_shares_with_the_query(space: Space) -> None:
    found = weighed(space, MOST, LEXICAL_CALIBRATION)

    assert found["most"].coverage > found["some"].coverage > 0
    assert found["most"].matched > found["some"].matched
    assert found["most"].relevance > found["some"].relevance


def test_it_falls_with_the_share_of_words_that_stand_nowhere(space: Space) -> None:
    known = weighed(space, MOST, LEXICAL_CALIBRATION)["most"]
    unknown = weighed(space, f"{MOST} about XR-4711", LEXICAL_CALIBRATION)["most"]

    assert unknown.relevance < known.relevance


def test_words_alone_need_most_of_the_query(space: Space) -> None:
    found = weighed(space, f"{MOST} and the copper pump", LEXICAL_CALIBRATION)

    assert (
        found["some"].relevance < 0.3 < weighed(space, MOST, LEXICAL_CALIBRATION)["most"].relevance
    )


def test_each_weight_counts_its_feature(space: Space) -> None:
    query = f"{MOST} about XR-4711"
    hit = space.search(query, min_relevance=0.0).hits[0]
    assert hit.chunk.uri == "most.md"
    coverage = weighed(space, query, NOTHING, "hybrid")["most"].coverage[0]
    expected = {
        "cosine": hit.cosine,
        "agreement": 1.0,  # nearest, and best by words
        "coverage": coverage,
        "words": np.log1p(5),  # gateway, ledger, violin, agree, XR-4711
        "unknown": 1 - coverage,  # it holds every other word
    }

    def logit(name: str) -> float:
        alone = replace(NOTHING, bias=0.0, **{f"{name}_weight": 1.0})
        relevance = weighed(space, query, alone, "hybrid")["most"].relevance[0]
        return float(np.log(relevance / (1 - relevance)))

    assert {name: logit(name) for name in FEATURES} == pytest.approx(expected, abs=1e-6)


def test_what_a_query_names_is_relevant_on_any_curve(space: Space) -> None:
    assert weighed(space, "violin", NOTHING)["most"].relevance >= LITERAL_RELEVANCE
    assert weighed(space, "violin gateway", NOTHING)["most"].relevance >= LITERAL_RELEVANCE
    assert weighed(space, "violin gateway", NOTHING)["some"].relevance < 0.01
    assert weighed(space, MOST, NOTHING)["most"].relevance >= LITERAL_RELEVANCE
    beside = f"{MOST} and the copper pump"
    assert weighed(space, beside, NOTHING)["most"].relevance < 0.01


def test_words_of_a_sentence_are_no_coincidence_where_they_stand_in_a_row(space: Space) -> None:
    together = weighed(space, "what is a gateway asks?", NOTHING)
    assert together["most"].relevance >= LITERAL_RELEVANCE
    assert together.get("some") is None or together["some"].relevance < 0.01
    apart = weighed(space, "does the violin have a ledger?", NOTHING)
    assert apart["most"].relevance < 0.01


def test_lists_that_agree_on_a_passage_with_hardly_any_of_the_words_say_nothing(
    space: Space,
) -> None:
    agreeing = replace(NOTHING, bias=0.0, agreement_weight=9.0)
    rare = " ".join(f"xq{number}zz" for number in range(9))

    assert weighed(space, MOST, agreeing, "hybrid")["most"].relevance > 0.99
    found = weighed(space, f"violin {rare}", agreeing, "hybrid")["most"]
    assert found.coverage < 0.2
    assert found.relevance == pytest.approx(0.5)


def test_agreement_needs_a_cosine_above_that_of_unrelated_texts(space: Space) -> None:
    agreeing = replace(NOTHING, bias=0.0, agreement_weight=9.0)
    cosine = space.search(MOST, min_relevance=0.0).hits[0].cosine
    assert cosine is not None
    # Where unrelated texts have so much that this cosine is less than 0.4 of the way to 1.
    far = replace(agreeing, unrelated_cosine=(cosine - 0.35) / 0.65)
    near = replace(agreeing, unrelated_cosine=(cosine - 0.45) / 0.55)

    assert weighed(space, MOST, near, "hybrid")["most"].relevance > 0.99
    assert weighed(space, MOST, far, "hybrid")["most"].relevance < 0.99


def test_stop_words_alone_are_no_evidence(space: Space) -> None:
    assert all(
        found.relevance < 0.01 for found in weighed(space, "what are you?", NOTHING).values()
    )


def made_up() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Features of pairs that answer and of three times as many that do not."""
    random = np.random.default_rng(0)
    right = random.normal([0.6, 0.8, 0.8, 1.2, 0.0], 0.1, (300, 5))
    wrong = random.normal([0.3, 0.2, 0.3, 1.2, 0.2], 0.1, (900, 5))
    return np.vstack([right, wrong]), np.repeat([True, False], [300, 900])


def test_a_fit_tells_answers_from_others() -> None:
    features, answers = made_up()

    fitted = fit_to_pairs(features, answers, np.ones(1200), source="made up")

    assert ((logits(fitted, features) > 0) == answers).mean() > 0.99
    assert fitted.cosine_weight > 0
    assert fitted.coverage_weight > 0
    assert fitted.unknown_weight < 0


def test_both_classes_weigh_the_same() -> None:
    features, answers = made_up()
    again = np.vstack([features, features[~answers], features[~answers]])
    more = np.append(answers, np.zeros(1800, np.bool_))

    once = fit_to_pairs(features, answers, np.where(answers, 1.0, 3.0), source="made up")
    thrice = fit_to_pairs(again, more, np.ones(3000), source="made up")

    assert logits(once, features) == pytest.approx(logits(thrice, features))


def test_a_pair_of_no_weight_does_not_count() -> None:
    features, answers = made_up()
    stray = np.vstack([features, np.full((1, 5), 9.0)])
    weights = np.append(np.ones(1200), 0.0)

    without = fit_to_pairs(features, answers, np.ones(1200), source="made up")

    assert logits(without, features) == pytest.approx(
        logits(fit_to_pairs(stray, np.append(answers, False), weights, source="x"), features)
    )


def test_what_is_added_besides_is_not_fitted_again() -> None:
    features, answers = made_up()

    plain = fit_to_pairs(features, answers, np.ones(1200), source="made up")
    besides = fit_to_pairs(
        features, answers, np.ones(1200), offset=np.full(1200, 2.0), source="made up"
    )

    assert besides.bias == pytest.approx(plain.bias - 2)
    assert besides.cosine_weight == pytest.approx(plain.cosine_weight)


def test_a_fit_weighs_only_the_features_it_is_told() -> None:
    features, answers = made_up()

    fitted = fit_to_pairs(
        features, answers, np.ones(1200), used=("coverage", "words"), source="made up"
    )

    weights = {name: getattr(fitted, f"{name}_weight") for name in FEATURES}
    assert [name for name, weight in weights.items() if weight] == ["coverage", "words"]


def test_a_feature_that_is_always_the_same_harms_no_fit() -> None:
    features, answers = made_up()
    features[:, 1] = 0.0

    fitted = fit_to_pairs(features, answers, np.ones(1200), source="made up")

    assert fitted.agreement_weight == 0
    assert ((logits(fitted, features) > 0) == answers).mean() > 0.99


def test_the_gate_stands_where_it_is_put() -> None:
    features, _ = made_up()
    moved = with_gate_at(DEFAULT_CALIBRATION, 1.25)

    was, now = logits(DEFAULT_CALIBRATION, features), logits(moved, features)

    relevance = 1 / (1 + np.exp(-now))
    assert ((relevance >= 0.3) == (was >= 1.25)).all()


def test_a_calibration_is_kept_for_its_model_only(tmp_path) -> None:
    fitted = Calibration(
        bias=-1.5, cosine_weight=2.0, coverage_weight=3.0, words_weight=0.5, source="made up"
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

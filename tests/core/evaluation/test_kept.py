"""Evaluations that are kept, and compared later."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragloom import Workspace
from ragloom.config import Settings
from ragloom.evaluation.kept import FOLDER, keep_evaluation, kept_evaluations
from ragloom.evaluation.measures import Evaluation, GateReport

GATE = GateReport(
    min_relevance=0.3,
    off_topic=2,
    injected=1,
    answerable=2,
    kept=1,
    off_topic_relevance=(0.1, 0.4),
    answerable_relevance=(0.9, 0.2),
)
FOUND = Evaluation(
    collection="harbour",
    mode="hybrid",
    metrics={"ndcg@10": 0.8},
    by_query={f"q{number}": 0.8 for number in range(20)},
    run={},
    latency_ms=(1.0,),
    chunks=3,
    gate=GATE,
)


def test_the_last_of_each_collection_and_mode_is_kept(tmp_path):
    keep_evaluation(tmp_path, replace(FOUND, metrics={"ndcg@10": 0.1}))
    keep_evaluation(tmp_path, FOUND)
    keep_evaluation(
        tmp_path, replace(FOUND, mode="dense", by_query=dict.fromkeys(FOUND.by_query, 0.2))
    )
    (tmp_path / FOLDER / "torn.json").write_text("{", "utf-8")
    (tmp_path / FOLDER / "other.json").write_text('{"collection": "x"}', "utf-8")
    dense, hybrid = kept_evaluations(tmp_path)
    assert ("harbour", "hybrid", 0.8) == (hybrid.collection, hybrid.mode, hybrid.metrics["ndcg@10"])
    assert ([0.1, 0.4], [0.9, 0.2]) == (hybrid.off_topic, hybrid.answerable)
    assert {
        "min_relevance": 0.3,
        "off_topic": 2,
        "injected": 1,
        "answerable": 2,
        "kept": 1,
    } == hybrid.gate
    compared = hybrid.compare(dense)
    assert compared.difference == pytest.approx(0.6)
    assert compared.p_value < 0.001


def test_a_workspace_gives_them_and_has_none_at_first(tmp_path):
    from ragloom import PluginHost

    workspace = Workspace(tmp_path, settings=Settings(), host=PluginHost())
    assert [] == workspace.evaluations()
    assert [] == list(workspace.audit_log())
    workspace.make_state()
    keep_evaluation(workspace.state, FOUND)
    assert ["hybrid"] == [one.mode for one in workspace.evaluations()]

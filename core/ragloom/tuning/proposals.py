"""Propose settings by what a space's own documents say of them; nothing is written."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ragloom.config.settings import settings_file, with_values
from ragloom.evaluation.measures import Comparison
from ragloom.evaluation.own import OwnEvaluation
from ragloom.tuning.own_documents import FEWEST, Change, OwnReport, parse_change

if TYPE_CHECKING:
    from ragloom.space import Space
    from ragloom.workspace import Workspace

_SIGNIFICANT = 0.05
_GAIN = 0.01  # of nDCG@10, below which no proposal is worth a change
_GATES = tuple(round(0.05 * step, 2) for step in range(1, 19))
_GATE_GAIN = 0.06  # of the sum of what is silenced and what is answered falsely
_TRIED = (
    *("mode=rrf", "mode=lexical"),
    *("dense_weight=0.3", "dense_weight=0.45", "dense_weight=0.75"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A value that a setting should have.

    Attributes:
        key: The setting.
        value: To be written in ``ragloom.yaml``.
        why: The figures, in a line.
    """

    key: str
    value: object
    why: str


def tried(space: Space, *, reindex: bool = True) -> Sequence[Change]:
    """The changes that ``tune`` compares: of the order, and with ``reindex`` other chunkers."""
    labels = list(_TRIED)
    if reindex:
        offered = space.host.providers("chunkers")
        labels += [
            f"chunker={name}"
            for name in ("heading", "sentence", "token")
            if name in offered and name != space.settings.chunker.name
        ]
    changes = [parse_change(label) for label in labels]
    return [
        one
        for one in changes
        if with_values(space.settings, one.values, one.label) != space.settings
    ]


def proposals(report: OwnReport, space: Space) -> Sequence[Proposal]:
    """The change that gains most, and the gate that fits better; none where chance may explain it.

    Of several comparisons the p-values are corrected (Holm, "A Simple Sequentially Rejective Multiple Test
    Procedure", 1979).
    """
    found: list[Proposal] = []
    ordered = sorted(report.comparisons.items(), key=lambda item: item[1].p_value)
    kept: list[tuple[str, Comparison]] = []
    for place, (label, one) in enumerate(ordered):
        if one.p_value * (len(ordered) - place) >= _SIGNIFICANT:
            break
        if one.difference >= _GAIN:
            kept.append((label, one))
    if kept:
        label, best = max(kept, key=lambda item: item[1].difference)
        ((key, value),) = parse_change(label).values.items()
        why = f"nDCG@10 {best.difference:+.3f} on {report.queries} queries, p = {best.p_value:.4f}"
        found.append(Proposal(key=key, value=value, why=why))
    base = report.results[0]
    gate = _better_gate(base, space.settings.min_relevance)
    if gate is not None:
        found.append(gate)
    return found


def _better_gate(base: OwnEvaluation, now: float) -> Proposal | None:
    relevant, foreign = np.array(base.relevances), np.array(base.foreign_relevances)
    if min(len(relevant), len(foreign)) < FEWEST:
        return None

    def shares(gate: float) -> tuple[float, float]:
        return float((relevant < gate).mean()), float((foreign >= gate).mean())

    best = min(_GATES, key=lambda gate: (round(sum(shares(gate)), 4), abs(gate - now)))
    if sum(shares(now)) - sum(shares(best)) < _GATE_GAIN:
        return None
    before, after = shares(now), shares(best)
    why = (
        f"silenced {before[0]:.1%} -> {after[0]:.1%} of what is found, "
        f"false answers {before[1]:.1%} -> {after[1]:.1%}"
    )
    return Proposal(key="min_relevance", value=best, why=why)


def settings_diff(workspace: Workspace, space: Space, found: Sequence[Proposal]) -> str:
    """A unified diff of the settings file with the proposals; nothing is written."""
    import yaml

    file = workspace.settings.file
    path = file.path if file is not None else settings_file(workspace.root)
    before = path.read_text("utf-8") if file is not None else ""
    lines = before.splitlines()
    declared = space.name in workspace.settings.spaces
    for one in found:
        value = yaml.safe_dump(one.value, default_flow_style=True).removesuffix("...\n").strip()
        keys = ("spaces", space.name, one.key) if declared else (one.key,)
        line = file.lines.get(keys) if file is not None else None
        indent = "    " if declared else ""
        if line is not None:
            start = lines[line - 1]
            indent = start[: len(start) - len(start.lstrip())]
            lines[line - 1] = f"{indent}{one.key}: {value}"
        elif declared and file is not None:
            lines.insert(file.lines[("spaces", space.name)], f"{indent}{one.key}: {value}")
        else:
            lines.append(f"{one.key}: {value}")
    name = path.name
    diff = difflib.unified_diff(
        before.splitlines(), lines, f"a/{name}" if before else "/dev/null", f"b/{name}", lineterm=""
    )
    return "\n".join(diff)

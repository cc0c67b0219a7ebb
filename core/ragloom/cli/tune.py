"""``ragloom tune``, and the part of ``ragloom eval`` that judges a space by its own documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import click
import numpy as np

from ragloom.cli import (
    Command,
    Session,
    json_option,
    on_one_line,
    print_json,
    print_table,
    progress,
)

if TYPE_CHECKING:
    from ragloom.evaluation.measures import Comparison
    from ragloom.evaluation.own import OwnEvaluation
    from ragloom.space import Space
    from ragloom.tuning.own_documents import Change, OwnReport
    from ragloom.types import Json, Progress

_HEADS = (
    *("settings", "nDCG@10", "recall@10", "silenced", "false answers", "p50 ms"),
    "against the first",
)


@click.command(
    "tune",
    cls=Command,
    epilog="""\b
Examples:
  ragloom tune
  ragloom tune docs --no-reindex      only settings that need no other index
  ragloom tune docs --json""",
)
@click.argument("space", default="")
@click.option(
    "--queries",
    type=click.IntRange(min=20),
    default=200,
    show_default=True,
    help="The most queries to make.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the choice of queries.")
@click.option(
    "--reindex/--no-reindex",
    default=True,
    help="Try other chunkers, too, which are indexed below .ragloom/eval.",
)
@json_option
@click.pass_obj
def command(
    session: Session, *, space: str, queries: int, seed: int, reindex: bool, as_json: bool
) -> None:
    """Propose settings by what the documents of SPACE say of them; nothing is changed.

    The queries are those of 'ragloom eval --own'. A setting is proposed where it gains a point of nDCG@10
    or more at p < 0.05, corrected for all comparisons, and a gate where it fits better. The result is a
    diff of the settings file.
    """
    from ragloom.tuning.own_documents import report_json
    from ragloom.tuning.proposals import proposals, settings_diff, tried

    chosen = _space(session, space or None)
    report = _report(session, chosen, tried(chosen, reindex=reindex), limit=queries, seed=seed)
    found = proposals(report, chosen)
    diff = settings_diff(session.workspace(), chosen, found) if found else ""
    if as_json:
        proposed = [{"key": one.key, "value": one.value, "why": one.why} for one in found]
        print_json(cast("Json", {**report_json(report), "proposals": proposed, "diff": diff}))
        return
    _print(report)
    for one in found:
        session.note(f"{one.key}: {one.why}")
    if found:
        click.echo(diff)
        session.note(
            "nothing was changed: ask some questions of your own with it, then apply the diff, and run "
            "'ragloom index'"
        )
    else:
        session.note("nothing to propose: no setting gains a point of nDCG@10 at p < 0.05")


def evaluate_space(
    session: Session,
    name: str | None,
    compare: Sequence[str],
    *,
    limit: int,
    seed: int,
    as_json: bool,
) -> None:
    """Print what the documents of a space say of it, and of other settings."""
    from ragloom.tuning.own_documents import parse_change, report_json

    changes = [parse_change(text) for text in compare]
    report = _report(session, _space(session, name), changes, limit=limit, seed=seed)
    if as_json:
        print_json(cast("Json", report_json(report)))
        return
    _print(report)
    first = report.results[0]
    kinds = ", ".join(f"{kind} {value:.3f} of {n}" for kind, (value, n) in first.by_kind.items())
    click.echo(f"nDCG@10 by kind: {kinds}")
    session.note(
        f"{report.queries} queries, seed {report.seed}; false answers to {report.foreign_of}"
    )
    if first.misses:
        click.echo("worst misses:")
    for miss in first.misses:
        place = f"rank {miss.rank}" if miss.rank else "not found"
        said = f"  {place}: {miss.query!r} ({miss.kind}, {miss.found_at}) -> {miss.answer}"
        click.echo(on_one_line(said))
        click.echo(on_one_line(f"    {miss.why}"))


def _space(session: Session, name: str | None) -> Space:
    from ragloom.cli._spaces import choose_spaces

    found = choose_spaces(session.workspace(), name)
    if len(found) > 1:
        names = ", ".join(one.name for one in found)
        raise click.UsageError(f"several spaces: name one of {names}")
    return found[0]


def _report(
    session: Session, space: Space, changes: Sequence[Change], *, limit: int, seed: int
) -> OwnReport:
    from ragloom.tuning.own_documents import evaluate_own_documents

    with _meters(session) as meter:
        return evaluate_own_documents(
            session.workspace(), space, changes, limit=limit, seed=seed, progress=meter
        )


@contextmanager
def _meters(session: Session) -> Iterator[Callable[[str], Progress | None]]:
    """One bar after another, each until the next begins."""
    from contextlib import ExitStack

    with ExitStack() as bars:

        def begin(label: str) -> Progress | None:
            bars.close()
            return bars.enter_context(progress(session, label))

        yield begin


def _print(report: OwnReport) -> None:
    rows = [_row(one, report.comparisons.get(one.label)) for one in report.results]
    print_table(_HEADS, rows)


def _row(one: OwnEvaluation, versus: Comparison | None) -> list[str]:
    return [
        *(one.label, f"{one.ndcg:.4f}", f"{one.recall:.4f}"),
        f"{one.silenced} of {one.answerable}",
        f"{one.false} of {one.foreign}",
        f"{float(np.percentile(one.latency_ms, 50)):.1f}",
        f"{versus.difference:+.4f}, p = {versus.p_value:.4f}" if versus else "",
    ]

"""``ragloom explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, print_table
from ragloom.cli._options import Spaces, per_file_option, query_options, space_options

if TYPE_CHECKING:
    from ragloom.explain import HitExplanation
    from ragloom.retrieval.query import Query
    from ragloom.types import Json

_COLUMNS = ["passage", "rank", "by meaning", "by words", "relevance", "cosine", "words", "verdict"]


@click.command(
    "explain",
    cls=Command,
    epilog="""\b
Examples:
  ragloom explain "How do I log errors?"
  ragloom explain "How do I log errors?" --expect docs/logging.md
  ragloom explain "How do I log errors?" --max-tokens 800""",
)
@query_options
@per_file_option
@click.option("--expect", metavar="PATH", help="A file that should be found.")
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(min=1),
    help="Explain 'ragloom context' with this budget: hits that do not fit are omitted.",
)
@space_options()
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    query: Query,
    expect: str | None,
    max_tokens: int | None,
    spaces: Spaces,
    as_json: bool,
) -> None:
    """Explain the hits of QUERY: ranks, relevance, evidence, and whether each is shown.

    Each line has the fused rank, the rank by meaning and by words, the relevance, and the verdict.
    The index is not brought up to date.
    """
    space, *others = spaces()
    if others:
        names = ", ".join(one.name for one in (space, *others))
        message = f"several spaces; choose one with --space NAME: {names}"
        raise click.UsageError(message, click.get_current_context())
    told = space.explain(query, expect=expect, max_tokens=max_tokens)
    if as_json:
        print_json(
            {
                "query": told.query,
                "words": list(told.words),
                "candidates": told.candidates,
                "min_relevance": told.min_relevance,
                "calibration": told.calibration,
                "hits": [_as_json(item) for item in told.hits],
                "expected": [_as_json(item) for item in told.expected],
                "reason": told.reason,
            }
        )
        return
    print_table(_COLUMNS, [_row(item, told.min_relevance) for item in told.hits])
    if expect is not None and told.expected:
        session.note(f"expected {expect}:")
        print_table(_COLUMNS, [_row(item, told.min_relevance) for item in told.expected])
    session.note(f"relevance: {told.calibration}", dim=True)
    if told.reason:
        session.note(told.reason)


def _row(item: HitExplanation, least: float) -> list[str]:
    from ragloom.retrieval.nothing import below

    hit = item.hit
    return [
        f"{hit.chunk.uri}:{hit.chunk.lines.start}",
        str(item.rank),
        "-" if item.dense_rank is None else str(item.dense_rank),
        "-" if item.lexical_rank is None else str(item.lexical_rank),
        below(hit.relevance, least)[0],
        "-" if hit.cosine is None else f"{hit.cosine:.2f}",
        f"{item.evidence.matched} ({item.evidence.coverage:.0%})",
        item.verdict,
    ]


def _as_json(item: HitExplanation) -> dict[str, Json]:
    from ragloom.context.citations import hit_json

    scores = ("path", "start_line", "end_line", "score", "relevance", "cosine", "lexical")
    return {
        "rank": item.rank,
        "dense_rank": item.dense_rank,
        "lexical_rank": item.lexical_rank,
        **hit_json(item.hit, *scores),
        "matched": item.evidence.matched,
        "coverage": item.evidence.coverage,
        "verdict": item.verdict,
    }

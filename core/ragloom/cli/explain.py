"""``ragloom explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, print_table
from ragloom.cli._options import query_options, space_option

if TYPE_CHECKING:
    from ragloom.explain import HitExplanation
    from ragloom.types import Condition, Json, Mode

__all__ = ["command"]


@click.command(
    "explain",
    cls=Command,
    short_help="Show why a passage is found, or why it is not.",
    epilog="""\b
Examples:
  ragloom explain "How do I log errors?"
  ragloom explain "How do I log errors?" --expect docs/logging.md
  ragloom explain "How do I log errors?" --max-tokens 800""",
)
@click.argument("query")
@click.option("--expect", metavar="PATH", help="A file that should have been found.")
@query_options
@click.option(
    "--max-tokens",
    metavar="N",
    type=click.IntRange(min=1),
    help="Explain 'ragloom context' with this budget: what it has no room for is cut.",
)
@space_option
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    query: str,
    expect: str | None,
    top_k: int | None,
    min_relevance: float | None,
    mode: Mode | None,
    where: tuple[Condition, ...],
    max_tokens: int | None,
    space_name: str | None,
    as_json: bool,
) -> None:
    """Show what speaks for each hit of QUERY, and what keeps others away.

    Each line gives the place in the order, by meaning and by words, the relevance, and the
    verdict. The index is asked as it is.
    """
    from ragloom.cli._spaces import choose_space
    from ragloom.retrieval.query import Query

    asked = Query(query, top_k=top_k, min_relevance=min_relevance, mode=mode, where=where)
    space = choose_space(session.workspace(), space_name, ())
    told = space.explain(asked, expect=expect, max_tokens=max_tokens)
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
    columns = (
        "passage",
        "rank",
        "by meaning",
        "by words",
        "relevance",
        "cosine",
        "words",
        "verdict",
    )
    print_table(columns, [_row(item) for item in told.hits])
    if expect is not None and told.expected:
        session.note(f"expected {expect}:")
        print_table(columns, [_row(item) for item in told.expected])
    session.note(f"relevance: {told.calibration}", dim=True)
    if told.reason:
        session.note(told.reason)


def _row(item: HitExplanation) -> list[str]:
    hit = item.hit
    return [
        f"{hit.chunk.uri}:{hit.chunk.lines.start}",
        str(item.rank),
        "-" if item.dense_rank is None else str(item.dense_rank),
        "-" if item.lexical_rank is None else str(item.lexical_rank),
        f"{hit.relevance:.2f}",
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

"""``ragloom explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import (
    Command,
    OutputPath,
    Session,
    json_option,
    on_one_line,
    print_json,
    print_table,
)
from ragloom.cli._options import Spaces, per_file_option, query_options, space_options
from ragloom.cli._session import is_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragloom.explain import HitExplanation
    from ragloom.retrieval.query import Query
    from ragloom.space import Space
    from ragloom.types import Json

_COLUMNS = ["passage", "rank", "by meaning", "by words", "relevance", "cosine", "words", "verdict"]


@click.command(
    "explain",
    cls=Command,
    epilog="""\b
Examples:
  ragloom explain "How do I log errors?"
  ragloom explain "How do I log errors?" --expect docs/logging.md
  ragloom explain "How do I log errors?" docs/
  ragloom explain "How do I log errors?" --max-tokens 800
  ragloom explain "How do I log errors?" --html explained.html   to attach to an issue""",
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
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=OutputPath(),
    help="Write all of it into one page, which loads nothing, instead of a table.",
)
@space_options(paths=True)
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    query: Query,
    expect: str | None,
    max_tokens: int | None,
    page: Path | None,
    spaces: Spaces,
    as_json: bool,
) -> None:
    """Explain the hits of QUERY: ranks, relevance, evidence, and whether each is shown.

    A hit has its rank, its verdict and its place, and below them the relevance, the cosine, the ranks by
    meaning and by words, and the words that it shares with QUERY. PATHs are those of 'ragloom search'.
    The index is not brought up to date.
    """
    space, *others = spaces()
    if others:
        names = ", ".join(one.name for one in (space, *others))
        message = f"several spaces; choose one with --space NAME: {names}"
        raise click.UsageError(message, click.get_current_context())
    told = space.explain(query, expect=expect, max_tokens=max_tokens)
    if page is not None:
        from ragloom.cli._explain_page import explain_page

        page.write_text(explain_page(told, space, expect), "utf-8")
        session.note(f"written: {page}")
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
    if page is not None:
        return
    _print(told.hits, told.min_relevance, space)
    if expect is not None and told.expected:
        click.echo(on_one_line(f"expected {expect}:"))
        _print(told.expected, told.min_relevance, space)
    session.note(f"relevance: {told.calibration}", dim=True)
    if told.reason:
        click.echo(on_one_line(told.reason))


def _print(items: Sequence[HitExplanation], least: float, space: Space) -> None:
    """Two lines for each hit on a terminal; elsewhere one line, with tabs."""
    if not is_terminal():
        print_table(_COLUMNS, [_row(item, least) for item in items])
        return
    from shutil import get_terminal_size

    from ragloom.cli._passages import shown_path
    from ragloom.cli._places import clipped, end_of

    width = max(get_terminal_size().columns, 40)
    for item in items:
        row = _row(item, least)
        place = on_one_line(
            f"{shown_path(item.hit.chunk.uri, space.root)}:{item.hit.chunk.lines.start}"
        )
        _, rank, meaning, by_words, relevance, cosine, shared, verdict = row
        said = clipped(on_one_line(verdict), max(width // 2, width - len(place) - 8))
        shown = verdict == "shown"
        head = click.style(f"{rank:>4}", dim=True)
        where = click.style(end_of(place, width - 8 - len(said)), bold=shown)
        click.echo(f"{head}  {where}  {click.style(said, fg='green' if shown else 'yellow')}")
        told = (
            f"relevance {relevance}, cosine {cosine}, by meaning {meaning}, by words {by_words}, "
            f"words {shared}"
        )
        click.echo(click.style(f"      {clipped(told, width - 7)}", dim=not shown))


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

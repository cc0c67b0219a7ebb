"""``ragloom search``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, search_json
from ragloom.cli._options import (
    part_options,
    query_options,
    refresh_option,
    reranker_option,
    space_option,
)
from ragloom.cli._session import is_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragloom.space import Space
    from ragloom.space_group import SpaceGroup
    from ragloom.types import Condition, Mode, SearchResult

__all__ = ["bring_up_to_date", "command"]

_PATIENCE = 2.0  # seconds that a search waits for another run before it asks the last index
_WIDEST = 110


@click.command(
    "search",
    cls=Command,
    short_help="Find the passages that answer a question.",
    epilog="""\b
Examples:
  ragloom search "How do I log errors?" docs/
  ragloom search "retry policy" --where "path under docs/adr" --where status=accepted
  ragloom search getVectorStore --mode lexical -k 20
  ragloom search "who may deploy?" --json | jq -r '.hits[].path'
  vim -q <(ragloom search "error budget" docs/)""",
)
@click.argument("query")
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path())
@space_option
@query_options
@refresh_option
@part_options
@reranker_option
@json_option
@click.pass_obj
def command(  # noqa: PLR0913 - one parameter an option
    session: Session,
    *,
    query: str,
    paths: tuple[str, ...],
    space_name: str | None,
    top_k: int | None,
    min_relevance: float | None,
    mode: Mode | None,
    where: tuple[Condition, ...],
    refresh: bool,
    store: str | None,
    embedder: str | None,
    chunker: str | None,
    reranker: str | None,
    as_json: bool,
) -> None:
    """Find the passages that answer a question, best first.

    The index is brought up to date first. Without PATHs all spaces of the settings are asked as
    one, or else those that were indexed before, or the whole workspace.

    On a terminal a hit shows its relevance, its place, its headings and the passage; elsewhere it
    is one line that begins with path:line. Nothing found is no error: stderr says why.
    """
    from ragloom.cli._spaces import choose_spaces, with_parts
    from ragloom.retrieval.query import Query
    from ragloom.space_group import SpaceGroup

    asked = Query(query, top_k=top_k, min_relevance=min_relevance, mode=mode, where=where)

    chosen = choose_spaces(session.workspace(), space_name, paths)
    parts = {"store": store, "embedder": embedder, "chunker": chunker, "reranker": reranker}
    with SpaceGroup(with_parts(space, **parts) for space in chosen) as group:
        if refresh:
            bring_up_to_date(session, group.spaces)
        result = group.search(asked)
        if as_json:
            print_json(search_json(result))
        else:
            _print_hits(session, group, result)
    if result.reason:
        nothing = "" if result.hits else "no hits: "
        more = "; show it with --min-relevance 0" if result.closest else ""
        session.note(f"{nothing}{result.reason}{more}")


def bring_up_to_date(session: Session, spaces: Sequence[Space]) -> None:
    """Index what changed; where an index is held for long or cannot be written, ask it as it is."""
    from ragloom.errors import RagloomError

    for space in spaces:
        try:
            _bring_up_to_date(session, space)
        except RagloomError as error:
            if len(spaces) == 1:
                raise
            session.warn(f"{space.name}: not up to date: {error}")


def _bring_up_to_date(session: Session, space: Space) -> None:
    from ragloom.cli._refresh import refresh, summary
    from ragloom.errors import StoreLockedError

    indexed = space.generation > 0
    try:
        report = refresh(session, space, timeout=_PATIENCE if indexed else None)
    except (StoreLockedError, OSError) as error:
        if not indexed:
            raise
        why = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
        session.warn(f"{why}; the last index answers meanwhile")
        return
    if report.added or report.updated or report.removed:
        session.note(f"indexed {summary(report)}", dim=True)
    if report.failed:
        number = len(report.failed)
        session.warn(f"{number} of the files could not be indexed: 'ragloom index' says why")


def _print_hits(session: Session, group: SpaceGroup, result: SearchResult) -> None:
    from ragloom.cli._passages import line_of, lines_of, marker, shown_path

    root = group.spaces[0].root
    if not is_terminal():
        for hit in result.hits:
            click.echo(line_of(hit, shown_path(hit.chunk.uri, root)))
        return
    from shutil import get_terminal_size

    if not result.hits:
        return
    # Words are analysed alike everywhere.
    lexical = group.holder(result.hits[0]).snapshot().lexical
    mark = marker(lexical.query_terms(result.query), lexical.stems)
    width = min(get_terminal_size().columns, _WIDEST)
    for number, hit in enumerate(result.hits):
        if number:
            click.echo()
        path = shown_path(hit.chunk.uri, root)
        for line in lines_of(hit, path, mark, width=width, scores=session.verbosity > 0):
            click.echo(line)

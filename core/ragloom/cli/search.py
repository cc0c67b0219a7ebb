"""``ragloom search``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, search_json
from ragloom.cli._options import (
    SHOW_ALL,
    Spaces,
    per_file_option,
    query_options,
    refresh_option,
    space_options,
)
from ragloom.cli._session import is_terminal

if TYPE_CHECKING:
    from ragloom.retrieval.query import Query
    from ragloom.space_group import SpaceGroup
    from ragloom.types import SearchResult

_WIDEST = 110  # columns
_BY_SCORE = (
    "ordered by score (see --json); the number is the relevance, which decides what is shown"
)


@click.command(
    "search",
    cls=Command,
    epilog="""\b
Examples:
  ragloom search "How do I log errors?" docs/
  ragloom search "sampling" docs/logging.md
  ragloom search "retry policy" --where "path under docs/adr" --where status=accepted
  ragloom search getVectorStore --mode lexical -k 20
  ragloom search "who may deploy?" --json | jq -r '.hits[].path'
  vim -q <(ragloom search "error budget" docs/)""",
)
@query_options
@per_file_option
@refresh_option
@space_options("store", "embedder", "chunker", "reranker", paths=True)
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    query: Query,
    refresh: bool,
    spaces: Spaces,
    as_json: bool,
) -> None:
    """Search the files for passages that answer QUERY, best first.

    The index is brought up to date first. PATHs inside a space limit the search to these files and folders;
    others make a space of their own. Without PATHs, all spaces of the settings are searched
    together; without spaces in the settings, every index of 'ragloom status'; without one, the
    whole workspace.

    On a terminal a hit shows its relevance, its path and lines, its headings and the best matching
    lines of the passage; elsewhere it is one line that begins with path:line. A text that stands in
    several places is shown once, and of one file at most --per-file hits. Without a hit, the exit code
    is 0 and stderr gives the reason.
    """
    from ragloom.cli._refresh import bring_up_to_date, note_pending, note_unchecked
    from ragloom.retrieval.nothing import why_empty
    from ragloom.space_group import SpaceGroup

    with SpaceGroup(spaces()) as group:
        if refresh:
            bring_up_to_date(session, group.spaces)
        result = group.search(query)
        if as_json:
            print_json(search_json(result))
        else:
            if result.searched_for:
                session.note(f"searched for: {result.searched_for}")
            _print_hits(session, group, result)
    note_pending(session, result.pending)
    note_unchecked(session, checked=result.checked)
    if result.reason:
        nothing = "" if result.hits else "no hits: "
        session.note(f"{nothing}{why_empty(result, SHOW_ALL)}")
    relevances = [round(hit.relevance, 2) for hit in result.hits]
    if not as_json and relevances != sorted(relevances, reverse=True):
        session.note(_BY_SCORE, dim=True)


def _print_hits(session: Session, group: SpaceGroup, result: SearchResult) -> None:
    from ragloom.cli._passages import QueryWords, line_of, lines_of, shown_path

    if not result.hits:
        return

    def shown(uri: str) -> str:
        return shown_path(uri, group.spaces[0].root)

    # Words are analysed alike everywhere.
    lexical = group.holder(result.hits[0]).snapshot().lexical
    words = QueryWords.of(result.searched_for or result.query, lexical)
    if not is_terminal():
        for hit in result.hits:
            click.echo(line_of(hit, shown(hit.chunk.uri), words, shown))
        return
    from shutil import get_terminal_size

    width = min(get_terminal_size().columns, _WIDEST)
    for number, hit in enumerate(result.hits):
        if number:
            click.echo()
        path, scores = shown(hit.chunk.uri), session.verbosity > 0
        for line in lines_of(hit, path, words, width=width, scores=scores, shown=shown):
            click.echo(line)

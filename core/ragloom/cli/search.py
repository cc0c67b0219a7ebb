"""``ragloom search``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, search_json
from ragloom.cli._edge import OK
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
    from ragloom.context.query_words import QueryWords
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
  ragloom search "error budget" docs/ -o 1
  vim -q <(ragloom search "error budget" docs/)""",
)
@query_options
@per_file_option
@refresh_option
@click.option(
    "--full", is_flag=True, help="In a pipe, print the whole passage on the line of its hit."
)
@click.option(
    "-o",
    "opened",
    metavar="N",
    type=click.IntRange(min=1),
    help="Open the Nth hit in $VISUAL or $EDITOR, at its best line.",
)
@click.option("--open", "opened", flag_value=1, help="Open the first hit, as -o 1.")
@space_options("store", "embedder", "chunker", "reranker", paths=True)
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    query: Query,
    refresh: bool,
    full: bool,
    opened: int | None,
    spaces: Spaces,
    as_json: bool,
) -> int:
    """Search the files for passages that answer QUERY, best first.

    The index is brought up to date first. PATHs inside a space limit the search to these files and folders;
    others make a space of their own. Without PATHs, all spaces of the settings are searched
    together; without spaces in the settings, every index of 'ragloom status'; without one, the
    whole workspace.

    On a terminal a hit shows its relevance, its path and lines, its headings and the best matching
    lines of the passage; elsewhere it is one line of at most 160 columns that begins with path:line, the
    best line. A text that stands in several places is shown once, and of one file at most --per-file
    hits. Without a hit, the exit code is 0 and stderr gives the reason.
    """
    from ragloom.cli._refresh import bring_up_to_date, note_pending, note_unchecked
    from ragloom.retrieval.nothing import why_empty
    from ragloom.space_group import SpaceGroup

    with SpaceGroup(spaces()) as group:
        if refresh:
            bring_up_to_date(session, group.spaces)
        result = group.search(query)
        if opened is not None and result.hits:
            return _open(group, result, opened)
        if as_json:
            print_json(search_json(result))
        else:
            if result.searched_for:
                session.note(f"searched for: {result.searched_for}")
            _print_hits(session, group, result, full=full)
    note_pending(session, result.pending)
    note_unchecked(session, checked=result.checked)
    if result.reason:
        nothing = "" if result.hits else "no hits: "
        session.note(f"{nothing}{why_empty(result, SHOW_ALL)}")
    relevances = [round(hit.relevance, 2) for hit in result.hits]
    if not as_json and relevances != sorted(relevances, reverse=True):
        session.note(_BY_SCORE, dim=True)
    return OK


def _words(group: SpaceGroup, result: SearchResult) -> QueryWords:
    from ragloom.context.query_words import QueryWords

    # Words are analysed alike everywhere.
    lexical = group.holder(result.hits[0]).snapshot().lexical
    return QueryWords.of(result.searched_for or result.query, lexical)


def _open(group: SpaceGroup, result: SearchResult, number: int) -> int:
    """Open a hit in the user's editor; the editor's exit code."""
    import subprocess

    from ragloom.cli._passages import best_line
    from ragloom.cli._places import editor_command
    from ragloom.config.spelling import counted

    if number > len(result.hits):
        message = f"-o {number}: the query has {counted(len(result.hits), 'hit')}"
        raise click.UsageError(message, click.get_current_context())
    chunk = result.hits[number - 1].chunk
    path = group.spaces[0].root / chunk.uri
    command = editor_command(path, best_line(chunk, _words(group, result)))
    try:
        return subprocess.run(command, check=False).returncode  # noqa: S603 - the user's own editor
    except OSError as error:
        message = f"the editor {command[0]!r} cannot be started: {error.strerror}"
        raise click.UsageError(message, click.get_current_context()) from error


def _print_hits(session: Session, group: SpaceGroup, result: SearchResult, *, full: bool) -> None:
    from ragloom.cli._passages import COLUMNS_IN_A_PIPE, Look, line_of, lines_of, shown_path
    from ragloom.cli._places import place_url

    if not result.hits:
        return
    root = group.spaces[0].root

    def shown(uri: str) -> str:
        return shown_path(uri, root)

    words = _words(group, result)
    if not is_terminal():
        columns = None if full else COLUMNS_IN_A_PIPE
        for hit in result.hits:
            click.echo(line_of(hit, shown(hit.chunk.uri), words, shown, columns=columns))
        return
    from shutil import get_terminal_size

    look = Look(
        width=min(get_terminal_size().columns, _WIDEST),
        scores=session.verbosity > 0,
        shown=shown,
        # Where there are no colours there are no links.
        link=None if session.color is False else lambda uri, line: place_url(root / uri, line),
    )
    for number, hit in enumerate(result.hits):
        if number:
            click.echo()
        for line in lines_of(hit, shown(hit.chunk.uri), words, look):
            click.echo(line)

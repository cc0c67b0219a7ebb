"""``ragloom mcp``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from threading import Event, Thread
from typing import TYPE_CHECKING, cast

import click

from ragloom import IndexReport, MissingDependencyError, RagloomError
from ragloom.cli import (
    Command,
    Session,
    complete_spaces,
    completes,
    failures,
    stdout_for_protocol,
)
from ragloom.config import counted
from ragloom_mcp.access import listen
from ragloom_mcp.listening import Asked, access_options, announce, import_quickly, run

if TYPE_CHECKING:
    from ragloom import Space
    from ragloom_mcp.shelf import Shelf


def _agents(session: Session) -> Iterable[str]:
    workspace = session.workspace()
    spaces = workspace.host.spaces_of("agents", workspace)
    return sorted(cast("Mapping[str, object]", spaces or {}))


_STEP = 5.0  # seconds of embedding between two looks at the files


@click.command(
    "mcp",
    cls=Command,
    short_help="Serve the indexes to MCP clients.",
    epilog="""\b
Examples:
  ragloom mcp --space docs
  ragloom mcp --agent awscli --index
  ragloom mcp --http --no-watch     answer from the last index
  ragloom mcp --http --host 0.0.0.0 --token-file token --allow-host docs.example.org
  claude mcp add docs -- ragloom mcp --space docs""",
)
@click.option(
    "--agent",
    metavar="ID",
    shell_complete=completes(_agents),
    help="Serve the documents of this agent, and nothing else.",
)
@click.option(
    "-s",
    "--space",
    metavar="NAME",
    shell_complete=complete_spaces,
    help="Serve this space, and nothing else.",
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP instead of stdio.")
@access_options("RAGLOOM_MCP_TOKEN")
@click.option("--index", is_flag=True, help="Bring what is served up to date first.")
@click.option(
    "--watch/--no-watch",
    default=True,
    help="Keep what is served up to date while files change (the default), or serve it as it is.",
)
@click.pass_obj
def serve(
    session: Session,
    *,
    agent: str | None,
    space: str | None,
    http: bool,
    asked: Asked,
    index: bool,
    watch: bool,
) -> None:
    """Serve the indexes to MCP clients, over stdio until the client closes it, or over HTTP.

    The tools are rag_search, list_spaces and read_source. Without --agent or --space, every space of the
    workspace is served, and the tools lesson_query, lesson_capture and lesson_outcome are offered where
    knowledge.tools in ragloom.yaml is true; lessons are searched only where knowledge.serve is. The
    templates of the workspace are served as prompts, and found by the tool find_template. Files that change
    are indexed while it runs, and a new index answers from the next call on.
    """
    if find_spec("mcp") is None:
        raise MissingDependencyError("mcp", "ragloom[mcp]", "the command 'ragloom mcp'")
    if agent is not None and space is not None:
        raise click.UsageError("give --agent or --space, not both", click.get_current_context())
    if asked.any and not http:
        raise click.UsageError(
            "--host, --token-file, --allow-host and --allow-origin are for --http",
            click.get_current_context(),
        )
    access = asked.access() if http else None
    import_quickly("ragloom_mcp.server")
    shelf = _chosen(session, agent, space, indexing=watch)
    if index:
        names = shelf.names()
        for name in names:
            try:
                report = shelf.space(name).index()
            except RagloomError as error:
                if len(names) == 1:
                    raise
                session.warn(f"{name}: not up to date: {error}")
                continue
            _note(session, name, report)
    from ragloom_mcp.lesson_tools import lesson_tools
    from ragloom_mcp.server import http_app, serve_stdio
    from ragloom_mcp.template_tools import served_templates, template_tools

    more = lesson_tools(session.workspace()) if agent is None and space is None else {}
    templates = served_templates(session.workspace()) if agent is None and space is None else None
    more = {**more, **template_tools(templates)}

    # Its own spaces: a model is used from one thread at a time.
    choose = partial(_chosen, session, agent, space, indexing=watch)
    watching = _watched(session, shelf, choose) if watch else nullcontext()
    if access is None:
        with watching, stdout_for_protocol() as stdout:
            serve_stdio(shelf, more, templates, stdout)
        return
    with listen(asked.port, asked.host) as listener, watching:
        announce(session, listener, access, "/mcp")
        run(http_app(shelf, more, templates), listener, access)


def _note(session: Session, name: str, report: IndexReport) -> None:
    session.note(f"{name}: {counted(report.chunks, 'chunk')}, {report.embedded} embedded")


@contextmanager
def _watched(session: Session, shelf: Shelf, choose: Callable[[], Shelf]) -> Iterator[None]:
    """Index what is on the shelf, in a thread, as its files change.

    What another machine indexes (``check_files: false``) is left alone.
    """
    over = Event()
    shelf.indexing = True
    for name in shelf.names():
        if not shelf.space(name).generation:
            session.note(
                f"{name}: nothing is indexed yet; it answers by words as soon as files are read"
            )

    def spaces() -> list[Space]:
        own = choose()
        found = [own.space(name) for name in own.names()]
        return [one for one in found if one.settings.check_files]

    from ragloom import Space, watch_spaces

    def run() -> None:
        shown: dict[str, IndexReport] = {}
        for name, found in watch_spaces(
            spaces, partial(Space.index, seconds=_STEP), wait=over.wait
        ):
            if isinstance(found, Exception):
                session.warn(f"{name}: not up to date: {found}")
                shelf.failed[name] = str(found)
                continue
            shelf.failed.pop(name, None)
            failures(session, found, shown.get(name))
            shown[name] = found
            _note(session, name, found)

    Thread(target=run, daemon=True).start()  # an index run may end at any moment
    try:
        yield
    finally:
        over.set()


def _chosen(session: Session, agent: str | None, space: str | None, *, indexing: bool) -> Shelf:
    from ragloom_mcp.shelf import agent_shelf, space_shelf, workspace_shelf

    workspace = session.workspace()
    if agent is not None:
        return agent_shelf(workspace, agent)
    if space is not None:
        return space_shelf(workspace, space)
    return workspace_shelf(workspace, indexing=indexing)

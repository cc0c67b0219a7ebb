"""``ragloom mcp``."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom import MissingDependencyError, RagloomError
from ragloom.cli import Command, Session
from ragloom.spelling import counted

if TYPE_CHECKING:
    from ragloom_mcp.shelf import Shelf

__all__ = ["serve"]

_PORT = 8765


@click.command(
    "mcp",
    cls=Command,
    short_help="Serve the indexes to MCP clients.",
    epilog="""\b
Examples:
  ragloom mcp --space docs
  ragloom mcp --agent awscli --index
  claude mcp add docs -- ragloom mcp --space docs""",
)
@click.option("--agent", metavar="ID", help="Serve the documents of this agent, and nothing else.")
@click.option("-s", "--space", metavar="NAME", help="Serve this space, and nothing else.")
@click.option("--http", is_flag=True, help="Serve streamable HTTP on 127.0.0.1 instead of stdio.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=_PORT,
    show_default=True,
    help="The port for --http; 0 is any that is free.",
)
@click.option("--index", is_flag=True, help="Bring what is served up to date first.")
@click.pass_obj
def serve(
    session: Session, *, agent: str | None, space: str | None, http: bool, port: int, index: bool
) -> None:
    """Serve the indexes to MCP clients, over stdio until the client goes, or over HTTP.

    The tools are rag_search, list_spaces and read_source. Without --agent or --space, every space of the
    workspace is served; lessons only where knowledge.serve in ragloom.yaml is true. A newly published
    index answers from the next call on.
    """
    if find_spec("mcp") is None:
        raise MissingDependencyError("mcp", "ragloom[mcp]", "the command 'ragloom mcp'")
    if agent is not None and space is not None:
        raise click.UsageError("give --agent or --space, not both", click.get_current_context())
    shelf = _chosen(session, agent, space)
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
            session.note(f"{name}: {counted(report.chunks, 'chunk')}, {report.embedded} embedded")
    from ragloom_mcp.server import LOOPBACK, listen, serve_http, serve_stdio

    if not http:
        serve_stdio(shelf)
        return
    with listen(port) as listener:
        session.note(f"serving http://{LOOPBACK}:{listener.getsockname()[1]}/mcp")
        serve_http(shelf, listener)


def _chosen(session: Session, agent: str | None, space: str | None) -> Shelf:
    from ragloom_mcp.shelf import agent_shelf, space_shelf, workspace_shelf

    workspace = session.workspace()
    if agent is not None:
        return agent_shelf(workspace, agent, Path(session.config) if session.config else None)
    return workspace_shelf(workspace) if space is None else space_shelf(workspace, space)

"""``ragloom serve``."""

from __future__ import annotations

from importlib.util import find_spec

import click

from ragloom import MissingDependencyError
from ragloom.cli import Command, Session, complete_spaces
from ragloom_mcp.access import listen
from ragloom_mcp.listening import Asked, access_options, announce, import_quickly, run


@click.command(
    "serve",
    cls=Command,
    short_help="Serve the indexes to a team over HTTP.",
    epilog="""\b
Examples:
  ragloom serve                     http://127.0.0.1:8765, for this machine
  ragloom serve --space docs --port 9000
  ragloom serve --host 0.0.0.0 --token-file token --allow-host docs.example.org
  curl 'http://127.0.0.1:8765/search?query=logging'""",
)
@click.option(
    "-s",
    "--space",
    "names",
    metavar="NAME",
    shell_complete=complete_spaces,
    multiple=True,
    help="Serve this space; may be repeated.",
)
@access_options("RAGLOOM_SERVE_TOKEN")
@click.pass_obj
def serve(session: Session, *, names: tuple[str, ...], asked: Asked) -> None:
    """Serve the indexes read-only to a team: MCP at /mcp, and an HTTP API.

    /search and /context answer queries, /health and /metrics are for whoever operates it, /openapi.json
    describes all of it. /v1/vector_stores/SPACE/search and /v1/embeddings answer clients of OpenAI. The
    server indexes nothing: 'ragloom index' or 'ragloom watch' in another process does, and the next request
    is answered from what it published.
    """
    if find_spec("mcp") is None:
        raise MissingDependencyError("mcp", "ragloom[serve]", "the command 'ragloom serve'")
    access = asked.access()
    import_quickly("ragloom_serve.app")
    from ragloom_mcp.shelf import chosen_shelf

    shelf = chosen_shelf(session.workspace(), names)
    with listen(asked.port, asked.host) as listener:
        from ragloom_serve.app import team_app

        empty = [name for name in shelf.names() if not shelf.space(name).generation]
        if empty or not shelf.names():
            spaces = f" in {', '.join(empty)}" if empty else ""
            session.note(f"nothing is indexed{spaces} yet: run 'ragloom index'")
        announce(session, listener, access)
        run(team_app(shelf), listener, access)

"""``ragloom ui``."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import urlencode

import click

from ragloom import MissingDependencyError
from ragloom.cli import Command, Session, complete_spaces
from ragloom_mcp.access import address_of, listen
from ragloom_mcp.listening import import_quickly, serve_until_stopped


@click.command(
    "ui",
    cls=Command,
    short_help="Look at the indexes in a browser.",
    epilog="""\b
Examples:
  ragloom ui
  ragloom ui "How do I log errors?" --space docs
  ragloom ui --no-browser --port 8766""",
)
@click.argument("query", required=False)
@click.option(
    "-s",
    "--space",
    metavar="NAME",
    shell_complete=complete_spaces,
    help="The space to begin with; the first by default.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="The port; any that is free by default.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@click.pass_obj
def ui(
    session: Session, *, query: str | None, space: str | None, port: int, no_browser: bool
) -> None:
    """Open a page for the indexes, with QUERY if one is given, until Ctrl-C.

    Its address is the first line on stdout. It has a token that is good for one browser; the server
    listens on 127.0.0.1 only, and the page loads nothing from elsewhere. Searches are those of
    'ragloom search', and are in the audit log; nothing is indexed.
    """
    for module in ("starlette", "uvicorn"):
        if find_spec(module) is None:
            raise MissingDependencyError(module, "ragloom[web]", "the command 'ragloom ui'")
    import_quickly("ragloom_web.app")
    from ragloom_mcp.shelf import workspace_shelf
    from ragloom_web.app import page_app
    from ragloom_web.guard import PageGuard

    workspace = session.workspace()
    shelf = workspace_shelf(workspace)
    if space is not None:
        shelf.space(space)  # or an error that names the others
    with listen(port) as listener:
        guard = PageGuard(page_app(workspace, shelf), listener.getsockname()[1])
        asked = {"token": guard.token, "space": space or "", "q": query or ""}
        url = f"{address_of(listener)}/?{urlencode({k: v for k, v in asked.items() if v})}"
        click.echo(url)
        if not any(shelf.space(name).generation for name in shelf.names()):
            session.note("nothing is indexed yet: run 'ragloom index'")
        if not no_browser:
            click.launch(url)
        serve_until_stopped(guard, listener)

"""``ragloom install`` and ``ragloom uninstall``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom import ConfigError
from ragloom.cli import Command, Session, json_option, print_json
from ragloom_install.clients import CLIENTS, Client

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ragloom_install.changes import Change
    from ragloom_install.plan import Target


def _complete(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=client.title)
        for name, client in CLIENTS.items()
        if name.startswith(incomplete)
    ]


_AGENTS = click.argument(
    "agents",
    metavar="[AGENT]...",
    nargs=-1,
    type=click.Choice(list(CLIENTS)),
    shell_complete=_complete,
)
_USER = click.option("--user", is_flag=True, help="For all projects of yours: in your home folder.")
_YES = click.option("-y", "--yes", is_flag=True, help="Write every file without asking.")
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show the changes, and write nothing.")


@click.command(
    "install",
    cls=Command,
    short_help="Attach ragloom to the coding agents of a project.",
    epilog="""\b
Examples:
  ragloom install                     the agents whose files are here, asking for each file
  ragloom install claude-code codex --dry-run
  ragloom install cursor --user --yes
  ragloom uninstall""",
)
@_AGENTS
@_USER
@_YES
@_DRY_RUN
@click.option(
    "--command",
    metavar="WORDS",
    help="What starts the MCP server, such as 'uvx ragloom[mcp] mcp'; 'ragloom mcp' by default.",
)
@json_option
@click.pass_obj
def install(
    session: Session,
    *,
    agents: tuple[str, ...],
    user: bool,
    yes: bool,
    dry_run: bool,
    command: str | None,
    as_json: bool,
) -> int:
    """Write the MCP server, a skill and a section of the instructions for coding agents.

    AGENTs are claude-code, codex, cursor, vscode, opencode and gemini; by default those whose files are in
    the project, or else in your home folder. Each change is shown before it is written. Comments, order and
    other servers stay; 'ragloom uninstall' takes back exactly what was written.
    """
    from ragloom_install.changes import apply
    from ragloom_install.clients import used_in
    from ragloom_install.plan import installing, own_command

    target = _target(session, user=user)
    words = shlex.split(command) if command else own_command()
    if not words:
        raise click.UsageError("--command names nothing to start", click.get_current_context())
    clients = [CLIENTS[name] for name in dict.fromkeys(agents)] or used_in(target.root, _home())
    if not clients:
        raise ConfigError(f"no coding agent found: name some of {', '.join(CLIENTS)}")
    changes = installing(target, clients, words)
    record = target.loaded()
    written = _offered(session, target, changes, yes=yes, dry_run=dry_run, as_json=as_json)
    for change in written:
        apply(change, target.root, record)
    _report(session, target, clients, changes, written, dry_run=dry_run, as_json=as_json)
    return 0 if dry_run or len(written) == len(changes) else 1


@click.command(
    "uninstall",
    cls=Command,
    short_help="Take back what 'ragloom install' wrote.",
    epilog="""\b
Examples:
  ragloom uninstall
  ragloom uninstall codex --dry-run
  ragloom uninstall --user --yes""",
)
@_AGENTS
@_USER
@_YES
@_DRY_RUN
@json_option
@click.pass_obj
def uninstall(
    session: Session,
    *,
    agents: tuple[str, ...],
    user: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Take ragloom away from coding agents again; from all that it was attached to, by default.

    A file that is as 'ragloom install' left it gets its old bytes back. Of one that was changed since, only
    the MCP server and the marked section are taken out, and a skill that was changed stays.
    """
    from ragloom_install.changes import forget, take_back
    from ragloom_install.plan import installed, uninstalling

    target = _target(session, user=user)
    record = target.loaded()
    clients = [CLIENTS[name] for name in dict.fromkeys(agents)] or installed(target, record)
    changes = uninstalling(target, clients or list(CLIENTS.values()), record)
    written = _offered(session, target, changes, yes=yes, dry_run=dry_run, as_json=as_json)
    for change in written:
        take_back(change, target.root, record)
    if not dry_run:
        forget([name for name in record.steps if not (target.root / name).exists()], record)
    _report(session, target, clients, changes, written, dry_run=dry_run, as_json=as_json)
    return 0 if dry_run or len(written) == len(changes) else 1


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None


def _target(session: Session, *, user: bool) -> Target:
    from ragloom.config import user_folder
    from ragloom_install.plan import Target

    if user:
        if (home := _home()) is None:
            raise ConfigError("your home folder is not known: set HOME")
        return Target(root=home, user=True, record=user_folder("state") / "install.json")
    session.name_workspace()
    root = Path(session.folder).resolve()
    if not root.is_dir():
        raise ConfigError(f"{session.folder}: there is no such folder")
    return Target(root=root, user=False, record=root / ".ragloom" / "install.json")


def _offered(
    session: Session,
    target: Target,
    changes: Sequence[Change],
    *,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> list[Change]:
    """The changes that are to be written, after they were shown."""
    chosen: list[Change] = []
    asks = sys.stdin.isatty() and sys.stderr.isatty() and not as_json
    for change in changes:
        shown = change.path.relative_to(target.root).as_posix()
        if not as_json and not session.quiet:
            diff = _colored(change.diff(shown))
            click.echo(diff, err=not dry_run, color=session.color, nl=False)
        if dry_run:
            continue
        if yes or (asks and click.confirm(f"Write {shown}?", default=True, err=True)):
            chosen.append(change)
    if changes and not (yes or dry_run or asks):
        session.warn("nothing was written, as nobody can be asked here: --yes writes it")
    return chosen


def _colored(diff: str) -> str:
    colors = {"+": "green", "-": "red", "@": "cyan"}
    return "".join(
        click.style(line, fg=colors.get(line[:1])) for line in diff.splitlines(keepends=True)
    )


def _report(
    session: Session,
    target: Target,
    clients: Sequence[Client],
    changes: Sequence[Change],
    written: Sequence[Change],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    if as_json:
        from ragloom_install.changes import json_of

        values = [
            {"written": change in written, **json_of(change, target.root)} for change in changes
        ]
        print_json({"agents": [client.name for client in clients], "changes": values})
        return
    titles = ", ".join(client.title for client in clients)
    if not changes:
        session.note(f"nothing to change{f' for {titles}' if titles else ''}")
    elif written:
        files = ", ".join(change.path.relative_to(target.root).as_posix() for change in written)
        session.note(f"{titles}: wrote {files}" if titles else f"wrote {files}")
    elif dry_run:
        session.note("nothing was written, as --dry-run says")

"""``ragloom trust``."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, print_table
from ragloom.cli._edge import FAILED
from ragloom.errors import UntrustedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragloom.sources.trust import Grant
    from ragloom.types import Json, Permission
    from ragloom.workspace import Workspace


@click.command(
    "trust",
    cls=Command,
    epilog="""\b
Examples:
  ragloom trust
  ragloom trust --yes --json
  ragloom trust --list
  ragloom trust --revoke
  RAGLOOM_TRUST=1 ragloom index""",
)
@click.argument("folder", required=False, type=click.Path())
@click.option("--yes", is_flag=True, help="Grant without asking, as a script does.")
@click.option("--list", "listed", is_flag=True, help="List what was granted, by folder.")
@click.option("--revoke", is_flag=True, help="Revoke what was granted to FOLDER.")
@json_option
@click.pass_obj
def command(
    session: Session, *, folder: str | None, yes: bool, listed: bool, revoke: bool, as_json: bool
) -> None:
    """Show what the settings of a project ask for beyond its folder, and grant it.

    FOLDER is the workspace, the current folder by default. Its ragloom.yaml, agents.yaml and .ragloom may
    name paths outside of it, services, databases, code and models of a hub only when you trust them.
    Where one of these files changes later, it needs your trust again. Settings of your own, variables and
    options of a command need none; RAGLOOM_TRUST=1 trusts every workspace.
    """
    if sum((listed, revoke, yes)) > 1:
        raise click.UsageError("--yes, --list and --revoke exclude each other")
    if listed:
        _list(as_json=as_json)
        return
    if folder is not None:
        session.folder = folder
    if revoke:
        _revoke(session, as_json=as_json)
        return
    from ragloom.workspace import Workspace

    workspace = Workspace.unchecked(session.folder, config=session.config, host=session.host())
    asked = workspace.permissions()
    missing = set(workspace.trust.missing(asked))
    if not as_json:
        _show(session, workspace, asked, missing)
    if missing and (yes or _agrees(as_json=as_json)):
        workspace.trust.grant(asked)
        missing.clear()
        session.note(f"{workspace.root}: trusted", dim=True)
    if as_json:
        values = [_json(one, granted=one not in missing) for one in asked]
        print_json({"folder": str(workspace.root), "trusted": not missing, "permissions": values})
    if missing:
        click.get_current_context().exit(FAILED)


def _show(
    session: Session, workspace: Workspace, asked: Sequence[Permission], missing: set[Permission]
) -> None:
    root = workspace.root
    if not asked:
        session.note(f"{root}: its settings ask for nothing beyond it")
        return
    if not missing:
        session.note(f"{root}: trusted; 'ragloom trust --revoke' revokes it")
    rows = [
        (_beside(one, root), one.key, _shown(one), one.reason, "" if one in missing else "granted")
        for one in asked
    ]
    print_table(("place", "setting", "value", "asks for", ""), rows)


def _agrees(*, as_json: bool) -> bool:
    """Whether the user says yes, where there is one to ask."""
    if as_json:
        return False
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UntrustedError(
            "there is no terminal to ask on: 'ragloom trust --yes' grants all of it"
        )
    return click.confirm("Do you trust these settings?", err=True)


def _list(*, as_json: bool) -> None:
    from ragloom.sources.trust import grants

    found = list(grants())
    if as_json:
        print_json([_grant_json(grant) for grant in found])
        return
    rows = [(grant.folder, grant.file, grant.time, one) for grant in found for one in grant.shown]
    print_table(("folder", "file", "granted", "setting"), rows)


def _revoke(session: Session, *, as_json: bool) -> None:
    from ragloom.sources.trust import Trust

    root = Path(os.path.realpath(session.folder))  # it may be gone
    revoked = Trust(root).revoke()
    if as_json:
        print_json({"folder": str(root), "revoked": revoked})
    else:
        session.note(f"{root}: {'trust revoked' if revoked else 'was not trusted'}")


def _beside(permission: Permission, root: Path) -> str:
    return permission.place.removeprefix(f"{root}{os.sep}")


def _shown(permission: Permission) -> str:
    from ragloom.sources.trust import hidden

    shown = hidden(permission.key, permission.value)
    leads = permission.target and not shown.endswith(permission.target)
    return f"{shown} -> {permission.target}" if leads else shown


def _json(permission: Permission, *, granted: bool) -> Json:
    from ragloom.sources.trust import hidden

    return {
        "place": permission.place,
        "key": permission.key,
        "value": hidden(permission.key, permission.value),
        "reason": permission.reason,
        "target": permission.target,
        "granted": granted,
    }


def _grant_json(grant: Grant) -> Json:
    return {
        "folder": grant.folder,
        "file": grant.file,
        "time": grant.time,
        "permissions": list(grant.shown),
    }

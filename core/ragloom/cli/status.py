"""``ragloom status``."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, print_table
from ragloom.cli._edge import FAILED, OK
from ragloom.cli._options import space_option

if TYPE_CHECKING:
    from ragloom.status import SpaceStatus
    from ragloom.types import Json


@click.command(
    "status",
    cls=Command,
    epilog="""\b
Examples:
  ragloom status
  ragloom status --space docs --json | jq '.[0].changed'""",
)
@space_option("Only this space.")
@json_option
@click.pass_obj
def command(session: Session, *, space_name: str | None, as_json: bool) -> int:
    """Show each index: files, chunks, size, age, changed files, sources and components.

    It opens neither store nor model.
    """
    from ragloom.cli._output import size, span_of_time
    from ragloom.cli._spaces import choose_spaces
    from ragloom.errors import RagloomError

    workspace = session.workspace()
    names = [space_name] if space_name else workspace.spaces()
    known: list[SpaceStatus] = []
    code = OK
    for name in names:
        (space,) = choose_spaces(workspace, name)
        try:
            known.append(space.status())
        except RagloomError as error:  # a damaged space does not hide the others
            session.warn(f"{name}: {error}")
            code = FAILED
            continue
        try:
            known[-1] = space.status(changes=True)
        except RagloomError as error:  # nor does a missing source
            session.warn(f"{name}: {error}")
    if as_json:
        print_json([_as_json(status) for status in known])
        return code
    if not names:
        session.note("nothing is indexed yet: run 'ragloom index' or 'ragloom search QUERY PATH'")
        return code
    print_table(
        ("space", "files", "chunks", "size", "age", "changes", "sources", "components"),
        [
            (
                status.name,
                str(status.files),
                str(status.chunks),
                size(status.bytes),
                span_of_time(time.time() - status.created) if status.generation else "never",
                _since(status),
                " ".join(status.settings.sources),
                " ".join(_components(status).values()),
            )
            for status in known
        ],
    )
    return code


def _components(status: SpaceStatus) -> dict[str, str]:
    kinds = ("chunker", "embedder", "store")
    return {kind: getattr(status.settings, kind).name for kind in kinds}


def _since(status: SpaceStatus) -> str:
    changes = status.drift
    if changes is None:
        return "unknown"
    if not status.generation:
        return "not indexed yet"
    counts = {
        "not indexed": changes.added,
        "changed": changes.changed,
        "deleted": changes.removed,
    }
    return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "up to date"


def _as_json(status: SpaceStatus) -> Json:
    created = datetime.fromtimestamp(status.created, UTC) if status.generation else None
    changed: Json = None
    if (drift := status.drift) is not None:
        changed = {"added": drift.added, "updated": drift.changed, "removed": drift.removed}
    return {
        "space": status.name,
        "sources": list(status.settings.sources),
        "generation": status.generation,
        "files": status.files,
        "chunks": status.chunks,
        "bytes": status.bytes,
        "created": created.isoformat(timespec="seconds") if created else None,
        "changed": changed,
        **_components(status),
    }

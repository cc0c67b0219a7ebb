"""``ragloom audit``."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ragloom.cli import Command, Session, json_option, print_json, print_table
from ragloom.cli._options import space_option

if TYPE_CHECKING:
    from ragloom.types import Json


@click.command(
    "audit",
    cls=Command,
    epilog="""\b
Examples:
  ragloom audit
  ragloom audit -n 100 --space docs --empty
  ragloom audit --operation index --operation repair
  ragloom audit --since 2026-01-31 --json | jq .milliseconds""",
)
@click.option(
    "-n",
    "--last",
    metavar="N",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    help="Maximum number of entries, the latest; 0 for all.",
)
@space_option("Only entries of this space.")
@click.option(
    "--operation",
    "operations",
    type=click.Choice(("search", "context", "index", "repair", "verify")),
    multiple=True,
    help="Only entries of this operation. Repeatable.",
)
@click.option(
    "--query", "words", metavar="TEXT", help="Only entries whose query contains this text."
)
@click.option(
    "--path", "path", metavar="TEXT", help="Only entries with a hit whose path contains this text."
)
@click.option("--empty", is_flag=True, help="Only searches without a hit.")
@click.option(
    "--since",
    metavar="TIME",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"]),
    help="Only entries since this day or time, in UTC.",
)
@json_option
@click.pass_obj
def command(
    session: Session,
    *,
    last: int,
    space_name: str | None,
    operations: tuple[str, ...],
    words: str | None,
    path: str | None,
    empty: bool,
    since: datetime | None,
    as_json: bool,
) -> None:
    """Show the audit log of searches, contexts, index, repair and verify runs, oldest first.

    With --json, each line is one object. The setting 'audit' holds the path of the log, its
    maximum size, and whether it contains queries. It has no index runs that changed nothing.
    """
    from ragloom.audit import log_of, read_log

    log = log_of(session.workspace())
    settings = log.settings
    start = since.replace(tzinfo=UTC).isoformat(timespec="milliseconds") if since else ""
    records = deque(
        (
            record
            for record in read_log(log.path)
            if (space_name is None or record.get("space") == space_name)
            and (not operations or record.get("operation") in operations)
            and (words is None or words.casefold() in _text(record, "query").casefold())
            and (path is None or any(path in found for found in _paths(record)))
            and not (empty and record.get("hits", True))
            and _text(record, "time") >= start
        ),
        maxlen=last or None,
    )
    if as_json:
        for record in records:
            print_json(record)
        return
    print_table(
        ("time", "operation", "space", "query", "hits", "tokens", "ms", "result"),
        [_row(one) for one in records],
    )
    if not records:
        off = "" if settings.enabled else "; 'audit: {enabled: false}' disables the log"
        session.note(f"no matching entry in {settings.path}{off}")


def _row(record: Mapping[str, Json]) -> Sequence[str]:
    paths, tokens = _paths(record), record.get("tokens")
    figures = record.get("report")
    changes = figures.items() if isinstance(figures, Mapping) else ()
    return (
        _text(record, "time")[:19],
        _text(record, "operation"),
        _text(record, "space"),
        _text(record, "query") or _text(record, "query_sha256")[:12],
        str(len(paths)) if "hits" in record else "",
        "" if tokens is None else str(tokens),
        str(record.get("milliseconds", "")),
        ", ".join(dict.fromkeys(paths))
        or _text(record, "reason")
        or ", ".join(f"{value} {name}" for name, value in changes if value),
    )


def _text(record: Mapping[str, Json], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _paths(record: Mapping[str, Json]) -> list[str]:
    hits = record.get("hits")
    found = hits if isinstance(hits, list) else ()
    return [_text(hit, "path") for hit in found if isinstance(hit, dict)]

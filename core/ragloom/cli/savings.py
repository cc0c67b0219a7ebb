"""``ragloom savings``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragloom.cli._group import Command
from ragloom.cli._options import json_option
from ragloom.cli._output import print_json, print_table
from ragloom.cli._session import Session

if TYPE_CHECKING:
    from ragloom.types import Json

__all__ = ["command"]


@dataclass(slots=True)
class _Sum:
    answers: int = 0
    given: int = 0
    whole: int = 0


@click.command(
    "savings",
    cls=Command,
    short_help="Compare the tokens given with those of whole files.",
    epilog="""\b
Examples:
  ragloom savings
  ragloom savings --since 2026-01-01 --json""",
)
@click.option(
    "--since", metavar="DATE", type=click.DateTime(), help="Only entries from then on, UTC."
)
@json_option
@click.pass_obj
def command(session: Session, *, since: datetime | None, as_json: bool) -> None:
    """Compare the tokens of passages with those of the files they came from, by the audit log.

    The tokens of a context are those that it had; those of a search are the lines of its hits. These,
    and those of files, are estimated from the files as they are now; answers whose files are gone are not
    counted.
    """
    from ragloom.audit import log_of, read_log

    workspace = session.workspace()
    log = log_of(workspace)
    start = since.replace(tzinfo=UTC).isoformat(timespec="milliseconds") if since else ""
    sums: dict[str, _Sum] = {}
    tokens_by_line = cache(_tokens_by_line)
    for record in read_log(log.path):
        operation = record.get("operation")
        if operation not in ("search", "context") or str(record.get("time", "")) < start:
            continue
        spans = _spans(record)
        files = {path: tokens_by_line(workspace.root / path) for path, _, _ in spans}
        if not spans or not all(files.values()):
            continue
        tokens = record.get("tokens")
        lines = {(path, line) for path, first, last in spans for line in range(first, last + 1)}
        shown = sum(sum(files[path][line - 1 : line]) for path, line in lines)
        one = sums.setdefault(str(operation), _Sum())
        one.answers += 1
        one.given += tokens if isinstance(tokens, int) else shown
        one.whole += sum(map(sum, files.values()))
    if as_json:
        print_json([_json(name, sums[name]) for name in sorted(sums)])
        return
    rows = [
        (name, str(one.answers), f"{one.given:,}", f"{one.whole:,}", f"{_saved(one):.0%}")
        for name, one in sorted(sums.items())
    ]
    print_table(("operation", "answers", "tokens given", "tokens of files", "saved"), rows)
    if not sums:
        session.note(f"no answer in {log.settings.path} whose files are there")


def _spans(record: Mapping[str, Json]) -> Sequence[tuple[str, int, int]]:
    hits = record.get("hits")
    found: list[tuple[str, int, int]] = []
    for hit in hits if isinstance(hits, list) else ():
        if isinstance(hit, dict):
            path, first, last = (hit.get(key) for key in ("path", "start_line", "end_line"))
            if isinstance(path, str) and isinstance(first, int) and isinstance(last, int):
                found.append((path, first, last))
    return found


def _tokens_by_line(path: Path) -> Sequence[int]:
    """An estimate of the tokens of each line; none of a file that cannot be read."""
    from ragloom.text.chunks import line_starts
    from ragloom.text.decoding import read_regular
    from ragloom.text.token_estimate import estimate

    try:
        text = read_regular(path).decode("utf-8", "replace")
    except OSError:
        return ()
    edges = [*line_starts(text), len(text)]
    return [estimate(text[start:end]) for start, end in pairwise(edges)]


def _saved(one: _Sum) -> float:
    return 1 - one.given / one.whole if one.whole else 0.0


def _json(name: str, one: _Sum) -> dict[str, Json]:
    return {
        "operation": name,
        "answers": one.answers,
        "tokens_given": one.given,
        "tokens_of_files": one.whole,
        "saved": round(_saved(one), 4),
    }

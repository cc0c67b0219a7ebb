"""Results on stdout: stable JSON, tables for people, tab-separated lines for programs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ragloom.cli._session import Session, is_terminal, on_one_line, printable
from ragloom.types import Json, SearchResult

__all__ = [
    "print_json",
    "print_result",
    "print_table",
    "print_text",
    "search_json",
    "size",
    "span_of_time",
]

_KILO = 1024
_NARROWEST = 12  # columns in which a folded cell is readable


def print_json(value: Json) -> None:
    """Print one value on one line, so that several make JSON Lines.

    Raises:
        ValueError: A number in it is not finite.
    """
    import json

    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(value, ensure_ascii=not unicode, allow_nan=False), color=True)


def print_result(session: Session, value: Json, line: str, *, as_json: bool) -> None:
    """Print ``value`` as JSON, or ``line`` unless ``--quiet`` is given."""
    if as_json:
        print_json(value)
    elif not session.quiet:
        click.echo(line)


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table on a terminal; elsewhere a line for each row, with tabs and no heading.

    Where the terminal is too narrow, each row is a block of lines, one for each cell.
    """
    if not is_terminal():
        for row in rows:
            click.echo("\t".join(on_one_line(cell) for cell in row))
        return
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    context = click.get_current_context(silent=True)
    console = Console(no_color=context is not None and context.color is False, highlight=False)
    widest = [
        max(cell_len(on_one_line(cell)) for cell in cells)
        for cells in zip(columns, *rows, strict=True)
    ]
    if widest[0] + sum(min(width, _NARROWEST) + 2 for width in widest[1:]) > console.width:
        for row in rows:
            click.echo(click.style(on_one_line(row[0]), bold=True))
            for column, cell in zip(columns[1:], row[1:], strict=True):
                click.echo(f"  {column}: {on_one_line(cell)}".rstrip())
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(on_one_line(cell)) for cell in row))
    console.print(table)


def print_text(text: str, *, nl: bool = True) -> None:
    """Print a text; on a terminal with control characters made visible."""
    click.echo(printable(text) if is_terminal() else text, nl=nl)


def search_json(result: SearchResult) -> Json:
    """What ``ragloom search --json`` prints."""
    from ragloom.context.citations import closest_json, hit_json

    return {
        "query": result.query,
        "searched_for": result.searched_for,
        "pending": result.pending,
        "checked": result.checked,
        "space": result.space,
        "reason": result.reason,
        "closest": closest_json(result),
        "hits": [{"rank": rank, **hit_json(hit)} for rank, hit in enumerate(result.hits, 1)],
    }


def size(count: int) -> str:
    """Bytes in the largest unit that fits, such as ``3.4 MB``."""
    number = float(count)
    for unit in ("B", "kB", "MB"):
        if number < _KILO:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= _KILO
    return f"{number:.1f} GB"


def span_of_time(seconds: float) -> str:
    """Seconds in the largest unit that fits, such as ``5 min``."""
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"

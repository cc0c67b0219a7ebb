"""Places in files: as text of a width, as links of a terminal, and in an editor."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import click

__all__ = ["clipped", "editor_command", "end_of", "hyperlink", "place_url", "wrapped"]

_WORD = re.compile(r"(?<!\s)\s*+\S++")

_AT_LINE = {
    **dict.fromkeys(("code", "codium", "vscodium", "cursor", "windsurf"), ("-g", "{file}:{line}")),
    **dict.fromkeys(("subl", "zed", "zeditor", "hx", "helix"), ("{file}:{line}",)),
    **dict.fromkeys(
        ("idea", "pycharm", "goland", "webstorm", "clion"), ("--line", "{line}", "{file}")
    ),
    **dict.fromkeys(("notepad", "open", "xdg-open"), ("{file}",)),
}
_AS_VI = ("+{line}", "{file}")  # vi, vim, nvim, emacs, emacsclient, nano, micro, kak, joe, gedit
_SCHEMES = {"code": "vscode", "codium": "vscodium", "cursor": "cursor", "zed": "zed"}
"""Editors that open addresses of their own."""


def clipped(text: str, columns: int, end: str = "…") -> str:
    """``text`` in at most so many columns of a terminal, with ``end`` where something is missing."""
    if text.isascii() and len(text) <= columns:
        return text
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= columns:
        return text
    return set_cell_size(text, columns - cell_len(end)).rstrip() + end


def end_of(text: str, columns: int) -> str:
    """The end of ``text``, where a path has its name and titles the nearest, in at most so many columns."""
    from rich.cells import cell_len

    if cell_len(text) <= columns:
        return text
    while text and cell_len(text) > columns - 1:
        text = text[1:]
    return f"…{text}"


def wrapped(line: str, width: int, narrower: int) -> list[str]:
    """``line`` where it fits into ``width`` columns, otherwise rows of ``narrower`` columns at most."""
    from rich.cells import cell_len, chop_cells

    if cell_len(line) <= width:
        return [line]
    rows, row, used = list[str](), "", 0
    for word in _WORD.findall(line):
        columns = cell_len(word)
        if row and used + columns > narrower:
            rows.append(row)
            row, used = "", 0
            word, columns = word.lstrip(), cell_len(word.lstrip())  # noqa: PLW2901
        if columns > narrower:  # a long word, or a script without spaces
            *whole, word = chop_cells(word, narrower)  # noqa: PLW2901
            rows += whole
            columns = cell_len(word)
        row, used = row + word, used + columns
    return [*rows, row] if row or not rows else rows


def hyperlink(text: str, url: str) -> str:
    """``text`` as a link of a terminal (OSC 8)."""
    return f"\x1b]8;;{url}\x1b\\{text}\x1b]8;;\x1b\\"


def place_url(path: Path, line: int, variables: Mapping[str, str] | None = None) -> str:
    """The address of a line: that of the user's editor where it has such, or else of the file."""
    known = os.environ if variables is None else variables
    program = _program(_editor(known))
    if known.get("TERM_PROGRAM") == "vscode" and program not in _SCHEMES:
        program = "code"
    where = quote(path.as_posix())
    if program in _SCHEMES:
        return f"{_SCHEMES[program]}://file{where}:{line}"
    import socket

    return f"file://{quote(socket.gethostname())}{where}"


def editor_command(
    path: Path, line: int, variables: Mapping[str, str] | None = None
) -> Sequence[str]:
    """The command that opens a line of a file in ``$VISUAL`` or ``$EDITOR``.

    Args:
        path: The file.
        line: From 1.
        variables: Instead of the environment's.

    Raises:
        UsageError: Neither variable is set, or what it says is no command.
    """
    editor = _editor(os.environ if variables is None else variables)
    try:
        words = shlex.split(editor)
    except ValueError as error:
        message = f"$VISUAL or $EDITOR is no command: {editor!r}: {error}"
        raise click.UsageError(message) from error
    if not words:
        message = "no editor is named: set VISUAL or EDITOR, such as EDITOR=vim"
        raise click.UsageError(message)
    arguments = _AT_LINE.get(_program(editor), _AS_VI)
    return [*words, *(one.format(file=path, line=line) for one in arguments)]


def _editor(variables: Mapping[str, str]) -> str:
    return variables.get("VISUAL") or variables.get("EDITOR") or ""


def _program(editor: str) -> str:
    """``code`` of ``/usr/bin/code.cmd --wait``."""
    first = editor.split(maxsplit=1)[:1]
    return Path(first[0]).stem.casefold() if first else ""

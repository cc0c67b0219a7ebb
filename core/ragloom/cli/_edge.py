"""The edge of the command line: every failure becomes one line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import TextIO

import click

from ragloom.cli._session import Session, on_one_line
from ragloom.errors import RagloomError

__all__ = [
    "BUG",
    "FAILED",
    "INTERRUPTED",
    "OK",
    "USAGE",
    "open_closed_streams",
    "run_to_exit_code",
    "stdout_for_protocol",
    "stdout_for_results",
]

OK = 0
FAILED = 1
USAGE = 2
BUG = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # 128 + SIGINT, as shells count


def run_to_exit_code(run: Callable[[], object], session: Session) -> int:
    """Call ``run``, print what it raises, and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # escape what a terminal or a pipe cannot encode
            stream.reconfigure(errors="backslashreplace")
    try:
        returned = run()
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return _failed(f"interrupted: {session.kept}", INTERRUPTED, session)
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as ended:  # click, where it meets a broken pipe itself
        return _reader_gone() if ended.code == FAILED else _code(ended.code)
    except Exception as error:  # noqa: BLE001 - the edge
        from ragloom.secrets.redaction import hide

        if session.traceback:
            import traceback

            sys.stderr.write(hide(traceback.format_exc()))
        message, code = _described(error)
        label = click.style("error:", fg="red")
        return _failed(f"{label} {on_one_line(hide(' '.join(message.split())))}", code, session)
    return _code(returned)


def _described(error: Exception) -> tuple[str, int]:
    if isinstance(error, click.UsageError):
        place = f" (see '{error.ctx.command_path} --help')" if error.ctx else ""
        return f"{error.format_message().rstrip('.')}{place}", USAGE
    if isinstance(error, click.ClickException):
        return error.format_message(), FAILED
    if isinstance(error, RagloomError):
        return str(error), FAILED
    if isinstance(error, OSError):  # a full disk, a folder that may not be written
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}", FAILED
    said = f": {error}" if str(error) else ""
    hint = "this is a bug in ragloom, please report it; run with --traceback to see where"
    return f"{type(error).__name__}{said} ({hint})", BUG


def open_closed_streams() -> None:
    """Open standard streams that the parent process closed, such as a daemon, on the null device.

    Otherwise the next file that is opened gets their number, and what is written to them.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


@contextmanager
def stdout_for_results() -> Iterator[None]:
    """Keep this process's stdout for results: whatever else writes to its descriptor writes to stderr.

    So does a library that prints by itself, or a program that is started.
    """
    from ragloom.plugin.output import own_stdout

    shown = sys.stdout
    try:
        sys.stdout.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
    except (OSError, ValueError):  # none is left, or stdout is no file
        with own_stdout():
            yield
        return
    sys.stdout = TextIOWrapper(
        os.fdopen(kept, "wb"),
        encoding=shown.encoding,
        errors=shown.errors,
        line_buffering=getattr(shown, "line_buffering", False),
        write_through=getattr(shown, "write_through", False),
    )
    try:
        with own_stdout():
            yield
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        with suppress(OSError):
            os.dup2(kept, 1)
        sys.stdout = shown


@contextmanager
def stdout_for_protocol() -> Iterator[TextIO | None]:
    """The stream that a protocol is written to, while everything that prints writes to stderr.

    None where stdout is not kept for results: a server then keeps it itself.
    """
    kept = sys.stdout
    if sys.__stdout__ is None or kept is sys.__stdout__:
        yield None
        return
    sys.stdout = sys.stderr
    try:
        yield kept
    finally:
        sys.stdout = kept


def _code(returned: object) -> int:
    return returned if isinstance(returned, int) else OK


def _failed(message: str, code: int, session: Session) -> int:
    with suppress(OSError):
        click.echo(message, err=True, color=session.color)
    return code


def _reader_gone() -> int:
    """The reader closed the pipe, which is no failure: write nothing more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK

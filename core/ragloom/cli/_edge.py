"""The edge of the command line: what went wrong becomes one line on stderr and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress

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
]

OK = 0
FAILED = 1
USAGE = 2
BUG = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # 128 + SIGINT, as shells count


def run_to_exit_code(run: Callable[[], object], session: Session) -> int:
    """Call ``run``, report what it raises, and say how the process ends."""
    never_fail_on_characters()
    try:
        returned = run()
        sys.stdout.flush()
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted: the last index goes on answering", INTERRUPTED, session)
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as ended:  # click, where it meets a broken pipe itself
        return _reader_gone() if ended.code == FAILED else _code(ended.code)
    except Exception as error:  # noqa: BLE001 - the edge
        if session.traceback:
            import traceback

            traceback.print_exc()
        message, code = _described(error)
        label = click.style("error:", fg="red")
        return _say(f"{label} {on_one_line(' '.join(message.split()))}", code, session)
    return _code(returned)


def _described(error: Exception) -> tuple[str, int]:
    """The message for an exception, and the exit code."""
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


def never_fail_on_characters() -> None:
    """Write what a terminal or a pipe cannot encode as an escape, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def open_closed_streams() -> None:
    """Open the standard streams that whoever started us closed, such as a daemon, and lead them nowhere.

    Otherwise the next file that is opened would have their number, and get what is meant for them.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8"))


def _code(returned: object) -> int:
    return returned if isinstance(returned, int) else OK


def _say(message: str, code: int, session: Session) -> int:
    with suppress(OSError):
        click.echo(message, err=True, color=session.color)
    return code


def _reader_gone() -> int:
    """Whoever read the output has seen enough: that is no failure, and nothing more is written."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK

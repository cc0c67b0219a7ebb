"""The edge of the command line: what went wrong becomes one line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress

import click

from ragloom.cli._session import Session
from ragloom.errors import RagloomError

__all__ = ["BUG", "FAILED", "INTERRUPTED", "OK", "USAGE", "run_to_exit_code"]

OK = 0
FAILED = 1
USAGE = 2
BUG = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # 128 + SIGINT, as shells count


def run_to_exit_code(run: Callable[[], object], session: Session) -> int:
    """Call ``run``, report what it raises, and say how the process ends."""

    def report(message: str, code: int) -> int:
        if session.traceback:
            import traceback

            traceback.print_exc()
        label = click.style("error:", fg="red")
        return _say(f"{label} {' '.join(message.split())}", code, session)

    never_fail_on_characters()
    try:
        returned = run()
        sys.stdout.flush()
    except click.UsageError as error:
        place = f" (see '{error.ctx.command_path} --help')" if error.ctx else ""
        return report(f"{error.format_message().rstrip('.')}{place}", USAGE)
    except click.ClickException as error:
        return report(error.format_message(), FAILED)
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
            return report("the input ended", FAILED)
        return _say("interrupted: the last index goes on answering", INTERRUPTED, session)
    except RagloomError as error:
        return report(str(error), FAILED)
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as ended:  # click, where it meets a broken pipe itself
        return _reader_gone() if ended.code == 1 else _code(ended.code)
    except OSError as error:
        if error.errno == errno.EPIPE:
            return _reader_gone()
        named = f"{error.filename}: " if error.filename else ""
        return report(f"{named}{error.strerror or error}", FAILED)
    except Exception as error:  # noqa: BLE001 - the edge
        said = " ".join(str(error).split())
        what = f"{type(error).__name__}: {said}" if said else type(error).__name__
        hint = "please report it; run with --traceback to see where"
        return report(f"{what} (this is a bug in ragloom, {hint})", BUG)
    return _code(returned)


def never_fail_on_characters() -> None:
    """Write what a terminal or a pipe cannot encode as an escape, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


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

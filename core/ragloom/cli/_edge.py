"""The edge of the command line: what went wrong becomes one line on stderr and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from contextlib import suppress

import click

from ragloom.errors import RagloomError

__all__ = ["BUG", "FAILED", "INTERRUPTED", "OK", "USAGE", "run_to_exit_code"]

OK = 0
FAILED = 1
USAGE = 2
BUG = 70  # EX_SOFTWARE of sysexits.h
INTERRUPTED = 130  # 128 + SIGINT, as shells count

TRACEBACK = "--traceback"


def run_to_exit_code(run: Callable[[], object]) -> int:
    """Call ``run``, report what it raises, and say how the process ends."""
    never_fail_on_characters()
    try:
        returned = run()
        sys.stdout.flush()
    except click.UsageError as error:
        place = f" (see '{error.ctx.command_path} --help')" if error.ctx else ""
        return _report(f"{error.format_message().rstrip('.')}{place}", USAGE)
    except click.ClickException as error:
        return _report(error.format_message(), FAILED)
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error, click.Abort) and isinstance(error.__cause__, EOFError):
            return _report("the input ended", FAILED)
        return _say("interrupted: the last index goes on answering", INTERRUPTED)
    except RagloomError as error:
        return _report(str(error), FAILED)
    except BrokenPipeError:
        return _reader_gone()
    except SystemExit as ended:  # click, where it meets a broken pipe itself
        return _reader_gone() if ended.code == 1 else _code(ended.code)
    except OSError as error:
        if error.errno == errno.EPIPE:
            return _reader_gone()
        named = f"{error.filename}: " if error.filename else ""
        return _report(f"{named}{error.strerror or error}", FAILED)
    except Exception as error:  # noqa: BLE001 - the edge
        said = " ".join(str(error).split())
        what = f"{type(error).__name__}: {said}" if said else type(error).__name__
        hint = f"please report it; run with {TRACEBACK} to see where"
        return _report(f"{what} (this is a bug in ragloom, {hint})", BUG)
    return _code(returned)


def never_fail_on_characters() -> None:
    """Write what a terminal or a pipe cannot encode as an escape, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _code(returned: object) -> int:
    return returned if isinstance(returned, int) else OK


def _report(message: str, code: int) -> int:
    if TRACEBACK in sys.argv:
        import traceback

        traceback.print_exc()
    return _say(f"{click.style('error:', fg='red')} {' '.join(message.split())}", code)


def _say(message: str, code: int) -> int:
    with suppress(OSError):
        click.echo(message, err=True, color=None if wants_color() else False)
    return code


def wants_color() -> bool:
    """Whether colours are welcome on a terminal: https://no-color.org and dumb terminals."""
    unwelcome = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not unwelcome and "--no-color" not in sys.argv


def _reader_gone() -> int:
    """Whoever read the output has seen enough: that is no failure, and nothing more is written."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK

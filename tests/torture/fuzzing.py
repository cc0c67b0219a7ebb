"""Fuzzing: inputs that are changed at random; what reaches new lines of ragloom joins the corpus.

The corpus is a folder for each parser. It begins with the seeds in ``tests/data/fuzz`` and grows where
``--corpus`` says. An input that failed is kept there as ``failed-…`` and tried first until it passes.
"""

from __future__ import annotations

import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from functools import partial
from hashlib import blake2b
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import TYPE_CHECKING

from checks import Verdict
from children import Ended, in_child
from parsers import Parser, parsers
from ragloom import RagloomError
from scenes import Stage, random_of
from tally import Tally

if TYPE_CHECKING:
    from _typeshed import TraceFunction

_SEEDS = Path(__file__).parents[1] / "data" / "fuzz"
_LONGEST = 1 << 16  # bytes of an input
_SECONDS = 5.0  # that an input may take
_PATIENCE = 20.0  # seconds beyond the time, after which the whole process hangs
_MOST_KEPT = 400  # inputs of a parser that are read
_FAILED = "failed-"
_TOKEN = re.compile(rb"[\w.+-]+|\"[^\"]*\"")
_PIECES = tuple(
    piece.encode("utf-8", "surrogatepass")
    for piece in (
        *(
            "---\n",
            "...\n",
            "# ",
            "```\n",
            "\r",
            "\r\n",
            "\u2028",
            "\x85",
            "\x00",
            "\ufeff",
            "\u200b",
        ),
        *(
            ": ",
            "- ",
            "&a ",
            "*a",
            "<<: ",
            "!!binary ",
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            "\\",
            "|",
            ">-\n",
        ),
        *(
            "<table>",
            "<td colspan=9999>",
            "<pre>",
            "<!--",
            "]]>",
            "&#x110000;",
            "data:image/png;base64,",
        ),
        *("1e999", "-0", "NaN", "Infinity", "9" * 40, "null", "true", "\ud800", "\u202e", "İ", "ﬁ"),
        *(
            "====\n",
            "~~~~\n",
            ".. code::\n",
            "endobj",
            "/Length 0",
            "stream\n",
            "xref",
            "%PDF-1.4\n",
        ),
        *("path under ", "!=", ">=", "status=", "\n\n", '"a b"', "foo_barBaz", "C++", "漢字"),
    )
)


def fuzz(tally: Tally, stage: Stage, corpus: Path, seconds: float) -> None:
    """Give every parser its share of the time."""
    names = sorted(path.name for path in _SEEDS.iterdir())
    share = max(1.0, seconds / len(names))
    for number in tally.cases(len(names)):
        tally.deadline = max(tally.deadline, time.monotonic()) + share  # each has its turn
        name, verdict = names[number], Verdict()
        grown = corpus / name
        grown.mkdir(parents=True, exist_ok=True)
        random = random_of(tally.seed, "fuzz", number)
        place = stage.empty() / "parsers"
        work = partial(_fuzz, name, place, grown, random, share)
        ended = in_child(work, patience=share + _PATIENCE)
        row = tally.row("fuzz", name)
        tally.add("fuzz", name, number, _judged(ended, grown, verdict))
        row.tried = ended.value["tried"] if ended.value else 0


def _judged(ended: Ended, grown: Path, verdict: Verdict) -> Verdict:
    if ended.value is None:
        kept = grown / f"{_FAILED}last"
        (grown / "running").replace(kept)
        why = "hangs" if ended.hung else f"ends with {ended.code}"
        verdict.unclear.append(f"{why}: {kept}: {ended.last_line}")
        return verdict
    verdict.unclear += ended.value["failed"]
    return verdict


def _fuzz(name: str, place: Path, grown: Path, random: Random, seconds: float) -> dict[str, object]:
    parser, reached = parsers(place)[name], Reached()
    signal.signal(signal.SIGALRM, _too_long)
    inputs, tried, failed = list[bytes](), 0, dict[str, str]()
    until = time.monotonic() + seconds
    for content in _inputs(name, grown, random, inputs):
        if tried > len(inputs) and time.monotonic() > until:
            break
        tried += 1
        (grown / "running").write_bytes(content)
        with reached:
            why = _why(parser, content)
        named = blake2b(content, digest_size=8).hexdigest()
        if why:
            path = grown / f"{_FAILED}{named}"
            path.write_bytes(content)
            failed.setdefault(why, f"{why}: {path}")
        elif reached.more and content not in inputs:
            inputs.append(content)
            (grown / named).write_bytes(content)
        if not why:
            (grown / f"{_FAILED}{named}").unlink(missing_ok=True)
    (grown / "running").unlink(missing_ok=True)
    return {"tried": tried, "failed": sorted(failed.values())}


def _inputs(name: str, grown: Path, random: Random, inputs: list[bytes]) -> Iterator[bytes]:
    """What failed before, the seeds, the corpus, then changes of them without end."""
    paths = sorted(grown.iterdir(), key=lambda path: (not path.name.startswith(_FAILED), path.name))
    kept = [path for path in paths if path.name != "running"][:_MOST_KEPT]
    for path in [*kept, *sorted((_SEEDS / name).iterdir())]:
        content = path.read_bytes()
        if not path.name.startswith(_FAILED):
            inputs.append(content)
        yield content
    while True:
        yield mutated(random, inputs)


def mutated(random: Random, inputs: list[bytes]) -> bytes:
    """One of the inputs, changed in one to eight places."""
    content = bytearray(random.choice(inputs))
    for _ in range(random.randint(1, 8)):
        start = random.randrange(len(content) + 1)
        end = min(len(content), start + random.choice((1, 4, 16, 64)))
        match random.randrange(9):
            case 0 if start < len(content):
                content[start] ^= 1 << random.randrange(8)
            case 1:
                content[start:start] = random.choice(_PIECES) * random.choice(
                    (1, 1, 1, 2, 50, 3000)
                )
            case 2:
                del content[start:end]
            case 3:
                content[start:start] = content[start:end] * random.choice((1, 2, 100))
            case 4:
                other = random.choice(inputs)
                begin = random.randrange(len(other) + 1)
                content[start:end] = other[begin : begin + 64]
            case 5 if tokens := list(_TOKEN.finditer(content)):
                token = random.choice(tokens)
                content[token.start() : token.end()] = random.choice(_PIECES)
            case 6:
                lines = content.splitlines(keepends=True)
                random.shuffle(lines)
                content = bytearray().join(lines)
            case 7:
                content[start:end] = random.randbytes(end - start)
            case _:
                content[start:end] = random.choice(_PIECES)
    return bytes(content[:_LONGEST])


class Reached:
    """Traces which lines of ragloom are reached; within it, ``more`` says whether any was new."""

    def __init__(self) -> None:
        self.more = False
        self._lines: dict[CodeType, set[int]] = {}

    def __enter__(self) -> None:
        self.more = False
        sys.settrace(self._trace)

    def __exit__(self, *_raised: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        return self._local if "/ragloom" in frame.f_code.co_filename else None

    def _local(self, frame: FrameType, _event: str, _argument: object) -> TraceFunction | None:
        lines = self._lines.setdefault(frame.f_code, set())
        if frame.f_lineno not in lines:
            lines.add(frame.f_lineno)
            self.more = True
        return self._local


class _TooLongError(BaseException):
    """Nobody but this module catches it."""


def _too_long(_signal: int, _frame: FrameType | None) -> None:
    raise _TooLongError


def _why(parser: Parser, content: bytes) -> str:
    """Why the parser failed, with the place; empty where it read the input or refused it clearly."""
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        parser(content)
    except RagloomError:
        return ""
    except _TooLongError:
        return f"takes more than {_SECONDS:g} s"
    except BaseException as error:  # noqa: BLE001 - that is what is looked for
        frames = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if "/ragloom" in frame.filename
        ]
        place = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        return f"{type(error).__name__}{place}: {str(error)[:80]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return ""

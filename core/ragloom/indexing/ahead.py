"""Files are read and split in a second process, while this one indexes the words of those before.

Both are Python that holds the interpreter's lock, so that threads would take turns. The process is no copy
of this one, which may have threads: it makes its components from the settings, as a worker on another
machine does. Where it cannot, has others, or dies, the files that it leaves are read here.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import BinaryIO, Self, cast

from ragloom.components import Components
from ragloom.config.settings import SpaceSettings
from ragloom.indexing.plan import PlannedFile
from ragloom.indexing.process import Part, process
from ragloom.indexing.workers import ComponentsOfWorker

_WORTH_STARTING = 3  # batches of a megabyte at least, whose reading takes longer than the start
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from ragloom.indexing.ahead import main; main()"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What the second process is to do.

    Attributes:
        settings: Of the space.
        root: The folder that paths of models count from.
        folder: Where Parts are kept.
        batches: Of the plan, in their order.
    """

    settings: SpaceSettings
    root: Path
    folder: Path
    batches: Sequence[Sequence[PlannedFile]]


def parts_ahead(
    batches: Sequence[Sequence[PlannedFile]],
    components: Components,
    folder: Path,
    progress: Callable[[PlannedFile], None],
) -> Iterator[Part]:
    """The Parts of batches, in their order; the first is made here, while the process starts.

    Args:
        batches: Of a plan.
        components: What the index is made with.
        folder: Where Parts are kept.
        progress: Called with every file that is done.
    """
    if len(batches) < _WORTH_STARTING or _cores() == 1 or not _has_python():
        for files in batches:
            yield process(files, components, folder, progress)
        return
    job = _Job(
        settings=components.settings, root=components.root, folder=folder, batches=batches[1:]
    )
    with _Reader(job) as reader:
        yield process(batches[0], components, folder, progress)
        for files in batches[1:]:
            part = reader.next()
            if part is None:
                part = process(files, components, folder, progress)
            else:
                for file in files:
                    progress(file)
            yield part


class _Reader:
    """The second process, from this one's side; a context manager that ends it."""

    def __init__(self, job: _Job) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        # Settings that only this process can hold, or too many processes or open files, or no memory.
        with suppress(pickle.PicklingError, AttributeError, TypeError, OSError):
            self._content = json.dumps(sys.path).encode() + b"\n" + pickle.dumps(job)
            self._process = subprocess.Popen(  # noqa: S603 - this Python, and a constant
                [sys.executable, "-I", "-c", _BOOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # whatever fails there is tried here
                start_new_session=True,  # Ctrl-C is for this process, which ends the other
            )
        self._sending = Thread(target=self._send, daemon=True)
        self._sending.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        """Kill the process, which writes no more then."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        self._sending.join()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):
                cast("BinaryIO", stream).close()

    def next(self) -> Part | None:
        """The next Part; None where the process has ended."""
        if self._process is None:
            return None
        try:
            answers = cast("BinaryIO", self._process.stdout)
            return cast("Part", pickle.load(answers))  # noqa: S301 - of our own process
        except (EOFError, OSError, pickle.UnpicklingError):
            self._end()
            return None

    def _send(self) -> None:
        if self._process is None:
            return
        stdin = cast("BinaryIO", self._process.stdin)
        with suppress(OSError):  # the process has ended
            stdin.write(self._content)
            stdin.flush()  # open until this process ends, however it does


def main() -> None:
    """The second process: it answers each batch of its job with a Part, until its stdin is closed."""
    given = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a plugin prints is no answer
    job = cast("_Job", pickle.load(given))  # noqa: S301 - of the process that started this one
    Thread(target=_end_with, args=(given,), daemon=True).start()
    worker = ComponentsOfWorker(job.settings, job.root)
    for files in job.batches:
        worker.check(files)
        pickle.dump(process(files, worker.components, job.folder), answers)
        answers.flush()


def _end_with(stream: BinaryIO) -> None:
    stream.read()
    os._exit(1)


def _has_python() -> bool:
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

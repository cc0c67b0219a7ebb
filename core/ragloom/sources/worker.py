"""A process in which files are read that may take any time or memory, so that it can be killed.

Only loaders that say so (``isolated``, see :class:`ragloom.Loader`) run here. One process is started when
the first such file is read, and serves all others of this process.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass, replace
from math import ceil
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import IO, Final

from ragloom.errors import RagloomError, SourceError
from ragloom.protocols import Loader
from ragloom.types import Document, Source

_MEMORY: Final = (
    4 << 30
)  # bytes, where the system can hold a process to it; half of the machine's, if less
_PATIENCE: Final = 4  # seconds of a clock for each of the processor, on a machine that is busy
_START: Final = 60  # seconds in which a process says that it is ready
_READY: Final = "ready", None
_NOWHERE: Final = 1  # the descriptor of stdout, which leads nowhere in a worker
_BOOT: Final = (
    "import sys, json; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from ragloom.sources.worker import serve; serve()"
)


class OverBudgetError(RagloomError):
    """A file takes more time or memory than it may; the message says which."""


class UnavailableError(RagloomError):
    """No process can be started for this loader."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What to read, and how much it may take.

    Attributes:
        loader: Reads it; pickled by name.
        source: The file.
        content: Its bytes.
        seconds: Of processor time.
        characters: Of text, after which it is truncated.
    """

    loader: Loader
    source: Source
    content: bytes
    seconds: int
    characters: int


class Worker:
    """The process. Safe to use from several threads: they take turns."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: SimpleQueue[tuple[str, object] | None] = SimpleQueue()
        self._owner = 0
        self._turn = Lock()

    def load(self, job: Job) -> Document:
        """Run ``job.loader`` on a file.

        Raises:
            OverBudgetError: It took too much.
            UnavailableError: The loader cannot run in a process of its own.
            SourceError: It cannot be understood, or reading it ended the process.
        """
        try:
            content = pickle.dumps(job)
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise UnavailableError(str(error)) from error
        with self._turn:
            kind, value = self._ask(content, job)
        if kind == "document" and isinstance(value, Document):
            return value
        if kind == "error" and isinstance(value, Exception):
            raise value
        if kind == "memory":
            raise OverBudgetError(f"reading it takes more than {_memory() >> 20:,} MB of memory")
        if kind == "unavailable":
            raise UnavailableError(str(value))
        raise SourceError(str(value))

    def stop(self) -> None:
        """End the process, whatever it does."""
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()

    def _ask(self, content: bytes, job: Job) -> tuple[str, object]:
        process = self._started()
        if process.stdin is None:
            raise UnavailableError("it has no input")
        with contextlib.suppress(OSError):  # it has ended: there is no answer then
            process.stdin.write(content)
            process.stdin.flush()
        try:
            answer = self._answers.get(timeout=job.seconds * (_PATIENCE if _HAS_LIMITS else 1))
        except Empty:
            self.stop()
            answer = ("time", "")
        except BaseException:  # Ctrl-C: what it would still answer belongs to no later file
            self.stop()
            raise
        if answer is None:
            code = process.wait()
            self.stop()
            answer = ("time", "") if code == _OUT_OF_TIME else ("crash", _crashed(code))
        if answer[0] == "time":
            raise OverBudgetError(f"reading it takes more than {job.seconds} s of processor time")
        return answer

    def _started(self) -> subprocess.Popen[bytes]:
        if (
            self._process is not None
            and self._owner == os.getpid()
            and self._process.poll() is None
        ):
            return self._process
        if getattr(sys, "frozen", False) or not sys.executable:
            raise UnavailableError("there is no Python to run it in")
        self.stop()
        try:
            process = subprocess.Popen(  # noqa: S603 - this Python, and a constant
                [sys.executable, "-I", "-c", _BOOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise UnavailableError(f"no process can be started: {error}") from error
        self._process, self._owner = process, os.getpid()
        self._answers = SimpleQueue()
        if process.stdin is None or process.stdout is None:
            raise UnavailableError("it has no input or output")
        with contextlib.suppress(OSError):  # it has ended already: there is no answer
            process.stdin.write(json.dumps(sys.path).encode() + b"\n")
            process.stdin.flush()
        Thread(target=_listen, args=(process.stdout, self._answers), daemon=True).start()
        with contextlib.suppress(Empty):
            if self._answers.get(timeout=_START) == _READY:
                return process
        self.stop()
        raise UnavailableError("the process does not start")


WORKER: Final = Worker()
atexit.register(WORKER.stop)


def _listen(answers: IO[bytes], queue: SimpleQueue[tuple[str, object] | None]) -> None:
    """Put every answer into the queue, and None at the end."""
    with contextlib.suppress(Exception):  # a half answer is the end, too
        while True:
            queue.put(pickle.load(answers))  # noqa: S301 - of our own process
    queue.put(None)


def _crashed(code: int) -> str:
    return f"reading it crashed a process (exit code {code})"


def serve() -> None:
    """Answer jobs from stdin, one at a time, until it is closed. What is printed goes nowhere."""
    jobs = sys.stdin.buffer  # which may hold the first job already
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _hold_memory()
    answer: tuple[str, object] = _READY
    while True:
        pickle.dump(answer, answers)
        answers.flush()
        try:
            job: Job = pickle.load(jobs)  # noqa: S301 - of our own process
        except EOFError:
            return
        except (ImportError, AttributeError) as error:  # the loader's module is not importable here
            answer = ("unavailable", f"{type(error).__name__}: {error}")
        else:
            answer = _answer(job)


def _answer(job: Job) -> tuple[str, object]:
    _hold_time(job.seconds)
    try:
        document = job.loader.load(job.source, job.content)
    except MemoryError:
        return "memory", ""
    except Exception as error:  # noqa: BLE001 - the edge of this process: it is raised in the other
        return _portable(error)
    finally:
        faulthandler.cancel_dump_traceback_later()
    return "document", shortened(document, job.characters)


def _portable(error: Exception) -> tuple[str, object]:
    """The error, if the other process can have it, or what it says."""
    if isinstance(error, RagloomError):
        return "error", SourceError(str(error))
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - of our own making
    except Exception:  # noqa: BLE001 - an exception's own constructor may raise anything
        return "failed", f"{type(error).__name__}: {error}"
    return "error", error


def shortened(document: Document, characters: int) -> Document:
    """At most so many characters of a document, with a warning where that is not all."""
    length = len(document.text)
    if length <= characters:
        return document
    warning = (
        f"only the first {characters:,} of {length:,} characters are indexed; the setting "
        "max_file_characters allows more"
    )
    return replace(
        document,
        text=document.text[:characters],
        sections=tuple(one for one in document.sections if one.span.end <= characters),
        warnings=(*document.warnings, warning),
    )


if sys.platform == "win32":
    _HAS_LIMITS = False
    _OUT_OF_TIME = None

    def _memory() -> int:
        return _MEMORY

    def _hold_memory() -> None:
        """Windows has no such limit for a process."""

    def _hold_time(seconds: int) -> None:
        """End this process by the clock, also where the other one is gone."""
        faulthandler.dump_traceback_later(seconds + 1, exit=True, file=_NOWHERE)

else:
    import resource
    import signal

    _HAS_LIMITS = True
    _OUT_OF_TIME = -signal.SIGXCPU

    def _memory() -> int:
        """Bytes that a worker may use."""
        return min(_MEMORY, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)

    def _hold_memory() -> None:
        """Hold this process to its memory, and let it leave no core."""
        for kind, most in ((resource.RLIMIT_DATA, _memory()), (resource.RLIMIT_CORE, 0)):
            hard = resource.getrlimit(kind)[1]
            with contextlib.suppress(ValueError, OSError):  # macOS knows fewer
                resource.setrlimit(kind, (most if hard < 0 else min(most, hard), hard))

    def _hold_time(seconds: int) -> None:
        """Let the kernel end this process after so many more seconds, whatever code it is in."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = ceil(used.ru_utime + used.ru_stime) + seconds
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (most if hard < 0 else min(most, hard), hard))
        faulthandler.dump_traceback_later(_PATIENCE * seconds + 1, exit=True, file=_NOWHERE)

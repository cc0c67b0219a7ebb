"""Work for coroutines: on a thread of its own, so that the event loop goes on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Event
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from ragloom.indexing.indexer import LOCK_TIMEOUT
from ragloom.types import Progress

if TYPE_CHECKING:
    import asyncio

T = TypeVar("T")
Report = TypeVar("Report")
_PATIENCE = 5.0  # seconds that a cancelled index run is waited for


class _StoppedError(Exception):
    """Ends an index run whose caller was cancelled."""


class Worker:
    """One thread that is started on first use, and does one thing after the other."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def run(self, work: Callable[[], T]) -> T:
        """What ``work`` returns or raises, with the context variables of the caller.

        Where the caller is cancelled, work that has not begun never does, and what has begun comes to
        its end.
        """
        import asyncio

        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="ragloom")
        context = copy_context()
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, lambda: context.run(work)
        )

    def close(self) -> None:
        """Let go of the thread; :meth:`run` starts another."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.shutdown(wait=False)


class Indexed(ABC, Generic[Report]):
    """What can be brought up to date with its files, also without holding an event loop."""

    @abstractmethod
    def index(
        self,
        *,
        full: bool = False,
        allow_empty: bool = False,
        seconds: float | None = None,
        progress: Progress | None = None,
        timeout: float = LOCK_TIMEOUT,
    ) -> Report:
        """Bring it up to date."""

    @abstractmethod
    def twin(self) -> Self:
        """The same index with components of its own, which another thread may use."""

    @abstractmethod
    def close(self) -> None:
        """Free what it holds."""

    async def aindex(
        self,
        *,
        full: bool = False,
        allow_empty: bool = False,
        seconds: float | None = None,
        progress: Progress | None = None,
        timeout: float = LOCK_TIMEOUT,  # noqa: ASYNC109 - what it means is said by index()
    ) -> Report:
        """As :meth:`index`, on a thread and with components of its own: searches answer meanwhile.

        Cancelled, it waits until the run has stopped, a second or so and 5 s at most (a run that itself
        waits for another one stops before it changes anything); what is embedded by then is kept for the
        next run. ``progress`` is called on the thread.
        """
        import asyncio

        stop = Event()

        def step(stage: str, done: int, total: int) -> None:
            if stop.is_set():
                raise _StoppedError
            if progress is not None:
                progress(stage, done, total)

        def run() -> Report:
            own = self.twin()
            try:
                return own.index(
                    full=full,
                    allow_empty=allow_empty,
                    seconds=seconds,
                    progress=step,
                    timeout=timeout,
                )
            finally:
                own.close()

        worker = Worker()
        running = asyncio.ensure_future(worker.run(run))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([running], timeout=_PATIENCE)
            running.add_done_callback(_noticed)
            raise
        finally:
            worker.close()


def _noticed(done: asyncio.Future[Report]) -> None:
    """Look at the error of what nobody waits for, so that asyncio does not report it."""
    if not done.cancelled():
        done.exception()

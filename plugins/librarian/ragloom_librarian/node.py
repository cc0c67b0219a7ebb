"""The node of a LangGraph workflow, which never breaks the workflow that it helps."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TypedDict, TypeVar, cast

from ragloom import ConfigError, PluginHost, RagloomError, SourceError
from ragloom_librarian.documents import RetrievedDocument
from ragloom_librarian.knowledge_base import KnowledgeBase, opened
from ragloom_librarian.merging import manual_files, merge_context
from ragloom_librarian.settings import LibrarianSettings

_LOG = logging.getLogger("ragloom.librarian")
_T = TypeVar("_T")


class LibrarianState(TypedDict, total=False):
    """What the node reads and writes; a workflow's own state may extend it, or just have these keys.

    Attributes:
        issue_brief: The query.
        manual_context: Files given by hand.
        retrieved_context: Documents found, best first.
        combined_context: Files given by hand and documents found, as one text.
        degraded_reason: Why nothing was retrieved; absent or empty otherwise.
    """

    issue_brief: str
    manual_context: list[str]
    retrieved_context: list[RetrievedDocument]
    combined_context: str
    degraded_reason: str


class LibrarianNode:
    """A node for ``graph.add_node("librarian", node)``; LangGraph itself is not needed.

    Called, it answers synchronously; an asynchronous graph runs it on a thread. :meth:`acall` is a
    coroutine function, for a graph that is asynchronous only.

    Args:
        knowledge_base: Opens the knowledge base, at every call.
        root: The folder that files given by hand are relative to where the knowledge base does not open.
        timeout: Seconds to wait for an answer, 0 for no limit; the setting ``librarian.timeout``, 10, by
            default.

    Raises:
        ConfigError: ``timeout`` is no number of seconds.
    """

    def __init__(
        self,
        knowledge_base: Callable[[], KnowledgeBase],
        *,
        root: str | os.PathLike[str] = ".",
        timeout: float | None = None,
    ) -> None:
        if timeout is not None and not timeout >= 0:
            raise ConfigError(f"timeout: expected seconds, or 0 for no limit, found {timeout!r}")
        self._knowledge_base = knowledge_base
        self._root = Path(root)
        self._timeout = timeout

    def __call__(self, state: LibrarianState) -> LibrarianState:
        """Retrieve documents for ``state["issue_brief"]``.

        Returns:
            ``retrieved_context`` and ``combined_context``; on failure ``degraded_reason``, and as
            ``combined_context`` the files given by hand, where there are any. What an earlier round
            left in the state, and this one has no value for, is emptied.

        Raises:
            SourceError: A file of ``manual_context`` does not exist.
        """
        call = _Call(self._knowledge_base, state, self._root, self._timeout)
        try:
            return call.update(call.start().result(call.left()))
        except SourceError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a workflow must go on
            return call.failed(error)

    async def acall(self, state: LibrarianState) -> LibrarianState:
        """As a call, without holding the event loop."""
        call = _Call(self._knowledge_base, state, self._root, self._timeout)
        try:
            waiting = asyncio.wrap_future(await asyncio.to_thread(call.start))
            return call.update(await asyncio.wait_for(waiting, call.left()))
        except SourceError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a workflow must go on
            return call.failed(error)


class _Call:
    """One call of the node."""

    def __init__(
        self,
        open_base: Callable[[], KnowledgeBase],
        state: LibrarianState,
        root: Path,
        timeout: float | None,
    ) -> None:
        self._open = open_base
        self._state = state
        self._root = root
        self._timeout = timeout
        self._manual: list[str] = []
        self._began = time.monotonic()
        self._more = "timeout="  # what gives more time
        self.limit = _limit(LibrarianSettings().timeout if timeout is None else timeout)

    def left(self) -> float | None:
        """Seconds that are left to wait for an answer."""
        if self.limit is None:
            return None
        return max(self.limit - (time.monotonic() - self._began), 0)

    def start(self) -> Future[list[RetrievedDocument] | str]:
        """Search, on a thread that does not keep the process alive, for documents or why there are none.

        Raises:
            SourceError: A file given by hand does not exist.
            TimeoutError: The knowledge base did not open within the limit.
        """
        opening = _on_a_thread(self._open)
        base = opening.result(self.left())
        if isinstance(base, str):
            return cast("Future[list[RetrievedDocument] | str]", opening)
        self._root = base.workspace.root
        if self._timeout is None:
            self._more = "the setting librarian.timeout"
            self.limit = _limit(base.settings.timeout)
        self._manual = [path for path, _ in manual_files(self._given(), self._root)]
        brief = self._read("issue_brief") or ""
        if not isinstance(brief, str):
            raise ConfigError(f"issue_brief: expected text, found {type(brief).__name__}")
        return _on_a_thread(lambda: base.query(brief))

    def update(self, answer: list[RetrievedDocument] | str) -> LibrarianState:
        """What the node returns."""
        if isinstance(answer, str):
            return self._degraded(answer)
        update = LibrarianState(
            retrieved_context=answer,
            combined_context=merge_context(self._manual, answer, root=self._root),
        )
        if self._read("degraded_reason"):  # of an earlier round
            update["degraded_reason"] = ""
        return update

    def failed(self, error: BaseException) -> LibrarianState:
        """What the node returns after an error, or when the time is over."""
        if isinstance(error, TimeoutError):
            return self._degraded(
                f"no answer within {self.limit:g} s; {self._more} gives more time"
            )
        return self._degraded(_reason(error))

    def _read(self, key: str) -> object:
        """A value of the state, which may be a mapping or, as LangGraph allows, an object."""
        if isinstance(self._state, Mapping):
            return self._state.get(key)
        return getattr(self._state, key, None)

    def _given(self) -> Iterable[str | os.PathLike[str]] | str | os.PathLike[str]:
        return cast("list[str]", self._read("manual_context") or [])

    def _degraded(self, reason: str) -> LibrarianState:
        manual, unread = self._whatever_is_readable()
        said = " ".join("; ".join(dict.fromkeys([reason, *unread])).split())
        _LOG.warning("going on without the project's documents: %s", said)
        update = LibrarianState(degraded_reason=said)
        if self._read("retrieved_context"):  # of an earlier round
            update["retrieved_context"] = []
        if manual or self._read("combined_context"):
            update["combined_context"] = manual
        return update

    def _whatever_is_readable(self) -> tuple[str, list[str]]:
        """The files given by hand as one text, and why some are not in it."""
        readable: list[str | os.PathLike[str]] = []
        unread: list[str] = []
        given = self._given()
        try:
            paths = [given] if isinstance(given, str | os.PathLike) else list(given)
        except TypeError:
            paths = []
        for path in paths:
            try:
                merge_context([path], [], root=self._root)
            except (RagloomError, ValueError) as error:  # a path may hold a null character
                unread.append(str(error))
            else:
                readable.append(path)
        return merge_context(readable, [], root=self._root), unread


def _limit(seconds: float) -> float | None:
    return min(seconds, threading.TIMEOUT_MAX) or None


def _on_a_thread(work: Callable[[], _T]) -> Future[_T | str]:
    """What ``work`` returns, or why it failed; its thread does not keep the process alive."""
    answer: Future[_T | str] = Future()
    answer.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result: _T | str = work()
        except BaseException as error:  # noqa: BLE001 - a panic of a Rust library is no Exception
            result = _reason(error)
        answer.set_result(result)

    threading.Thread(target=run, name="ragloom-librarian", daemon=True).start()
    return answer


def _reason(error: BaseException) -> str:
    if isinstance(error, RagloomError):
        return str(error)
    _LOG.debug("the librarian failed", exc_info=error)
    return f"{type(error).__name__}: {error}"


def make_librarian_node(
    settings: LibrarianSettings | None = None,
    *,
    workspace: str | os.PathLike[str] = ".",
    host: PluginHost | None = None,
    timeout: float | None = None,
) -> LibrarianNode:
    """A node for one project.

    Nothing is opened or read before the node is called for the first time, and what was opened is
    kept: the model is loaded once.

    Args:
        settings: Instead of those in the settings file and the environment.
        workspace: The project's folder; relative to the current folder of the call.
        host: The plugins; those that are installed, by default.
        timeout: Seconds to wait for an answer, 0 for no limit; those of the settings by default.
    """
    return LibrarianNode(lambda: opened(workspace, host, settings), root=workspace, timeout=timeout)


def librarian_node(state: LibrarianState) -> LibrarianState:
    """The node for the project in the current folder; see :class:`LibrarianNode`."""
    return make_librarian_node()(state)


async def alibrarian_node(state: LibrarianState) -> LibrarianState:
    """As :func:`librarian_node`, for an asynchronous graph."""
    return await make_librarian_node().acall(state)

"""The node of a LangGraph workflow, which never breaks the workflow that it helps."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import TypedDict, cast

from ragloom import ConfigError, PluginHost, RagloomError, SourceError
from ragloom_librarian.documents import RetrievedDocument
from ragloom_librarian.knowledge_base import KnowledgeBase, opened
from ragloom_librarian.merging import manual_files, merge_context
from ragloom_librarian.settings import LibrarianSettings

_LOG = logging.getLogger("ragloom.librarian")


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
    """

    def __init__(self, knowledge_base: Callable[[], KnowledgeBase]) -> None:
        self._knowledge_base = knowledge_base

    def __call__(self, state: LibrarianState) -> LibrarianState:
        """Retrieve documents for ``state["issue_brief"]``.

        Returns:
            ``retrieved_context`` and ``combined_context``; on failure ``degraded_reason`` alone.

        Raises:
            SourceError: A file of ``manual_context`` does not exist.
        """
        call = _Call(self._knowledge_base, state)
        try:
            return call.update(call.start().result(call.limit))
        except SourceError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a workflow must go on
            return call.failed(error)

    async def acall(self, state: LibrarianState) -> LibrarianState:
        """As a call, without holding the event loop."""
        call = _Call(self._knowledge_base, state)
        try:
            waiting = asyncio.wrap_future(await asyncio.to_thread(call.start))
            return call.update(await asyncio.wait_for(waiting, call.limit))
        except SourceError:
            raise
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a workflow must go on
            return call.failed(error)


class _Call:
    """One call of the node."""

    def __init__(self, open_base: Callable[[], KnowledgeBase], state: LibrarianState) -> None:
        self._open = open_base
        self._state = state
        self._root = Path()
        self._manual: list[str] = []
        self.limit: float | None = None  # seconds to wait for an answer

    def start(self) -> Future[list[RetrievedDocument] | str]:
        """Search, on a thread that does not keep the process alive, for documents or why there are none.

        Raises:
            SourceError: A file given by hand does not exist.
        """
        answer: Future[list[RetrievedDocument] | str] = Future()
        answer.set_running_or_notify_cancel()
        try:
            base = self._open()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a workflow must go on
            answer.set_result(_reason(error))
            return answer
        self._root = base.workspace.root
        self.limit = min(base.settings.timeout, threading.TIMEOUT_MAX) or None
        given = cast("list[str]", self._read("manual_context") or [])
        self._manual = [path for path, _ in manual_files(given, self._root)]
        brief = self._read("issue_brief") or ""
        if not isinstance(brief, str):
            raise ConfigError(f"issue_brief: expected text, found {type(brief).__name__}")

        def search() -> None:
            try:
                answer.set_result(base.query(brief))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a workflow must go on
                answer.set_result(_reason(error))

        if self.limit is None:
            search()
        else:
            threading.Thread(target=search, name="ragloom-librarian", daemon=True).start()
        return answer

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
                f"no answer within {self.limit:g} s; the setting librarian.timeout gives more time"
            )
        return self._degraded(_reason(error))

    def _read(self, key: str) -> object:
        """A value of the state, which may be a mapping or, as LangGraph allows, an object."""
        if isinstance(self._state, Mapping):
            return self._state.get(key)
        return getattr(self._state, key, None)

    @staticmethod
    def _degraded(reason: str) -> LibrarianState:
        said = " ".join(reason.split())
        _LOG.warning("going on without the project's documents: %s", said)
        return LibrarianState(degraded_reason=said)


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
) -> LibrarianNode:
    """A node for one project.

    Nothing is opened or read before the node is called for the first time, and what was opened is
    kept: the model is loaded once.

    Args:
        settings: Instead of those in the settings file and the environment.
        workspace: The project's folder; relative to the current folder of the call.
        host: The plugins; those that are installed, by default.
    """
    return LibrarianNode(lambda: opened(workspace, host, settings))


def librarian_node(state: LibrarianState) -> LibrarianState:
    """The node for the project in the current folder; see :class:`LibrarianNode`."""
    return make_librarian_node()(state)


async def alibrarian_node(state: LibrarianState) -> LibrarianState:
    """As :func:`librarian_node`, for an asynchronous graph."""
    return await make_librarian_node().acall(state)

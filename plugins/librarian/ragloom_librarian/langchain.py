"""A retriever for LangChain over any space of ragloom."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from typing import TYPE_CHECKING

from ragloom import Hit, MissingDependencyError, Mode, PluginHost, Space, Workspace
from ragloom.context import hit_json, why_empty

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as missing:
    raise MissingDependencyError(
        "langchain-core", "ragloom[langchain]", "RagloomRetriever"
    ) from missing
from pydantic import PrivateAttr

if TYPE_CHECKING:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )

_HOW = "see it with min_relevance=0, or read {path}"
_LOG = logging.getLogger("ragloom")


class RagloomRetriever(BaseRetriever):
    """Passages of an index as LangChain documents, best first; none where nothing is relevant.

    ``page_content`` is the passage, an exact slice of its file; ``metadata`` holds ``source`` (the path),
    ``start_line`` and ``end_line``, ``headings``, ``relevance`` (0 to 1), ``score``, ``copies`` (where else
    the same text stands), ``searched_for`` (the query, where its spelling was corrected), and under
    ``document`` what the file says of itself. ``id`` is the chunk's. Where nothing is relevant, the log
    ``ragloom`` and the callbacks' ``on_text`` name the closest passage.

    Attributes:
        space: The index.
        top_k: Maximum number of passages; the space's own setting by default.
        min_relevance: The least relevance, 0 to 1; likewise.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``; likewise.
        per_file: Maximum number of passages of one file; by default 0 for no maximum, as a context has it.
    """

    space: Space
    top_k: int | None = None
    min_relevance: float | None = None
    mode: Mode | None = None
    per_file: int = 0

    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        space: str = "default",
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: Mode | None = None,
        per_file: int = 0,
    ) -> RagloomRetriever:
        """A retriever for a space of the workspace at ``path``.

        Raises:
            ConfigError: The folder does not exist, or a setting is wrong.
        """
        chosen = Workspace.open(path, config=config, host=host).space(space)
        return cls(
            space=chosen, top_k=top_k, min_relevance=min_relevance, mode=mode, per_file=per_file
        )

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
    ) -> list[Document]:
        """Search the space without updating it; a NotIndexedError where nothing is indexed yet."""
        with (
            self._lock
        ):  # batch() searches from several threads; a component is used from one at a time
            result = self.space.search(
                query,
                top_k=self.top_k,
                min_relevance=self.min_relevance,
                mode=self.mode,
                per_file=self.per_file,
            )
        if not result.hits:
            told = f"no document: {why_empty(result, _HOW)}"
            _LOG.warning(told)
            run_manager.on_text(told)
        return [_document(hit, result.searched_for) for hit in result.hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
    ) -> list[Document]:
        """As the other, on a thread."""
        return await asyncio.to_thread(
            self._get_relevant_documents, query, run_manager=run_manager.get_sync()
        )


def _document(hit: Hit, searched_for: str) -> Document:
    chunk = hit.chunk
    return Document(
        id=chunk.id,
        page_content=chunk.text,
        metadata={
            "source": chunk.uri,
            "start_line": chunk.lines.start,
            "end_line": chunk.lines.end,
            "headings": list(chunk.headings),
            "relevance": hit.relevance,
            "score": hit.score,
            "copies": hit_json(hit, "copies")["copies"],
            "searched_for": searched_for,
            "document": dict(chunk.metadata),
        },
    )

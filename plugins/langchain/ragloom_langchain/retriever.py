"""A retriever for LangChain over any space of ragloom."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from ragloom import (
    Condition,
    ConfigError,
    Hit,
    MissingDependencyError,
    Mode,
    PluginHost,
    Query,
    SearchResult,
    Space,
    SpaceGroup,
    Workspace,
)
from ragloom.config import unknown
from ragloom.context import hit_json, why_empty

try:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as missing:
    raise MissingDependencyError(
        "langchain-core", "ragloom[langchain]", "RagloomRetriever"
    ) from missing
from pydantic import ConfigDict, model_validator

if TYPE_CHECKING:
    from langchain_core.callbacks import (
        AsyncCallbackManagerForRetrieverRun,
        CallbackManagerForRetrieverRun,
    )

_HOW = "see it with min_relevance=0, or read {path}"
_LOG = logging.getLogger("ragloom")
_OPTIONS = ("top_k", "min_relevance", "mode", "where", "per_file")


class SearchOptions(TypedDict, total=False):
    """How to search: for all calls of a retriever, or for one; see :class:`RagloomRetriever`.

    ``k`` is another name of ``top_k``.
    """

    top_k: int | None
    k: int | None
    min_relevance: float | None
    mode: Mode | None
    where: Sequence[Condition | str] | Condition | str
    per_file: int | None


class RagloomRetriever(BaseRetriever):
    """Passages of an index as LangChain documents, best first; none where nothing is relevant.

    ``page_content`` is the passage, an exact slice of its file; ``metadata`` holds ``source`` (the path),
    ``start_line`` and ``end_line``, ``headings``, ``relevance`` (0 to 1), ``score``, ``copies`` (where else
    the same text stands), ``searched_for`` (the query, where its spelling was corrected), and under
    ``document`` what the file says of itself. ``id`` is the chunk's. Where nothing is relevant, the log
    ``ragloom`` and the callbacks' ``on_text`` name the closest passage.

    Each option below, ``space`` aside, can be given with a call, too, for that call alone:
    ``retriever.invoke(query, top_k=1)``. An unknown one is a :class:`~ragloom.ConfigError`.

    Attributes:
        space: The index, or several as one.
        top_k: Maximum number of passages, also by the name ``k``; the space's own setting by default.
        min_relevance: The least relevance, 0 to 1; likewise.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``; likewise.
        where: Conditions that every passage passes, such as ``"path under docs"``.
        per_file: Maximum number of passages of one file; by default 0 for no maximum, as a context has it.
            None leaves it to the space's own setting.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    space: Space | SpaceGroup
    top_k: int | None = None
    min_relevance: float | None = None
    mode: Mode | None = None
    where: Sequence[Condition | str] | Condition | str = ()
    per_file: int | None = 0

    @model_validator(mode="before")
    @classmethod
    def _check(cls, values: object) -> object:
        """Refuse what is unknown or out of range in one line, before pydantic does in five."""
        if not isinstance(values, Mapping):
            return values
        given = _named(values, legal=cls.model_fields)
        _asked("", {name: given[name] for name in _OPTIONS if name in given})
        return given

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        space: str = "default",
        config: str | os.PathLike[str] | None = None,
        host: PluginHost | None = None,
        **options: Unpack[SearchOptions],
    ) -> RagloomRetriever:
        """A retriever for a space of the workspace at ``path``.

        Args:
            path: The folder of the workspace.
            space: The name of the space.
            config: The settings file; that of the folder by default.
            host: The plugins; those that are installed, by default.
            options: See the class.

        Raises:
            ConfigError: The folder does not exist, or a setting or an option is wrong.
        """
        chosen = Workspace.open(path, config=config, host=host).space(space)
        return cls.model_validate({**options, "space": chosen})

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **options: Unpack[SearchOptions],
    ) -> list[Document]:
        """Search the space without updating it; a NotIndexedError where nothing is indexed yet."""
        result = self.space.search(self._query(query, options))
        if told := _nothing(result):
            run_manager.on_text(told)
        return _documents(result)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **options: Unpack[SearchOptions],
    ) -> list[Document]:
        """As the other, without holding the event loop."""
        result = await self.space.asearch(self._query(query, options))
        if told := _nothing(result):
            await run_manager.on_text(told)
        return _documents(result)

    def _query(self, text: str, options: SearchOptions) -> Query:
        own = {name: getattr(self, name) for name in _OPTIONS}
        return _asked(text, own | _named(options, legal=_OPTIONS))


def _named(options: Mapping[str, object], *, legal: Iterable[str]) -> dict[str, object]:
    """The options with ``top_k`` for ``k``; a ConfigError where one is not legal."""
    given = dict(options)
    if "k" in given:
        if "top_k" in given:
            raise ConfigError("k is another name of top_k: give one of them")
        given["top_k"] = given.pop("k")
    for name in given:
        if name not in legal:
            raise ConfigError(f"RagloomRetriever: {unknown('option', name, [*legal, 'k'])}")
    return given


def _asked(text: str, options: Mapping[str, object]) -> Query:
    return Query(text, **cast("dict[str, Any]", options))


def _nothing(result: SearchResult) -> str:
    """Why there is no document, which the log is told; empty where there is one."""
    if result.hits:
        return ""
    told = f"no document: {why_empty(result, _HOW)}"
    _LOG.warning(told)
    return told


def _documents(result: SearchResult) -> list[Document]:
    return [_document(hit, result.searched_for) for hit in result.hits]


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

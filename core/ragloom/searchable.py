"""What can be searched: one space, or several as one."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self, TypeVar

import numpy as np

from ragloom.background import Worker
from ragloom.components import Home
from ragloom.errors import ConfigError, RagloomError
from ragloom.protocols import Embeddings, Formatter, TokenCounter
from ragloom.reports import SearchFinished
from ragloom.retrieval.answers import Answers
from ragloom.retrieval.freshness import text_of
from ragloom.retrieval.query import Query
from ragloom.types import Condition, Context, Hit, Mode, SearchResult

if TYPE_CHECKING:
    from ragloom.context.packing import Strategy

_POOL = 4  # hits to choose from, for each one wanted, where they should differ


class Member(Answers, Protocol):
    """A space that answers queries."""

    @property
    def workspace(self) -> Home:
        """The workspace that it belongs to."""

    @property
    def root(self) -> Path:
        """The folder that uris are relative to."""

    @property
    def formatter(self) -> Formatter:
        """Writes a context as text."""

    @property
    def turn(self) -> AbstractContextManager[object]:
        """Held while its components are used."""


M = TypeVar("M", bound=Member)
T = TypeVar("T")


class Searchable(ABC):
    """Searches, and packs what it finds; plugins hear of every search. A context manager that closes it.

    Threads and coroutines may share it: searches take turns.
    """

    _worker: Worker | None = None

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Free the models' memory and let go of servers; the next search starts them again."""

    @property
    @abstractmethod
    def members(self) -> Sequence[Member]:
        """The spaces."""

    @abstractmethod
    def answer(self, query: Query) -> SearchResult:
        """The result of a query; no plugin is told.

        Raises:
            NotIndexedError: Nothing is indexed yet, or with another model.
        """

    def search(
        self,
        query: Query | str,
        *,
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: Mode | None = None,
        where: Sequence[Condition | str] = (),
        per_file: int | None = None,
    ) -> SearchResult:
        """Search the index as it is; ``index`` brings it up to date.

        Args:
            query: The question or words; or a whole :class:`ragloom.Query`, with none of the others.
            top_k: Maximum number of hits.
            min_relevance: Hits below it, 0 to 1, are not shown.
            mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
            where: Conditions that every hit passes, such as ``"path under docs"``.
            per_file: Maximum number of hits of one file; 0 for no maximum.

        Raises:
            ConfigError: A value is unknown or out of range.
            NotIndexedError: Nothing is indexed yet, or with another model.
        """
        asked = _query(query, top_k, min_relevance, mode, where, per_file)
        started = time.perf_counter()
        with self._turns():
            result = self.answer(asked)
        self._tell(result, started, self._limit(asked))
        return result

    async def asearch(
        self,
        query: Query | str,
        *,
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: Mode | None = None,
        where: Sequence[Condition | str] = (),
        per_file: int | None = None,
    ) -> SearchResult:
        """As :meth:`search`, on a thread: the event loop goes on. Cancelled, the answer is dropped."""
        return await self._apart(
            lambda: self.search(
                query,
                top_k=top_k,
                min_relevance=min_relevance,
                mode=mode,
                where=where,
                per_file=per_file,
            )
        )

    def context(
        self,
        query: Query | str,
        *,
        max_tokens: int = 4000,
        strategy: Strategy = "relevance",
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: Mode | None = None,
        where: Sequence[Condition | str] = (),
        formatter: Formatter | None = None,
        counter: TokenCounter | None = None,
        provider: str | None = None,
    ) -> Context:
        """Search the index as it is, and pack the hits into a budget.

        Of one file all hits are packed, unless a :class:`ragloom.Query` says how many.

        Args:
            query: As for :meth:`search`, like the arguments that are not described here.
            max_tokens: Maximum number of tokens of the context's text, counted by ``counter``.
            strategy: ``relevance``, ``recency`` or ``diversity``; see
                :func:`ragloom.context.build_context`. Diversity chooses among more hits.
            top_k: Maximum number of hits.
            min_relevance: The gate.
            mode: The mode.
            where: Conditions.
            formatter: Writes the passages; by default the one that the settings name.
            counter: Counts the tokens; see :func:`ragloom.context.build_context`.
            provider: Who is shown the context, for the audit log.

        Raises:
            ConfigError: A value is unknown or out of range.
            NotIndexedError: Nothing is indexed yet, or with another model.
        """
        asked = _query(query, top_k, min_relevance, mode, where)
        if asked.per_file is None:
            asked = replace(asked, per_file=0)
        from ragloom.context.packing import build_context

        started = time.perf_counter()
        members = self.members
        with self._turns():
            limit = self._limit(asked)
            varied = strategy == "diversity"
            result = self.answer(replace(asked, top_k=limit * _POOL if varied else limit))
            root = members[0].root
            packed = build_context(
                result.hits,
                max_tokens=max_tokens,
                strategy=strategy,
                counter=counter,
                formatter=formatter or members[0].formatter,
                read_text=(lambda uri: text_of(root / uri)) if result.checked else None,
                root=root,
                modified=_modified(members, result.hits) if strategy == "recency" else None,
                vectors=_vectors(members, result.hits) if varied else None,
                limit=limit,
                reason=result.reason,
            )
        packed = replace(
            packed,
            closest=result.closest,
            searched_for=result.searched_for,
            pending=result.pending,
            checked=result.checked,
        )
        self._tell(result, started, limit, packed, provider)
        return packed

    async def acontext(
        self,
        query: Query | str,
        *,
        max_tokens: int = 4000,
        strategy: Strategy = "relevance",
        top_k: int | None = None,
        min_relevance: float | None = None,
        mode: Mode | None = None,
        where: Sequence[Condition | str] = (),
        formatter: Formatter | None = None,
        counter: TokenCounter | None = None,
        provider: str | None = None,
    ) -> Context:
        """As :meth:`context`, on a thread: the event loop goes on. Cancelled, the answer is dropped."""
        return await self._apart(
            lambda: self.context(
                query,
                max_tokens=max_tokens,
                strategy=strategy,
                top_k=top_k,
                min_relevance=min_relevance,
                mode=mode,
                where=where,
                formatter=formatter,
                counter=counter,
                provider=provider,
            )
        )

    async def _apart(self, work: Callable[[], T]) -> T:
        if self._worker is None:
            self._worker = Worker()
        return await self._worker.run(work)

    def _release_worker(self) -> None:
        if self._worker is not None:
            self._worker.close()

    @contextmanager
    def _turns(self) -> Iterator[None]:
        """The turn of every space, always in the same order, so that no two groups wait for each other."""
        with ExitStack() as held:
            for turn in sorted((member.turn for member in self.members), key=id):
                held.enter_context(turn)
            yield

    def _limit(self, query: Query) -> int:
        usual = max(member.settings.top_k for member in self.members)
        return usual if query.top_k is None else query.top_k

    def _per_file(self, query: Query) -> int:
        """That of the most generous space, as it is with the number of hits."""
        most = [query.most_per_file(member.settings) for member in self.members]
        return max(most) if all(most) else 0

    def _tell(
        self,
        result: SearchResult,
        started: float,
        top_k: int,
        packed: Context | None = None,
        provider: str | None = None,
    ) -> None:
        event = SearchFinished(
            operation="search" if packed is None else "context",
            query=result.query,
            space=result.space,
            generation=result.generation,
            hits=(packed or result).hits,
            seconds=time.perf_counter() - started,
            reason=(packed or result).reason,
            sources=None if packed is None else len(packed.citations),
            tokens=None if packed is None else packed.tokens,
            provider=provider,
            top_k=top_k,
        )
        workspace = self.members[0].workspace
        workspace.host.finished(workspace, event)


def holder(members: Sequence[M], hit: Hit) -> M | None:
    """The first space whose index holds a hit; None where another run has just removed it."""
    for member in members:
        with suppress(RagloomError):
            if len(member.snapshot().rows_of([hit.chunk.id])):
                return member
    return None


def _query(
    query: Query | str,
    top_k: int | None,
    min_relevance: float | None,
    mode: Mode | None,
    where: Sequence[Condition | str],
    per_file: int | None = None,
) -> Query:
    if isinstance(query, str):
        return Query(
            query,
            top_k=top_k,
            min_relevance=min_relevance,
            mode=mode,
            where=where,
            per_file=per_file,
        )
    if (top_k, min_relevance, mode, where, per_file) != (None, None, None, (), None):
        raise ConfigError(
            "a Query says everything: give top_k, min_relevance, mode, where and per_file in it"
        )
    return query


def _modified(members: Sequence[Member], hits: Sequence[Hit]) -> Mapping[str, float]:
    """When each file was modified, by uri; another run may have removed it in between."""
    found: dict[str, float] = {}
    uris = {hit.chunk.uri for hit in hits}
    for member in members:
        with suppress(RagloomError):
            files = member.snapshot().files
            found |= {uri: files[uri].modified for uri in uris & files.keys()}
    return found


def _vectors(members: Sequence[Member], hits: Sequence[Hit]) -> Embeddings | None:
    """``(hits, d)``; None where one is not to be had, or is another model's."""
    rows: list[Embeddings] = []
    models: set[str] = set()
    for hit in hits:
        member = holder(members, hit)
        if member is None:
            return None
        snapshot = member.snapshot()
        models.add(snapshot.meta.embedder)
        rows.append(snapshot.vectors(snapshot.rows_of([hit.chunk.id]))[0])
    made = np.stack(rows) if rows and len(models) == 1 else None
    return None if made is None or np.isnan(made).any() else made

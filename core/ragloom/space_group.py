"""Several spaces, searched as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from ragloom.background import Indexed
from ragloom.context.citations import citation_of
from ragloom.indexing.indexer import LOCK_TIMEOUT
from ragloom.reports import IndexReport
from ragloom.retrieval.query import Query
from ragloom.retrieval.rows import row_of
from ragloom.retrieval.several import search_many
from ragloom.searchable import Searchable, holder
from ragloom.space import Space
from ragloom.types import Citation, Hit, Progress, SearchResult

_RERANKED = 1.0  # scores above it are a reranker's; fused ones are at most that


class SpaceGroup(Searchable, Indexed[tuple[IndexReport, ...]]):
    """Spaces that are searched as one; each model is in memory once. A context manager that closes them.

    >>> with SpaceGroup([workspace.space("docs"), workspace.space("adr")]) as group:
    ...     group.search("how do I log errors?")

    Args:
        spaces: One or more, of one workspace.
    """

    def __init__(self, spaces: Iterable[Space]) -> None:
        self.spaces: Sequence[Space] = list(spaces)
        models: dict[str, Space] = {}
        for space in self.spaces:
            key = repr(space.settings.embedder)
            if models.setdefault(key, space) is not space:
                space.use_embedder_of(models[key])

    def close(self) -> None:
        """Close every space."""
        self._release_worker()
        with ExitStack() as closing:
            for space in self.spaces:
                closing.callback(space.close)

    def index(
        self,
        *,
        full: bool = False,
        allow_empty: bool = False,
        seconds: float | None = None,
        progress: Progress | None = None,
        timeout: float = LOCK_TIMEOUT,
    ) -> tuple[IndexReport, ...]:
        """Bring every space up to date, one after the other; see :meth:`Space.index`.

        Raises:
            RagloomError: As of :meth:`Space.index`, for the first space that fails.
        """
        return tuple(
            space.index(
                full=full,
                allow_empty=allow_empty,
                seconds=seconds,
                progress=progress,
                timeout=timeout,
            )
            for space in self.spaces
        )

    def twin(self) -> SpaceGroup:
        """The same spaces with components of their own, which another thread may use."""
        return SpaceGroup(space.twin() for space in self.spaces)

    @property
    def members(self) -> Sequence[Space]:
        """The spaces."""
        return self.spaces

    def answer(self, query: Query) -> SearchResult:
        """The result of all spaces that have one; what is wrong with the others is its reason.

        Raises:
            RagloomError: None of them answers; the error of the first.
        """
        top_k = self._limit(query)
        results, failed = search_many(replace(query, top_k=top_k), self.spaces)
        if not results:
            raise failed[0]
        if len(self.spaces) == 1:
            return results[0]
        whole = merged(results, top_k, self._per_file(query))
        reasons = [*map(str, failed), *filter(None, [whole.reason])]
        return replace(whole, reason="; ".join(reasons))

    def holder(self, hit: Hit) -> Space:
        """The first space whose index holds a hit; the first of all where none does any more."""
        return holder(self.spaces, hit) or self.spaces[0]

    def citations(self, result: SearchResult) -> tuple[Citation, ...]:
        """The hits as citations, each with the path of its file."""
        return tuple(citation_of(hit, self.holder(hit).root) for hit in result.hits)


def merged(results: Sequence[SearchResult], top_k: int, per_file: int = 0) -> SearchResult:
    """The results of several spaces for one query as one.

    Hits are ordered by their scores, which :func:`ragloom.retrieval.several.search_many` has put on a
    common scale; by relevance where only some are a reranker's. A passage that several spaces hold is
    there once. Figures are in ``benchmarks/README.md``.

    Args:
        results: One or more, with the hits that each would show alone.
        top_k: Maximum number of hits.
        per_file: Maximum number of hits of one file; 0 for no maximum.

    Returns:
        With the names of all spaces, and the largest of their generations.
    """
    hits = [hit for result in results for hit in result.hits]
    comparable = len({hit.score > _RERANKED for hit in hits}) == 1
    ordered = sorted(
        hits,
        key=lambda hit: (-(hit.score if comparable else hit.relevance), hit.chunk.id),
    )
    reasons = [
        f"{result.space}: {result.reason}"
        for result in results
        if result.reason and bool(result.hits) == bool(hits)
    ]
    closest = [result.closest for result in results if result.closest is not None]
    return SearchResult(
        query=results[0].query,
        space=", ".join(result.space for result in results),
        hits=row_of(ordered, top_k=top_k, per_file=per_file),
        reason="; ".join(reasons),
        generation=max(result.generation for result in results),
        closest=None if hits else max(closest, key=lambda hit: hit.relevance, default=None),
        searched_for=next((one.searched_for for one in results if one.searched_for), ""),
        pending=sum(one.pending for one in results),
        checked=all(one.checked for one in results),
    )

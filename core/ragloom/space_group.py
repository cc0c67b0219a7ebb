"""Asking one space, or several as one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ragloom.errors import RagloomError
from ragloom.protocols import Embeddings, Formatter, TokenCounter
from ragloom.retrieval.freshness import follow, text_of
from ragloom.types import Condition, Context, Hit, SearchFinished, SearchResult

if TYPE_CHECKING:
    from ragloom.context.packing import Strategy
    from ragloom.space import Space

__all__ = ["combined", "context", "found", "holder", "search", "share_models", "together"]

_POOL = 4  # hits to choose from, for each one wanted, where they should differ
_RERANKED = 1.0  # scores above it are a reranker's; fused ones are at most that


def search(
    spaces: Sequence[Space],
    query: str,
    *,
    top_k: int | None = None,
    min_relevance: float | None = None,
    mode: str | None = None,
    where: Sequence[Condition] = (),
) -> SearchResult:
    """Ask spaces of one workspace as they are.

    Args:
        spaces: One or more. The arguments that follow are those of :meth:`ragloom.Space.search`.
        query: In words.
        top_k: Hits at the most, in all.
        min_relevance: What is less relevant, 0 to 1, is left out.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        where: Conditions that every hit passes.

    Returns:
        Of several spaces, what :func:`combined` makes of their answers.

    Raises:
        RagloomError: None of them answers: nothing is indexed yet, another model did it, and so on.
    """
    project = spaces[0].workspace.project
    started = time.perf_counter()
    result, _ = _answer(spaces, query, _wanted(spaces, top_k), min_relevance, mode, where)
    event = SearchFinished(
        operation="search",
        query=query,
        space=result.space,
        generation=result.generation,
        hits=result.hits,
        seconds=time.perf_counter() - started,
        reason=result.reason,
    )
    project.host.search_finished(project, event)
    return result


def context(  # noqa: PLR0913 - what is asked, how, and how it is packed
    spaces: Sequence[Space],
    query: str,
    *,
    max_tokens: int = 4000,
    strategy: Strategy = "relevance",
    top_k: int | None = None,
    min_relevance: float | None = None,
    mode: str | None = None,
    where: Sequence[Condition] = (),
    formatter: Formatter | None = None,
    counter: TokenCounter | None = None,
    provider: str | None = None,
) -> Context:
    """Ask spaces of one workspace, and pack what they find into a budget.

    Args:
        spaces: One or more. The arguments that follow are those of :meth:`ragloom.Space.context`.
        query: In words.
        max_tokens: What the text of the context may have at the most, in tokens of ``counter``.
        strategy: ``relevance``, ``recency`` or ``diversity``.
        top_k: Hits at the most, in all.
        min_relevance: What is less relevant, 0 to 1, is left out.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        where: Conditions that every hit passes.
        formatter: Writes the passages; the first space's by default.
        counter: Counts the tokens.
        provider: Who is to be shown the context, for the audit log.

    Raises:
        RagloomError: None of them answers: nothing is indexed yet, another model did it, and so on.
        ConfigError: There is no such strategy.
    """
    from ragloom.context.packing import build_context

    root, project = spaces[0].workspace.root, spaces[0].workspace.project
    started = time.perf_counter()
    wanted = _wanted(spaces, top_k)
    varied = strategy == "diversity"
    asked = wanted * _POOL if varied else wanted
    result, answering = _answer(spaces, query, asked, min_relevance, mode, where)
    packed = build_context(
        result.hits,
        max_tokens=max_tokens,
        strategy=strategy,
        counter=counter,
        formatter=formatter or spaces[0].formatter,
        read_text=lambda uri: text_of(root / uri),
        root=root,
        modified=_modified(answering, result.hits),
        vectors=_vectors(answering, result.hits) if varied else None,
        limit=wanted,
        reason=result.reason,
    )
    event = SearchFinished(
        operation="context",
        query=query,
        space=result.space,
        generation=result.generation,
        hits=packed.hits,
        seconds=time.perf_counter() - started,
        reason=packed.reason,
        sources=len(packed.citations),
        tokens=packed.tokens,
        provider=provider,
    )
    project.host.search_finished(project, event)
    return packed


def found(
    space: Space,
    query: str,
    *,
    top_k: int | None = None,
    min_relevance: float | None = None,
    mode: str | None = None,
    where: Sequence[Condition] = (),
    rerank: bool = True,
) -> SearchResult:
    """What one space answers, each hit compared with its file; nothing is written down.

    Raises:
        NotIndexedError: Nothing is indexed yet, or another model did it.
    """
    from ragloom.retrieval.search import search as searched

    settings, snapshot = space.settings, space.snapshot()
    mode = mode or settings.mode
    words_alone = mode == "lexical"
    result = searched(
        query,
        space=space.name,
        snapshot=snapshot,
        embedder=None if words_alone else space.embedder,
        native=None if words_alone else space.native(),
        calibration=None if words_alone else space.calibration(),
        reranker=space.reranker if rerank else None,
        rerank_depth=settings.rerank_depth,
        mode=mode,
        top_k=settings.top_k if top_k is None else top_k,
        min_relevance=settings.min_relevance if min_relevance is None else min_relevance,
        where=where,
    )
    return follow(result, root=space.workspace.root, files=snapshot.files, loaders=space.loaders)


def combined(results: Sequence[SearchResult], top_k: int) -> SearchResult:
    """The answers of several spaces to one query as one.

    Hits are ordered by their relevance, which means the same everywhere, or where all are reranked by
    the reranker's score. A passage that several spaces hold is there once. Asked in three parts, 5,183
    abstracts answered 400 of SciFact's training claims with nDCG@10 0.754; asked whole, with 0.751.

    Args:
        results: One or more, with the hits that each would show alone.
        top_k: Hits at the most.

    Returns:
        With the names of all spaces, and the largest of their generations.
    """
    hits = {hit.chunk.id: hit for result in results for hit in result.hits}
    reranked = all(hit.score > _RERANKED for hit in hits.values())
    ordered = sorted(
        hits.values(),
        key=lambda hit: (-(hit.score if reranked else hit.relevance), hit.chunk.id),
    )
    reasons = [
        f"{result.space}: {result.reason}"
        for result in results
        if result.reason and bool(result.hits) == bool(hits)
    ]
    return SearchResult(
        query=results[0].query,
        space=", ".join(result.space for result in results),
        hits=tuple(ordered[:top_k]),
        reason="; ".join(reasons),
        generation=max(result.generation for result in results),
    )


def holder(spaces: Sequence[Space], hit: Hit) -> Space | None:
    """The first of the spaces whose index holds a hit; None where another run has just removed it."""
    for space in spaces:
        with suppress(RagloomError):
            if hit.chunk.id in space.snapshot().row_of_id:
                return space
    return None


@contextmanager
def together(spaces: Iterable[Space]) -> Iterator[Sequence[Space]]:
    """Spaces that are asked as one while the block runs; each model is in memory once."""
    with ExitStack() as stack:
        opened = [stack.enter_context(space) for space in spaces]
        share_models(opened)
        yield opened


def share_models(spaces: Sequence[Space]) -> None:
    """Give spaces that ask for the same model the same, so that it is in memory once."""
    models: dict[str, Space] = {}
    for space in spaces:
        key = repr(space.settings.embedder)
        if key in models:
            space.embedder = models[key].embedder
        else:
            models[key] = space


def _wanted(spaces: Sequence[Space], top_k: int | None) -> int:
    return max(space.settings.top_k for space in spaces) if top_k is None else top_k


def _answer(
    spaces: Sequence[Space],
    query: str,
    top_k: int,
    min_relevance: float | None,
    mode: str | None,
    where: Sequence[Condition],
) -> tuple[SearchResult, Sequence[Space]]:
    """The answer of the spaces that have one, and these; what is wrong with the others is its reason."""
    answers: dict[Space, SearchResult] = {}
    failed: list[RagloomError] = []
    for space in spaces:
        try:
            answers[space] = found(
                space, query, top_k=top_k, min_relevance=min_relevance, mode=mode, where=where
            )
        except RagloomError as error:
            failed.append(error)
    if not answers:
        raise failed[0]
    results = list(answers.values())
    if len(spaces) == 1:
        return results[0], spaces
    whole = combined(results, top_k)
    reasons = [*map(str, failed), *filter(None, [whole.reason])]
    return replace(whole, reason="; ".join(reasons)), list(answers)


def _modified(spaces: Sequence[Space], hits: Sequence[Hit]) -> Mapping[str, float]:
    """When each file was modified, by uri; another run may have removed it in between."""
    uris = {hit.chunk.uri for hit in hits}
    return {
        uri: files[uri].modified
        for files in (space.snapshot().files for space in spaces)
        for uri in uris & files.keys()
    }


def _vectors(spaces: Sequence[Space], hits: Sequence[Hit]) -> Embeddings | None:
    """``(hits, d)``; None where one is not to be had, or is another model's."""
    if len({space.snapshot().meta.embedder for space in spaces}) > 1:
        return None
    rows: list[Embeddings] = []
    for hit in hits:
        space = holder(spaces, hit)
        if space is None:
            return None
        snapshot = space.snapshot()
        rows.append(snapshot.vectors[snapshot.row_of_id[hit.chunk.id]])
    return np.stack(rows) if rows else None

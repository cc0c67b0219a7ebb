"""Why a passage was found, and why an expected one was not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragloom.config.spelling import counted
from ragloom.context.packing import build_context
from ragloom.errors import NotIndexedError
from ragloom.retrieval.freshness import text_of
from ragloom.retrieval.relevance import WordEvidence, check_gate, word_evidence
from ragloom.retrieval.search import Ranking, examined, ranked_hits, scale
from ragloom.sources.screening import ending_of
from ragloom.stores.filters import matches
from ragloom.types import Condition, Hit

if TYPE_CHECKING:
    from ragloom.workspace import Space

__all__ = ["Explanation", "HitExplanation", "explain"]

SHOWN = "shown"
_EXPECTED_SHOWN = 3  # passages of the expected file


@dataclass(frozen=True, slots=True, kw_only=True)
class HitExplanation:
    """What speaks for a passage.

    Attributes:
        hit: The passage.
        rank: Its place in the order of the search, from 1.
        dense_rank: Its place by cosine among the candidates; None where none was compared.
        lexical_rank: Its place by BM25 among the candidates; None where it shares no word.
        evidence: The words that it shares with the query.
        verdict: ``shown``, or why it is not.
    """

    hit: Hit
    rank: int
    dense_rank: int | None
    lexical_rank: int | None
    evidence: WordEvidence
    verdict: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a query found what it found.

    Attributes:
        query: As asked.
        words: The stems that were looked for.
        candidates: Passages that were compared.
        min_relevance: The gate.
        hits: The head of that order.
        expected: The best passages of the expected file.
        calibration: What the scale of relevance was fitted on.
        reason: Why the expected file is not there at all; empty when it is, or when none was named.
    """

    query: str
    words: Sequence[str]
    candidates: int
    min_relevance: float
    hits: Sequence[HitExplanation]
    calibration: str
    expected: Sequence[HitExplanation] = ()
    reason: str = ""


def explain(
    space: Space,
    query: str,
    *,
    expect: str | None = None,
    top_k: int | None = None,
    min_relevance: float | None = None,
    mode: str | None = None,
    where: Sequence[Condition] = (),
    max_tokens: int | None = None,
) -> Explanation:
    """Explain a search; the arguments are those of :meth:`ragloom.Space.search`.

    Args:
        space: What is asked.
        query: In words.
        expect: A file that should have been found, relative to the workspace or the current folder.
        top_k: Hits at the most.
        min_relevance: The gate.
        mode: ``hybrid``, ``rrf``, ``dense`` or ``lexical``.
        where: Conditions that every hit passes.
        max_tokens: Explain a context of so many tokens: what it has no room for is not shown.

    Raises:
        NotIndexedError: Nothing is indexed yet, or another model did it.
    """
    top_k = space.settings.top_k if top_k is None else top_k
    gate = check_gate(space.settings.min_relevance if min_relevance is None else min_relevance)
    ranking = space.rank(query, mode=mode, where=where)
    lexical = (mode or space.settings.mode) == "lexical"
    embedder = None if lexical else space.embedder
    calibration = scale(ranking, embedder, None if lexical else space.calibration())
    hits = ranked_hits(space.snapshot(), ranking, embedder, calibration)
    explained = _explained(space, ranking, hits, top_k=top_k, gate=gate)
    head = list(islice(explained, min(2 * top_k, len(ranking.rows))))
    if max_tokens is not None:
        head = _packed(space, head, max_tokens)
    uri = None if expect is None else _uri(space, expect)
    expected: list[HitExplanation] = []
    reason = ranking.reason
    if uri is not None:
        expected = [item for item in head if item.hit.chunk.uri == uri]
        if not expected:
            expected = list(
                islice((item for item in explained if item.hit.chunk.uri == uri), _EXPECTED_SHOWN)
            )
        if not expected:
            reason = _absence(space, uri, where)
    return Explanation(
        query=query,
        words=list(ranking.terms),
        candidates=len(ranking.rows),
        min_relevance=gate,
        hits=head,
        calibration=calibration.source,
        expected=expected[:_EXPECTED_SHOWN],
        reason=reason,
    )


def _explained(
    space: Space, ranking: Ranking, hits: Iterator[Hit], *, top_k: int, gate: float
) -> Iterator[HitExplanation]:
    snapshot = space.snapshot()
    index = snapshot.lexical
    weights = {term: index.inverse_document_frequency(term) for term in ranking.terms}
    dense, lexical = _ranks(ranking.cosine), _ranks(ranking.lexical)
    shown = 0
    for at, hit in enumerate(hits):
        evidence = word_evidence(weights, index.stems, f"{hit.chunk.context}\n{hit.chunk.text}")
        if hit.relevance < gate:
            verdict = f"below the gate: relevance {hit.relevance:.2f}, {gate:.2f} is asked for"
        elif shown >= top_k:
            verdict = f"cut off: no more than {counted(top_k, 'hit')} asked for"
        elif at >= (last := examined(top_k)):
            verdict = f"too far behind: the first {last} are looked at for {counted(top_k, 'hit')}"
        else:
            verdict = SHOWN
            shown += 1
        yield HitExplanation(
            hit=hit,
            rank=at + 1,
            dense_rank=dense[at],
            lexical_rank=lexical[at],
            evidence=evidence,
            verdict=verdict,
        )


def _packed(
    space: Space, explained: Sequence[HitExplanation], max_tokens: int
) -> list[HitExplanation]:
    """The same, with what a context of ``max_tokens`` has no room for."""
    shown = [item.hit for item in explained if item.verdict == SHOWN]
    context = build_context(
        shown,
        max_tokens=max_tokens,
        formatter=space.formatter,
        read_text=lambda uri: text_of(space.workspace.root / uri),
        root=space.workspace.root,
    )
    omitted = {hit.chunk.id for hit in context.omitted}
    why = f"cut by the budget: no room for it in {max_tokens} tokens"
    return [
        replace(item, verdict=why) if item.hit.chunk.id in omitted else item for item in explained
    ]


def _ranks(scores: npt.NDArray[np.float32]) -> list[int | None]:
    """Places from 1 by score, highest first; None for NaN."""
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    places = np.empty(len(scores), int)
    places[order] = np.arange(1, len(scores) + 1)
    return [
        None if np.isnan(score) else int(place) for score, place in zip(scores, places, strict=True)
    ]


def _uri(space: Space, expect: str) -> str:
    root = space.workspace.root
    for path in (root / expect, Path(os.path.realpath(expect))):
        if path.exists():
            return os.path.relpath(path, root).replace(os.sep, "/")
    return expect.replace(os.sep, "/")


def _absence(space: Space, uri: str, where: Sequence[Condition]) -> str:
    """Why no passage of a file is among the candidates."""
    try:
        entry = space.snapshot().files.get(uri)
    except NotIndexedError:
        entry = None
    path = space.workspace.root / uri
    if entry is not None:
        if not entry.chunks:
            return f"{uri} is indexed, and holds no text"
        if where and not matches(uri, entry.metadata, where):
            return f"{uri} is indexed, and does not pass the filter"
        return (
            f"{uri} is indexed in {entry.chunks} chunks, and none is among the candidates: "
            "others are nearer, and share more words with the query"
        )
    if not path.exists():
        return f"{uri} does not exist below {space.workspace.root}"
    if (ending := ending_of(path)) not in space.loaders:
        return f"{uri} is not indexed: no loader reads {ending or 'a name without an ending'}"
    for found in space.walk():
        if found.source.uri == uri:
            return f"{uri} is not indexed: {found.left_out or found.problem or 'run ragloom index'}"
    roots = ", ".join(space.settings.sources)
    return (
        f"{uri} is not indexed: it is outside the sources ({roots}), hidden, ignored by .gitignore or "
        ".ragloomignore, left out by the settings 'include' and 'exclude', written by a tool for itself, "
        "or data, and too large"
    )

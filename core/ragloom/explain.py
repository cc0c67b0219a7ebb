"""Explain why a passage is found, and why an expected one is not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragloom.components import Components
from ragloom.config.spelling import counted
from ragloom.context.packing import build_context
from ragloom.retrieval.answers import Answers
from ragloom.retrieval.freshness import text_of
from ragloom.retrieval.fusion import ranks
from ragloom.retrieval.gate import Judged, farthest, judge
from ragloom.retrieval.nothing import below
from ragloom.retrieval.query import Query
from ragloom.retrieval.relevance import WordEvidence
from ragloom.retrieval.rows import Row
from ragloom.retrieval.search import judged
from ragloom.sources.names import spelled
from ragloom.sources.screening import ending_of
from ragloom.stores.filters import matches
from ragloom.types import Hit

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
    """Why a query finds what it finds.

    Attributes:
        query: The query.
        words: The words that were looked for.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedHits:
    """What every gate above that of the one before, up to this one, shows.

    Attributes:
        min_relevance: The highest of these gates.
        hits: What is shown, best first, with the copies and lines that each names.
    """

    min_relevance: float
    hits: Sequence[Hit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What every gate would show of one query.

    Attributes:
        candidates: All that may be examined, in their order; the verdict is that of a gate of 0.
        examined: How many are at the least.
        total: Passages that were compared.
        gates: By ascending ``min_relevance``; a gate above the last shows nothing.
    """

    candidates: Sequence[HitExplanation]
    examined: int
    total: int
    gates: Sequence[GatedHits]


def sweep(query: Query | str, space: Answers) -> Sweep:
    """Judge the candidates of a query by every gate; see :meth:`ragloom.Space.sweep`."""
    query = Query(query) if isinstance(query, str) else query
    top_k, _, _ = query.choices(space.settings)
    judgement = judged(replace(query, min_relevance=0.0), space, whole=True)
    last, ranking = judgement.examined, judgement.ranking
    dense, lexical = _ranks(ranking.cosine), _ranks(ranking.lexical)
    found = list(islice(judgement.candidates, farthest(last)))
    followed: dict[str, Hit | None] = {}

    def follow(hit: Hit) -> Hit | None:
        if hit.chunk.id not in followed:  # each candidate is compared with its file once
            followed[hit.chunk.id] = space.follow(hit)
        return followed[hit.chunk.id]

    gates: list[GatedHits] = []
    for gate in sorted({item.hit.relevance for item in found}):
        row = Row(top_k, query.most_per_file(space.settings))
        for _ in judge(
            len(found),
            row=row,
            last=last,
            relevance=lambda at: found[at].hit.relevance,
            read=lambda at: (found[at].hit, found[at].evidence),
            min_relevance=gate,
            follow=follow,
        ):
            pass  # into the row
        gates.append(GatedHits(min_relevance=gate, hits=row.hits()))
    return Sweep(
        candidates=[
            HitExplanation(
                hit=item.hit,
                rank=item.rank,
                dense_rank=dense[item.rank - 1],
                lexical_rank=lexical[item.rank - 1],
                evidence=item.evidence,
                verdict=item.verdict,
            )
            for item in found
        ],
        examined=last,
        total=len(ranking.rows),
        gates=gates,
    )


def explain(
    query: Query | str,
    space: Answers,
    components: Components,
    *,
    expect: str | None = None,
    max_tokens: int | None = None,
) -> Explanation:
    """Explain a search by a record of every verdict; see :meth:`ragloom.Space.explain`."""
    query = Query(query) if isinstance(query, str) else query
    if max_tokens is not None and query.per_file is None:
        query = replace(query, per_file=0)  # as a context leaves it
    top_k, least, _ = query.choices(space.settings)
    judgement = judged(query, space, whole=True)
    ranking = judgement.ranking
    dense, lexical = _ranks(ranking.cosine), _ranks(ranking.lexical)
    omitted: set[str] = set()
    candidates = list(islice(judgement.candidates, farthest(judgement.examined)))
    row = {hit.chunk.id: hit for hit in judgement.row.hits()}
    texts = {hit.chunk.text.strip(): hit.chunk for hit in row.values()}

    def explained(item: Judged) -> HitExplanation:
        hit = row.get(item.hit.chunk.id, item.hit)
        verdict = item.verdict if hit.chunk.id not in omitted else "budget"
        relevance, minimum = below(hit.relevance, least)
        same = texts.get(hit.chunk.text.strip(), hit.chunk)
        words = {
            "shown": "shown",
            "copy": f"copy of {same.uri}:{same.lines.start}",
            "folded": "folded: other hits of its file are shown",
            "irrelevant": f"below the minimum: relevance {relevance}, minimum {minimum}",
            "unexamined": f"not examined: only the best {counted(judgement.examined, 'candidate')} are",
            "surplus": f"over the maximum of {counted(top_k, 'hit')}",
            "changed": "omitted: its file changed after indexing",
            "budget": f"omitted: no room in {max_tokens} tokens",
        }
        return HitExplanation(
            hit=hit,
            rank=item.rank,
            dense_rank=dense[item.rank - 1],
            lexical_rank=lexical[item.rank - 1],
            evidence=item.evidence,
            verdict=words[verdict],
        )

    last = max((at for at, one in enumerate(candidates, 1) if one.verdict == "shown"), default=0)
    best = candidates[: max(2 * top_k, last)]
    if max_tokens is not None:
        omitted = _omitted(list(row.values()), components, max_tokens)
    expected: list[Judged] = []
    reason = ranking.reason
    if expect is not None:
        uri = _uri(components.root, expect)
        expected = [item for item in best if item.hit.chunk.uri == uri]
        if not expected:
            later = chain(candidates[len(best) :], judgement.candidates)
            expected = [
                *islice((one for one in later if one.hit.chunk.uri == uri), _EXPECTED_SHOWN)
            ]
        if not expected:
            reason = _absence(query, space, components, uri)
    return Explanation(
        query=query.text,
        words=[word.text for word in judgement.parsed[0].words],
        candidates=len(ranking.rows),
        min_relevance=least,
        hits=[explained(item) for item in best],
        calibration=judgement.calibration.source,
        expected=[explained(item) for item in expected[:_EXPECTED_SHOWN]],
        reason=reason,
    )


def _omitted(shown: Sequence[Hit], components: Components, max_tokens: int) -> set[str]:
    """The chunk ids that a context of ``max_tokens`` has no room for."""
    context = build_context(
        shown,
        max_tokens=max_tokens,
        formatter=components.formatter,
        read_text=lambda uri: text_of(components.root / uri),
        root=components.root,
    )
    return {hit.chunk.id for hit in context.omitted}


def _ranks(scores: npt.NDArray[np.float32]) -> list[int | None]:
    return [None if np.isnan(place) else int(place) for place in ranks(scores)]


def _uri(root: Path, expect: str) -> str:
    for path in (spelled(root / expect), Path(os.path.realpath(spelled(expect)))):
        if path.exists():
            return os.path.relpath(path, root).replace(os.sep, "/")
    return expect.replace(os.sep, "/")


def _absence(query: Query, space: Answers, components: Components, uri: str) -> str:
    """Why no passage of a file is among the candidates."""
    entry = space.snapshot().files.get(uri)
    path = components.root / uri
    if entry is not None:
        if not entry.chunks:
            skipped = next((said for said in entry.warnings if said.startswith("skipped")), "")
            return (
                f"{uri} is not indexed: {skipped}"
                if skipped
                else f"{uri} is indexed, and holds no text"
            )
        if not matches(uri, entry.metadata, (*query.conditions, *space.narrowing)):
            return f"{uri} is indexed, and does not pass the filter"
        return (
            f"{uri} is indexed in {entry.chunks} chunks, and none is among the candidates: "
            "others are nearer, and share more words with the query"
        )
    if not path.exists():
        return f"{uri} does not exist below {components.root}"
    if (ending := ending_of(path)) not in components.loaders:
        return f"{uri} is not indexed: no loader reads {ending or 'a name without an ending'}"
    for found in components.walk():
        if found.uri == uri:
            return f"{uri} is not indexed: {found.skipped or found.problem or 'run ragloom index'}"
    roots = ", ".join(components.settings.sources)
    return (
        f"{uri} is not indexed: it is outside the sources ({roots}), hidden, ignored by .gitignore or "
        ".ragloomignore, excluded by the settings 'include' and 'exclude', generated, "
        "or data, and too large"
    )

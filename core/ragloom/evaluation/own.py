"""Measuring a space with the queries that its own documents make."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path
from posixpath import normpath

import numpy as np

from ragloom.evaluation.askable import content_words
from ragloom.evaluation.measures import Measured
from ragloom.evaluation.own_queries import KINDS, OwnQuery
from ragloom.evaluation.withheld import merged, moved, without
from ragloom.retrieval.query import Query
from ragloom.retrieval.ranking import Ranking
from ragloom.retrieval.search import judged, result_of
from ragloom.snapshot import Snapshot
from ragloom.stores.atomic import replace_file
from ragloom.types import Chunk, Document, Progress, Span

_AMONG = 10  # ranks that count
_SHOWN = 5  # a query is answerable when an ungated search has the answer among so many
_MISSES = 10
_DEEPEST = 1000  # ranks in which the answer of a miss is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """A query whose answer stands far behind, or nowhere.

    Attributes:
        query: As asked.
        kind: What it was made of.
        found_at: Where its text stands: file and line.
        answer: The file that answers it.
        rank: Of the answer, from 1; None where it is no candidate.
        why: In a line.
    """

    query: str
    kind: str
    found_at: str
    answer: str
    rank: int | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEvaluation:
    """The figures of one way to index and search.

    Attributes:
        label: What differs from the settings, such as ``mode=rrf``; ``as set`` for nothing.
        by_query: nDCG@10 by query; of one right answer that is ``1 / log2(1 + rank)``.
        ndcg: Their mean.
        recall: The share of the queries with the answer among the first ten.
        by_kind: nDCG@10 and the number of queries, by kind.
        answerable: Queries whose answer is among the first five without the gate.
        silenced: Of those, the ones that show it no more behind the gate.
        foreign: Queries of other spaces, or everyday questions.
        false: Those of them that show anything.
        latency_ms: Of one search, by query.
        relevances: The best relevance of each answerable query's answer, ungated.
        foreign_relevances: The best relevance of anything, of each foreign query, ungated.
        misses: The worst.
    """

    label: str
    by_query: Mapping[str, float]
    ndcg: float
    recall: float
    by_kind: Mapping[str, tuple[float, int]]
    answerable: int
    silenced: int
    foreign: int
    false: int
    latency_ms: Sequence[float]
    relevances: Sequence[float]
    foreign_relevances: Sequence[float]
    misses: Sequence[Miss]


def write_copy(
    documents: Iterable[Document], queries: Sequence[OwnQuery], folder: Path, root: Path
) -> Sequence[OwnQuery]:
    """Write the documents below a folder without what the queries withhold; no other file stays there.

    What was extracted, as from PDF, is copied. Files that say so already stay as they are.

    Args:
        documents: With the uris that the queries name.
        queries: Of :func:`ragloom.evaluation.own_queries.own_queries`.
        folder: Is made.
        root: What the uris are relative to.

    Returns:
        The queries, with uris and spans of the copy.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[Span]] = {}
    for query in queries:
        for uri, spans in query.withheld.items():
            found.setdefault(uri, []).extend(spans)
    withheld = {uri: merged(spans) for uri, spans in found.items()}
    written = set[Path]()
    for document in documents:
        path = folder / copied_uri(document.uri)
        if document.extracted:
            content = (root / document.uri).read_bytes()
        else:
            text = without(document.prefix + document.text, withheld.get(document.uri, ()))
            content = text.encode("utf-8", "replace")
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
        written.add(path)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in written:
            path.unlink()
    return [
        replace(
            query,
            uri=copied_uri(query.uri),
            span=moved(query.span, withheld.get(query.uri, ())),
        )
        for query in queries
    ]


def copied_uri(uri: str) -> str:
    """The name of a file in the copy: no dots lead out of it, or hide it."""
    parts = normpath(uri.replace("\\", "/")).lstrip("/").split("/")
    return "/".join(f"_{part}" if part.startswith(".") else part for part in parts)


def evaluate_own(
    space: Measured,
    queries: Sequence[OwnQuery],
    foreign: Sequence[str],
    *,
    label: str = "as set",
    progress: Progress | None = None,
) -> OwnEvaluation:
    """Ask the queries of a copy, and others that it cannot answer.

    Args:
        space: The index of the copy.
        queries: Of :func:`write_copy`.
        foreign: Queries that the documents do not answer.
        label: Of the result.
        progress: Told how many queries are done.
    """
    by_query: dict[str, float] = {}
    ranks: list[int | None] = []
    latency, relevances, foreign_relevances = list[float](), list[float](), list[float]()
    answerable = silenced = false = 0
    total = len(queries) + len(foreign)
    gate = space.settings.min_relevance
    for number, query in enumerate(queries):
        if progress:
            progress("queries", number, total)
        started = time.perf_counter()
        asked = Query(query.text, min_relevance=0.0, top_k=_SHOWN)
        judgement = judged(asked, space)
        hits = result_of(asked, space, judgement).hits
        latency.append((time.perf_counter() - started) * 1000)
        rank = rank_of(query, judgement.ranking, space.snapshot())
        ranks.append(rank)
        by_query[f"{number}"] = 1 / log2(1 + rank) if rank and rank <= _AMONG else 0.0
        right = [hit.relevance for hit in hits if answers(query, hit.chunk)]
        if right:
            answerable += 1
            relevances.append(max(right))
            silenced += max(right) < gate
    for number, text in enumerate(foreign, len(queries)):
        if progress:
            progress("queries", number, total)
        shown = space.answer(Query(text, min_relevance=0.0, top_k=_SHOWN)).hits
        foreign_relevances.append(max((hit.relevance for hit in shown), default=0.0))
        false += foreign_relevances[-1] >= gate
    counts = Counter(query.kind for query in queries)
    by_kind: dict[str, tuple[float, int]] = {
        kind: (
            sum(by_query[f"{at}"] for at, one in enumerate(queries) if one.kind == kind)
            / counts[kind],
            counts[kind],
        )
        for kind in KINDS
        if counts[kind]
    }
    return OwnEvaluation(
        label=label,
        by_query=by_query,
        ndcg=sum(by_query.values()) / max(len(queries), 1),
        recall=sum(value > 0 for value in by_query.values()) / max(len(queries), 1),
        by_kind=by_kind,
        answerable=answerable,
        silenced=silenced,
        foreign=len(foreign),
        false=false,
        latency_ms=latency,
        relevances=relevances,
        foreign_relevances=foreign_relevances,
        misses=_misses(space, queries, ranks),
    )


def answers(query: OwnQuery, chunk: Chunk) -> bool:
    """Whether a chunk shares characters with the answer."""
    start, end = query.span
    return chunk.uri == query.uri and chunk.span.start < end and start < chunk.span.end


def rank_of(query: OwnQuery, ranking: Ranking, snapshot: Snapshot) -> int | None:
    """The place of the answer among the files, from 1; its own file counts before it where it misses it.

    A file has the place of its first chunk, so that indexes of smaller and of larger chunks compare.
    """
    before = set[str]()
    for row in ranking.rows[:_DEEPEST]:
        uri = snapshot.uris[snapshot.file_of_row[row]]
        if uri == query.uri and answers(query, snapshot.chunk(int(row))):
            return len(before) + 1
        before.add(uri)
    return None


def _misses(
    space: Measured, queries: Sequence[OwnQuery], ranks: Sequence[int | None]
) -> Sequence[Miss]:
    missed = [at for at, rank in enumerate(ranks) if rank is None or rank > 1]
    missed.sort(key=lambda at: (-(ranks[at] or _DEEPEST + 1), at))
    return [
        Miss(
            query=queries[at].text,
            kind=queries[at].kind,
            found_at=queries[at].found_at,
            answer=queries[at].uri,
            rank=ranks[at],
            why=_why(space, queries[at]),
        )
        for at in missed[:_MISSES]
    ]


def _why(space: Measured, query: OwnQuery) -> str:
    """What the answer lacks, and what stands before it."""
    snapshot, ranking = space.snapshot(), space.rank(query.text)
    if query.uri not in snapshot.uris:
        return "its file is not in the index"
    number = list(snapshot.uris).index(query.uri)
    rows = np.flatnonzero(snapshot.file_of_row == number)
    chunks = {int(row): snapshot.chunk(int(row)) for row in rows}
    right = {row: chunk for row, chunk in chunks.items() if answers(query, chunk)}
    if not right:
        return "no chunk holds its section"
    asked = content_words(query.text)
    held = max(len(asked & _words_of(chunk)) for chunk in right.values())
    parts = [f"its answer has {held} of {len(asked)} words"]
    cosines = dict(zip(ranking.rows.tolist(), ranking.cosine.tolist(), strict=True))
    near = [cosines[row] for row in right if row in cosines and not np.isnan(cosines[row])]
    if not len(ranking.rows):
        return f"{parts[0]}; nothing is found"
    first = snapshot.chunk(int(ranking.rows[0]))
    if near and not np.isnan(ranking.cosine[0]):
        parts.append(f"cosine {max(near):.2f}, the first {ranking.cosine[0]:.2f}")
    shared = len(asked & _words_of(first))
    same = "the same file, " if first.uri == query.uri else ""
    parts.append(f"first is {same}{first.uri}:{first.lines.start} with {shared} words")
    return "; ".join(parts)


def _words_of(chunk: Chunk) -> set[str]:
    return content_words(f"{' '.join(chunk.headings)} {chunk.context} {chunk.text} {chunk.uri}")

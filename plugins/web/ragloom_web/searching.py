"""The view Search: one query, and what every gate shows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ragloom import Condition, HitExplanation, Json, Query, QueryWords, Snapshot, Space
from ragloom.context import closest_json, hit_json, why_empty

_SCORES = ("path", "start_line", "end_line", "score", "relevance", "cosine", "lexical", "headings")
_BEST = 40  # candidates that are there in any case
_ROWS = 8  # lines from which on a passage is shown from its best ones
_SHOW_ALL = "move the gate to 0 to see it"


def search(space: Space, query: Query) -> dict[str, Json]:
    """What ``ragloom search`` answers, every candidate that a gate shows, and what each gate shows."""
    result = space.search(query)
    top_k, least, mode = query.choices(space.settings)
    swept = space.sweep(query)
    snapshot = space.snapshot()
    words = QueryWords.of(result.searched_for or query.text, snapshot.lexical)
    shown = {hit.chunk.id for gate in swept.gates for hit in gate.hits}
    kept = [
        item
        for item in swept.candidates
        if item.rank <= _BEST or item.hit.chunk.id in shown  # and a few that no gate shows
    ]
    places = {item.hit.chunk.id: at for at, item in enumerate(kept)}
    return {
        "query": query.text,
        "searched_for": result.searched_for,
        "space": space.name,
        "mode": mode,
        "top_k": top_k,
        "min_relevance": least,
        "reason": why_empty(result, _SHOW_ALL),
        "closest": closest_json(result),
        "pending": result.pending,
        "total": swept.total,
        "chunks": len(snapshot),
        "relevances": [float(item.hit.relevance) for item in swept.candidates],
        "candidates": [
            {
                **explained(item),
                "row": row_of(snapshot, item.hit.chunk.id),
                "metadata": cast("Json", item.hit.chunk.metadata),
                "lines": cast("Json", marked_lines(item.hit.chunk.text, words)),
                "best": best_line(item.hit.chunk.text, words),
            }
            for item in kept
        ],
        "gates": [
            {
                "min_relevance": gate.min_relevance,
                "hits": [
                    {
                        "candidate": places[hit.chunk.id],
                        **hit_json(hit, "copies", "more_in_file"),
                    }
                    for hit in gate.hits
                ],
            }
            for gate in swept.gates
        ],
    }


def why(space: Space, query: Query, path: str) -> dict[str, Json]:
    """What ``ragloom explain --expect`` says of a file."""
    told = space.explain(query, expect=path)
    return {
        "path": path,
        "reason": told.reason if not told.expected else "",
        "min_relevance": told.min_relevance,
        "candidates": told.candidates,
        "expected": [
            {**explained(item), "verdict": item.verdict, "missing": _missing(told.words, item)}
            for item in told.expected
        ],
    }


def explained(item: HitExplanation) -> dict[str, Json]:
    """What speaks for a candidate."""
    return {
        "rank": item.rank,
        "dense_rank": item.dense_rank,
        "lexical_rank": item.lexical_rank,
        "matched": item.evidence.matched,
        "coverage": item.evidence.coverage,
        **hit_json(item.hit, *_SCORES),
        "relevance": float(item.hit.relevance),  # as the gates compare it
    }


def row_of(snapshot: Snapshot, chunk_id: str) -> int | None:
    """The row of a chunk; None where it is not in the generation."""
    return next(iter(snapshot.rows_of([chunk_id]).tolist()), None)


def conditions(where: Sequence[str], facets: Mapping[str, Sequence[str]]) -> list[Condition | str]:
    """The conditions of a query: texts, and values of front matter that were chosen."""
    chosen = [
        Condition(field=field, operator="=", value=value)
        for field, values in facets.items()
        for value in values
    ]
    return [*where, *chosen]


def marked_lines(text: str, words: QueryWords) -> list[list[str]]:
    """The lines of a passage, each as texts that are plain and marked by turns, a plain one first."""
    lines = text.rstrip().splitlines()
    found: list[list[str]] = []
    for line in lines:
        parts, at = list[str](), 0
        for start, end in words.spans(line):
            parts += [line[at:start], line[start:end]]
            at = end
        found.append([*parts, line[at:]])
    return found


def best_line(text: str, words: QueryWords) -> int:
    """The line of a passage, from 0, from which the query's words stand."""
    return words.best_start(text.rstrip().splitlines(), _ROWS)


def _missing(words: Sequence[str], item: HitExplanation) -> Json:
    """The words of the query that no form of stands in a passage."""
    text = f"{item.hit.chunk.text} {' '.join(item.hit.chunk.headings)}".casefold()
    return [word for word in words if word.casefold() not in text]


def metadata_values(metadata: Mapping[str, Any]) -> dict[str, list[str]]:
    """The fields of front matter that can be chosen: short texts, numbers, and lists of them."""
    found: dict[str, list[str]] = {}
    for key, value in metadata.items():
        values = value if isinstance(value, list | tuple) else [value]
        if all(isinstance(one, str | int | float) for one in values):
            found[key] = [str(one) for one in values]
    return found

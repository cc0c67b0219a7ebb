"""What is said where no hit is shown."""

from __future__ import annotations

from collections.abc import Sequence

from ragloom.config.spelling import counted
from ragloom.retrieval.parsed_query import ParsedQuery
from ragloom.types import Context, Hit, SearchResult


def no_match(closest: Hit, least: float) -> str:
    """Why nothing is shown: the best relevance, the minimum, and where the closest passage stands."""
    chunk = closest.chunk
    title = f' "{chunk.headings[-1]}"' if chunk.headings else ""
    best, minimum = below(closest.relevance, least)
    return (
        f"no relevant match (best {best}, minimum {minimum}); "
        f"closest: {chunk.uri}:{chunk.lines.start}{title}"
    )


def nothing_asked(query: ParsedQuery) -> str:
    """Why a query asks for nothing, and how to ask for its words all the same; empty where it asks."""
    if not any(map(str.isalnum, query.text)):
        return "the query has no word"
    if not query.words:
        return "the query is small talk and asks for nothing"
    if query.words[0].stop and not query.identifiers and not query.phrases:
        quoted = f'"{" ".join(query.text.split())}"'
        return f"the query has stop words only; in quotation marks they are searched: {quoted!r}"
    return ""


def why_fewer(hits: Sequence[Hit], changed: int, closest: Hit | None, least: float) -> str:
    """Why there are no hits, or fewer; empty where nothing needs saying.

    Args:
        hits: What is shown.
        changed: How many are omitted, since their files have changed.
        closest: The closest candidate, where none passes the gate.
        least: The minimum relevance.
    """
    if changed:
        whose = "its file" if changed == 1 else "their files"
        return f"{counted(changed, 'hit')} omitted: {whose} changed after indexing; run 'ragloom index'"
    return "" if hits or closest is None else no_match(closest, least)


def why_empty(
    found: SearchResult | Context, how: str = "rephrase the query, or read {path}"
) -> str:
    """The reason of an empty result and, where there is a closest passage, how to see it.

    Args:
        found: What has no hits.
        how: In the terms of whoever reads it; ``{path}`` becomes the file of the passage. By default
            those of a model with a tool.
    """
    if found.closest is None:
        return found.reason
    return f"{found.reason}; {how.format(path=found.closest.chunk.uri)}"


def below(relevance: float, least: float) -> tuple[str, str]:
    """A relevance and the minimum with two decimals; where it is less, so is what is shown of it."""
    shown, minimum = f"{relevance:.2f}", f"{least:.2f}"
    if float(minimum) != least:
        minimum = f"{least:g}"
    if relevance < least <= float(shown):
        shown = f"{float(shown) - 0.01:.2f}"
    return shown, minimum

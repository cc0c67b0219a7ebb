"""What ``rag_search`` answers: numbered results, each with its relevance, its source and its end."""

from __future__ import annotations

from pathlib import Path

from ragloom import Context, SearchResult
from ragloom.context import (
    also,
    as_context,
    citation_of,
    header,
    location,
    on_one_line,
    quote_lines,
    titles_line,
    why_empty,
)

NOTHING_FOUND = "No relevant documentation found for your query."

HEADER = header(r"results?\b|end\b|same +text|\d+ +more")
"""What no line of a passage begins like, unless a backslash stands before it."""


class ResultsFormatter:
    """``--- Result 1 (score: 0.823, source: docs/s3.md:45-50 | Guide > Copying) ---``, the passage, an end.

    The score is the relevance; file, lines and headings are for citing. Below a passage stands where else
    its text is, and which lines of its file are further results: ``--- 2 more in this file: lines 12-20,
    40-52 ---``. ``--- end of result 1 ---`` closes it. A line of a passage that reads like one of these
    gets a backslash before it (:mod:`ragloom.context.quoting`), so no document can pass for another.
    """

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; for no citations a fixed sentence and the closest."""
        blocks = [_result(context, number) for number in range(len(context.citations))]
        if not blocks:
            why = on_one_line(why_empty(context)) if context.closest else ""
            blocks = ["\n".join(filter(None, [NOTHING_FOUND, why]))]
        if context.searched_for:
            blocks.insert(0, f"Searched for: {on_one_line(context.searched_for)}")
        return "\n\n".join(blocks)


def _result(context: Context, number: int) -> str:
    citation = context.citations[number]
    titles = titles_line(citation.headings)
    source = f"{location(citation)} | {titles}" if titles else location(citation)
    lines = [
        f"--- Result {number + 1} (score: {citation.relevance:.3f}, source: {source}) ---",
        quote_lines(citation.text, HEADER),
    ]
    for hit in context.hits:
        if (hit.chunk.uri, hit.chunk.lines) == (citation.path, citation.lines):
            lines += [f"--- {on_one_line(phrase)} ---" for phrase in also(hit)]
    return "\n".join([*lines, f"--- end of result {number + 1} ---"])


def rendered(result: SearchResult, root: Path) -> str:
    """The hits of a search below ``root``, best first, neither merged nor packed into a budget."""
    return ResultsFormatter().render(
        as_context(result, (citation_of(hit, root) for hit in result.hits))
    )

"""What ``rag_search`` answers: numbered results, each with its relevance and its source."""

from __future__ import annotations

import re
from pathlib import Path

from ragloom import Context, SearchResult
from ragloom.context import also, as_context, citation_of, on_one_line, why_empty

NOTHING_FOUND = "No relevant documentation found for your query."

_HEADER = re.compile(
    r"^([ \t]*)(-{3} (?:Result \d|same text:|\d+ more in this file:))", re.MULTILINE
)


class ResultsFormatter:
    """``--- Result 1 (score: 0.823, source: docs/ref/s3.md) ---``, then the passage, and so on.

    The score is the relevance. Below a passage stands where else its text is, and which lines of its file
    are further results: ``--- 2 more in this file: lines 12-20, 40-52 ---``. A line of a passage that would
    begin such a header gets a backslash before it, so no document can pass for another.
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
    source = on_one_line(citation.path)
    lines = [
        f"--- Result {number + 1} (score: {citation.relevance:.3f}, source: {source}) ---",
        _HEADER.sub(r"\1\\\2", citation.text.rstrip()),
    ]
    for hit in context.hits:
        if (hit.chunk.uri, hit.chunk.lines) == (citation.path, citation.lines):
            lines += [f"--- {on_one_line(phrase)} ---" for phrase in also(hit)]
    return "\n".join(lines)


def rendered(result: SearchResult, root: Path) -> str:
    """The hits of a search below ``root``, best first, neither merged nor packed into a budget."""
    return ResultsFormatter().render(
        as_context(result, (citation_of(hit, root) for hit in result.hits))
    )

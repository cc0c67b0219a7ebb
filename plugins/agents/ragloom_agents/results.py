"""What ``rag_search`` answers: numbered results, each with its relevance and its source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ragloom import Context, Hit
from ragloom.context import citation_of, on_one_line

NOTHING_FOUND = "No relevant documentation found for your query."

_HEADER = re.compile(r"^([ \t]*)(-{3} Result \d)", re.MULTILINE)


class ResultsFormatter:
    """``--- Result 1 (score: 0.823, source: docs/ref/s3.md) ---``, then the passage, and so on.

    The score is the relevance. A line of a passage that would begin such a header gets a backslash
    before it, so no document can pass for another.
    """

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; a fixed sentence for no citations."""
        results = [
            f"--- Result {number} (score: {citation.relevance:.3f}, "
            f"source: {on_one_line(citation.path)}) ---\n"
            + _HEADER.sub(r"\1\\\2", citation.text.rstrip())
            for number, citation in enumerate(context.citations, start=1)
        ]
        return "\n\n".join(results) or NOTHING_FOUND


def context_of(hits: Sequence[Hit], root: Path, *, reason: str = "") -> Context:
    """The hits as passages of their own, best first, neither merged nor packed into a budget."""
    citations = tuple(citation_of(hit, root) for hit in hits)
    return Context(citations=citations, hits=tuple(hits), reason=reason)

"""Passages as data for a program."""

from __future__ import annotations

import json

from ragloom import Context


class JsonFormatter:
    """One object: ``passages``, each with path, lines, relevance, headings and text; ``reason``."""

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; an empty list and the reason for no citations."""
        passages = [
            {
                "path": citation.path,
                "start_line": citation.lines.start,
                "end_line": citation.lines.end,
                "relevance": round(citation.relevance, 4),
                "headings": list(citation.headings),
                "text": citation.text,
            }
            for citation in context.citations
        ]
        content = {"passages": passages, "reason": context.reason}
        try:
            text = json.dumps(content, ensure_ascii=False)
            text.encode()
        except UnicodeEncodeError:  # a file name that is not UTF-8 has lone surrogates
            text = json.dumps(content)
        return text + "\n"

"""What formatters share: how a passage's source is written, and which of its titles are shown.

:class:`TextFormatter` is here, too, so that a context can be built without any plugin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ragloom.context.quoting import closed, field, run_length, title_line
from ragloom.types import Citation, Context, Hit, Json, SearchResult

_LINE = re.compile(r"[^\r\n]*")
_COPIES, _MORE = 3, 8  # places that are written out
_MARKS = " \t#=*-_~"  # what markup puts around a title


class TextFormatter:
    """Blocks between ``===== [1] docs/a.md:3-9 | Title =====`` and ``===== end [1] =====``.

    A passage is shown letter for letter, so nothing in it is escaped: the delimiter grows instead,
    to one character more than the longest run of its character in any passage.
    """

    def render(self, context: Context) -> str:
        """See :meth:`ragloom.Formatter.render`; empty for no citations."""
        citations = context.citations
        rule = "=" * max(5, 1 + longest_run("=", citations))
        return "\n".join(
            f"{rule} [{number}] {location(citation)}{truncation_note(citation)}{' | ' if titles else ''}"
            f"{titles_line(titles)} "
            f"{rule}\n{closed(citation.text)}{rule} end [{number}] {rule}\n"
            for number, (citation, titles) in enumerate(
                zip(citations, shown_titles(citations), strict=True), start=1
            )
        )


def citation_of(hit: Hit, root: Path) -> Citation:
    """A hit as a passage of its own, of a file below ``root``."""
    chunk = hit.chunk
    return Citation(
        path=chunk.uri,
        file=root / chunk.uri,
        lines=chunk.lines,
        relevance=hit.relevance,
        text=chunk.text,
        headings=chunk.headings,
        content_hash=hit.content_hash,
    )


def hit_json(hit: Hit, *keys: str) -> dict[str, Json]:
    """A hit as JSON: all of ``ragloom search --json`` but the rank, or only some keys in their order."""
    chunk = hit.chunk
    whole: dict[str, Json] = {
        "score": round(float(hit.score), 6),
        "relevance": round(float(hit.relevance), 6),
        "cosine": None if hit.cosine is None else round(float(hit.cosine), 6),
        "lexical": None if hit.lexical is None else round(float(hit.lexical), 6),
        "path": chunk.uri,
        "start_line": chunk.lines.start,
        "end_line": chunk.lines.end,
        "start_byte": chunk.bytes.start,
        "end_byte": chunk.bytes.end,
        "span": list(chunk.span),
        "headings": list(chunk.headings),
        "text": chunk.text,
        "metadata": chunk.metadata,
        "content_hash": hit.content_hash,
        "copies": [
            {"path": copy.uri, "start_line": copy.lines.start, "end_line": copy.lines.end}
            for copy in hit.copies
        ],
        "more_in_file": [
            {"start_line": lines.start, "end_line": lines.end} for lines in hit.more_in_file
        ],
    }
    return {key: whole[key] for key in keys} if keys else whole


def closest_json(found: SearchResult | Context) -> Json:
    """The closest passage, where none is relevant enough, as JSON; null elsewhere."""
    keys = ("path", "start_line", "end_line", "relevance", "headings")
    return None if found.closest is None else hit_json(found.closest, *keys)


def also(hit: Hit, shown: Callable[[str], str] = str) -> Sequence[str]:
    """What a hit names: where else its text stands, and what more its file has; a phrase each.

    ``shown`` writes the path of a file.
    """
    copies = [f"{shown(copy.uri)}:{copy.lines.start}" for copy in hit.copies]
    more = [f"{start}-{end}" if end > start else f"{start}" for start, end in hit.more_in_file]
    phrases: list[str] = []
    if copies:
        phrases.append(f"same text: {_listed(copies, _COPIES)}")
    if more:
        line = "lines" if len(more) > 1 or "-" in more[0] else "line"
        phrases.append(f"{len(more)} more in this file: {line} {_listed(more, _MORE)}")
    return phrases


def as_context(result: SearchResult, citations: Iterable[Citation]) -> Context:
    """The hits of a search as passages of their own, neither merged nor packed into a budget."""
    return Context(
        citations=tuple(citations),
        hits=result.hits,
        reason=result.reason,
        closest=result.closest,
        searched_for=result.searched_for,
        pending=result.pending,
        checked=result.checked,
    )


def location(citation: Citation) -> str:
    """``docs/a.md:3-9``, or ``docs/a.md:3`` for one line; what is not printable is escaped.

    A path with ``:``, ``|`` or quotation marks stands in quotation marks, so that it names no other place.
    """
    start, end = citation.lines
    return f"{field(citation.path, ':', '|')}:{start}" + (f"-{end}" if end != start else "")


def truncation_note(citation: Citation) -> str:
    """`` (truncated)``, after the place of a passage that goes on in its file."""
    return " (truncated)" if citation.truncated else ""


def titles_line(titles: Sequence[str]) -> str:
    """``Guide > Logging``; a title that holds `` > `` or ``|`` stands in quotation marks."""
    return " > ".join(field(line, " > ", "|") for line in map(title_line, titles) if line)


def shown_titles(citations: Sequence[Citation]) -> list[tuple[str, ...]]:
    """The titles to write above each passage, on one line each, so that none is shown twice.

    A title with which the passage itself begins is omitted, and so are the titles of a passage of
    which an earlier one, of the same file, had the same.
    """
    shown: list[tuple[str, ...]] = []
    known: set[tuple[str, tuple[str, ...]]] = set()
    for citation in citations:
        titles = citation.headings
        key = citation.path, titles
        if key in known:
            titles = ()
        known.add(key)
        if titles and _plain(titles[-1]) == _plain(_first_line(citation.text)):
            titles = titles[:-1]
        shown.append(tuple(map(title_line, titles)))
    return shown


def longest_run(character: str, citations: Iterable[Citation]) -> int:
    """The most times that ``character`` is seen in a row in anything that a file decides."""
    return run_length(
        character, (text for one in citations for text in (one.text, one.path, *one.headings))
    )


def _listed(places: Sequence[str], most: int) -> str:
    left = len(places) - most
    named = ", ".join(places if left <= 0 else places[:most])
    return named if left <= 0 else f"{named} and {left} more"


def _first_line(text: str) -> str:
    match = _LINE.match(text.lstrip())
    return match[0] if match else ""


def _plain(title: str) -> str:
    return " ".join(title.split()).strip(_MARKS)

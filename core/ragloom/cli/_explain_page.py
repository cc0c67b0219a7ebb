"""What ``ragloom explain --html`` writes: one page that loads nothing and runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

from ragloom.cli._session import on_one_line, printable
from ragloom.config.spelling import counted
from ragloom.context.query_words import QueryWords
from ragloom.release import __version__
from ragloom.retrieval.nothing import below

if TYPE_CHECKING:
    from ragloom.explain import Explanation, HitExplanation
    from ragloom.space import Space

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def explain_page(told: Explanation, space: Space, expect: str | None = None) -> str:
    """The explanation of a search as a page of its own: every text of it is text, never markup."""
    style = files("ragloom.cli").joinpath("explain_page.css").read_text("utf-8")
    words = QueryWords.of(told.query, space.snapshot().lexical)
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_text(told.query)}: explained by ragloom</title>",
        f"<style>{style}</style></head><body><main>",
        f"<h1>{_text(told.query)}</h1>",
        f"<p>space {_text(space.name)}, {counted(len(space.snapshot()), 'chunk')}</p>",
        f"<p>{told.candidates:,} candidates</p>",
        f"<p>minimum relevance {told.min_relevance:g}; words: {_text(', '.join(told.words)) or 'none'}</p>",
        f"<p>relevance: {_text(told.calibration)}; ragloom {_text(__version__)}</p>",
    ]
    if told.reason:
        parts.append(f"<p><strong>{_text(told.reason)}</strong></p>")
    parts += _section("Candidates, best first", told.hits, told.min_relevance, words)
    if expect is not None:
        parts += _section(f"Expected: {expect}", told.expected, told.min_relevance, words)
    return "\n".join([*parts, "</main></body></html>\n"])


def _section(
    title: str, items: Sequence[HitExplanation], least: float, words: QueryWords
) -> Iterator[str]:
    yield f"<h2>{_text(title)}</h2>"
    if not items:
        yield "<p>none</p>"
    for item in items:
        chunk = item.hit.chunk
        relevance, minimum = below(item.hit.relevance, least)
        ranks = [("by meaning", item.dense_rank), ("by words", item.lexical_rank)]
        facts = [f"relevance {relevance}, minimum {minimum}", f"score {item.hit.score:.3f}"]
        if item.hit.cosine is not None:
            facts.append(f"cosine {item.hit.cosine:.2f}")
        facts += [f"{name} {rank}" for name, rank in ranks if rank is not None]
        facts.append(f"words {item.evidence.matched} ({item.evidence.coverage:.0%})")
        kind = "shown" if item.verdict == "shown" else "kept-out"
        place = f"{chunk.uri}:{chunk.lines.start}-{chunk.lines.end}"
        yield f'<article class="{kind}"><header><span>{item.rank}</span><code>{_text(place)}</code>'
        yield f'<span class="verdict">{_text(item.verdict)}</span></header>'
        if chunk.headings:
            yield f"<p>{_text(' > '.join(chunk.headings))}</p>"
        yield (
            f'<meter min="0" max="1" low="{least:g}" value="{item.hit.relevance:.4f}" '
            f'aria-label="relevance">{relevance}</meter>'
        )
        yield f'<p class="facts">{"; ".join(facts)}</p><pre>{_marked(chunk.text, words)}</pre></article>'


def _marked(text: str, words: QueryWords) -> str:
    parts, at = list[str](), 0
    for start, end in words.spans(text):
        parts += [_shown(text[at:start]), "<mark>", _shown(text[start:end]), "</mark>"]
        at = end
    return "".join([*parts, _shown(text[at:])])


def _text(text: str) -> str:
    return escape(on_one_line(text))


def _shown(text: str) -> str:
    return escape(printable(text))

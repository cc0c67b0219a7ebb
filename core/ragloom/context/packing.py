"""Hits to context: merged, ordered, and packed into a budget of tokens.

Every decision is made on what the model will be shown: a passage costs what the formatter makes of
it, delimiters and citation included, and the whole text is counted once more at the end.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from ragloom.config.spelling import unknown
from ragloom.context.citations import TextFormatter
from ragloom.context.passages import ReadText, Slice, beginning, merge, slice_of
from ragloom.context.truncation import ends, says_more
from ragloom.errors import ConfigError
from ragloom.protocols import Embeddings, Formatter, TokenCounter
from ragloom.text.tokens import counter as counter_named
from ragloom.types import Citation, Context, Hit

MAX_TOKENS = 4000
"""The budget that is used where none is given, in tokens."""

Strategy: TypeAlias = Literal["relevance", "recency", "diversity"]

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

_SEAM = 0.5
"""Tokens for each passage by which a sum may be wrong: where texts meet, a byte pair vocabulary merges
line ends, and delimiters and numbers grow. Text and Markdown are off by 0, JSON by 0.4."""


def build_context(  # noqa: PLR0913 - everything but the hits has a default
    hits: Sequence[Hit],
    *,
    max_tokens: int = MAX_TOKENS,
    strategy: Strategy = "relevance",
    counter: TokenCounter | None = None,
    formatter: Formatter | None = None,
    read_text: ReadText | None = None,
    root: Path | None = None,
    modified: Mapping[str, float] | None = None,
    vectors: Embeddings | None = None,
    limit: int | None = None,
    reason: str = "",
) -> Context:
    """Pack hits into a budget.

    Hits are taken whole, in the order of the strategy; one that does not fit is omitted and the next
    is tried. Only a hit that would not fit into the whole budget is truncated: after a sentence, or a line
    of a list, a table or code, and never to its title (:attr:`~ragloom.Citation.truncated`).
    Hits of one file that overlap or follow one another become one passage. The same arguments give
    the same context.

    Args:
        hits: In any order.
        max_tokens: Maximum number of tokens of the formatted text, in ``counter``.
        strategy: ``relevance`` puts the highest score first, which is the order of a search, ties by
            relevance; ``recency`` the file changed last; ``diversity`` what is relevant and unlike
            what came before (:func:`~ragloom.context.mmr.maximal_marginal_relevance`).
        counter: Counts the tokens; ``cl100k_base`` by default, an estimate where it is not installed.
        formatter: Writes the passages; as delimited plain text by default.
        read_text: Gives a file's decoded text, so that neighbours with blanks between them can be
            joined. A file that no longer says what its hits say is left as the hits say it.
        root: The workspace, for the absolute paths of citations; the current folder by default.
        modified: When each file was last changed, in seconds since 1970, by uri, for ``recency``.
        vectors: ``(len(hits), d)`` float32 of unit length, for ``diversity``; shared words decide
            without them.
        limit: Consider only so many hits, in the order of the strategy.
        reason: Why there are no hits, if there are none.

    Raises:
        ConfigError: There is no such strategy.
    """
    ordered = _ordered(hits, strategy, modified or {}, vectors, limit)
    packing = _Packing(
        max_tokens=max_tokens,
        counter=counter or counter_named(),
        formatter=formatter or TextFormatter(),
        read_text=cache(read_text) if read_text else None,
        root=Path.cwd() if root is None else root,
        hashes={hit.chunk.uri: hit.content_hash for hit in hits},
    )
    taken = [hit for rank, hit in enumerate(ordered) if packing.take(slice_of(hit, rank))]
    citations, text, tokens = packing.finish()
    shown = {hit.chunk.id for hit in taken[: len(packing.taken)]}
    if not citations:
        reason = _why_empty(ordered, packing) or reason or "nothing was found"
    return Context(
        text=text,
        citations=citations,
        tokens=tokens,
        max_tokens=max_tokens,
        hits=tuple(ordered),
        omitted=tuple(hit for hit in ordered if hit.chunk.id not in shown),
        reason="" if citations else reason,
    )


def _ordered(
    hits: Sequence[Hit],
    strategy: Strategy,
    modified: Mapping[str, float],
    vectors: Embeddings | None,
    limit: int | None,
) -> list[Hit]:
    """Every hit once, in the order in which the strategy takes them."""
    if strategy not in STRATEGIES:
        raise ConfigError(unknown("strategy", strategy, STRATEGIES))
    rows: dict[str, int] = {}
    for row in sorted(range(len(hits)), key=lambda row: _by_score(hits[row])):
        rows.setdefault(hits[row].chunk.id, row)
    ordered = [hits[row] for row in rows.values()]
    if strategy == "recency":
        ordered.sort(key=lambda hit: -modified.get(hit.chunk.uri, 0.0))
    elif strategy == "diversity":
        from ragloom.context.mmr import maximal_marginal_relevance

        known = None if vectors is None else vectors[list(rows.values())]
        ordered = list(maximal_marginal_relevance(ordered, known, limit=limit))
    return ordered if limit is None else ordered[: max(limit, 0)]


def _by_score(hit: Hit) -> tuple[float, float, str]:
    return -hit.score, -hit.relevance, hit.chunk.id


def _why_empty(ordered: Sequence[Hit], packing: _Packing) -> str:
    if not ordered:
        return ""
    best = slice_of(ordered[0], 0)
    place = f"{best.uri}:{best.lines.start}-{best.lines.end}"
    return (
        f"none of {len(ordered)} passages fits into {packing.max_tokens} tokens: the first, {place}, "
        f"takes {packing.cost(best)}"
    )


class _Packing:
    """Passages chosen so far, and what they cost."""

    def __init__(
        self,
        *,
        max_tokens: int,
        counter: TokenCounter,
        formatter: Formatter,
        read_text: ReadText | None,
        root: Path,
        hashes: Mapping[str, str],
    ) -> None:
        self.max_tokens = max_tokens
        self.taken: list[Slice] = []
        self._counter = counter
        self._render = formatter.render
        self._read_text = read_text
        self._hashes = hashes
        self._file = cache(lambda uri: Path(os.path.normpath(root / uri)))
        self._frame = self._count(())  # what a formatter writes whether or not there are passages
        self._joint: int | None = None  # what each further passage costs more than by itself
        self._costs: dict[Slice, int] = {}

    def take(self, new: Slice) -> bool:
        """Add a hit, whole if it fits, and truncated if it could never fit whole."""
        if self._fits([*self.taken, new]):
            self.taken.append(new)
            return True
        if self.cost(new) <= self.max_tokens:
            return False
        if (truncated := self._truncated(new)) is None:
            return False
        self.taken.append(truncated)
        return True

    def cost(self, one: Slice) -> int:
        """Tokens of a context with this passage only."""
        return self._frame + self._alone(one)

    def finish(self) -> tuple[tuple[Citation, ...], str, int]:
        """What is shown: the last ones taken are given up while the whole is over the budget."""
        while self.taken:
            passages = self._passages(self.taken)
            citations = tuple(map(self._citation, passages))
            text = self._render(Context(citations=citations, max_tokens=self.max_tokens))
            tokens = self._counter.count(text)
            if tokens <= self.max_tokens:
                return citations, text, tokens
            self.taken.pop()
        return (), "", 0

    def _fits(self, slices: Sequence[Slice]) -> bool:
        """Whether they all fit together; counted as a whole only where the sum is too close to say."""
        passages = self._passages(slices)
        total = self._frame + sum(map(self._alone, passages))
        if len(passages) == 1:
            return total <= self.max_tokens
        if self._joint is None:
            two = passages[:2]
            self._joint = self._count(two) - self._frame - sum(map(self._alone, two))
        total += self._joint * (len(passages) - 1)
        if abs(total - self.max_tokens) > 1 + _SEAM * len(passages):
            return total <= self.max_tokens
        return self._count(passages) <= self.max_tokens

    def _truncated(self, whole: Slice) -> Slice | None:
        """As many of the first sentences, or lines, as fit; None when not even one does."""
        for places in ends(whole.text):
            too_many = bisect_left(
                places,
                True,  # noqa: FBT003 - the key is a truth value
                key=lambda end: not self._fits([*self.taken, beginning(whole, end)]),
            )
            for end in reversed(places[:too_many]):
                first = beginning(whole, end)
                if not says_more(first.text, whole.headings):
                    break
                if self._fits([*self.taken, first]):
                    return first
        return None

    def _alone(self, passage: Slice) -> int:
        if passage not in self._costs:
            self._costs[passage] = self._count((passage,)) - self._frame
        return self._costs[passage]

    def _count(self, passages: Sequence[Slice]) -> int:
        citations = tuple(map(self._citation, passages))
        shown = Context(citations=citations, max_tokens=self.max_tokens)
        return self._counter.count(self._render(shown))

    def _passages(self, slices: Sequence[Slice]) -> list[Slice]:
        """The slices joined where they meet, in the order of the best hit of each."""
        by_file: dict[str, list[Slice]] = {}
        for one in slices:
            by_file.setdefault(one.uri, []).append(one)
        merged = [joined for same in by_file.values() for joined in merge(same, self._read_text)]
        return sorted(merged, key=lambda one: one.rank)

    def _citation(self, passage: Slice) -> Citation:
        return Citation(
            path=passage.uri,
            file=self._file(passage.uri),
            lines=passage.lines,
            relevance=passage.relevance,
            text=passage.text,
            headings=passage.headings,
            content_hash=self._hashes[passage.uri],
            truncated=passage.truncated,
        )

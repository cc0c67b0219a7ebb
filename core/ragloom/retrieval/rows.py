"""Which hits stand in a row of results: each text once, and only so many of one file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeAlias, TypeVar

from ragloom.types import Chunk, Hit, Lines, Location

Place: TypeAlias = Literal["shown", "copy", "folded", "surplus"]

T = TypeVar("T")


class Row:
    """The hits of one query, added best first.

    Args:
        top_k: Maximum number of hits.
        per_file: Maximum number of hits of one file; 0 for no maximum.
    """

    def __init__(self, top_k: int, per_file: int) -> None:
        self.top_k = top_k
        self._per_file = per_file
        self._hits: list[Hit] = []
        self._by_text: dict[str, int] = {}
        self._of_file: dict[str, list[int]] = {}
        self._copies: dict[int, list[Location]] = {}
        self._more: dict[str, list[Lines]] = {}

    @property
    def full(self) -> bool:
        """Whether there are as many hits as were requested."""
        return len(self._hits) >= self.top_k

    def place(self, chunk: Chunk) -> Place:
        """What becomes of a chunk that passes the gate.

        ``copy`` where its text is shown already, the ends of its lines aside; ``folded`` where the row has
        no room for it, and has another hit of its file that can name it; ``surplus`` where it has none.
        """
        if _said(chunk) in self._by_text:
            return "copy"
        of_file = len(self._of_file.get(chunk.uri, ()))
        if self._per_file and of_file and (self.full or of_file >= self._per_file):
            return "folded"
        return "surplus" if self.full else "shown"

    def add(self, hit: Hit) -> None:
        """Put a hit in its place; what it names itself goes with it."""
        chunk, place = hit.chunk, self.place(hit.chunk)
        at = len(self._hits)
        if place == "shown":
            self._hits.append(hit)
            self._by_text[_said(chunk)] = at
            self._of_file.setdefault(chunk.uri, []).append(at)
        elif place == "copy":
            at = self._by_text[_said(chunk)]
            self._copies.setdefault(at, []).append(Location(chunk.uri, chunk.lines))
        elif place == "folded":
            self._more.setdefault(chunk.uri, []).append(chunk.lines)
        if place in ("shown", "copy"):
            self._copies.setdefault(at, []).extend(hit.copies)
        self._more.setdefault(chunk.uri, []).extend(hit.more_in_file)

    def hits(self) -> tuple[Hit, ...]:
        """Those that are shown, each with its copies, the last of a file with what is folded."""
        last = {of_file[-1]: uri for uri, of_file in self._of_file.items()}
        return tuple(
            replace(
                hit,
                copies=_others(self._copies.get(at, ()), Location(hit.chunk.uri, hit.chunk.lines)),
                more_in_file=self._folded(last[at]) if at in last else (),
            )
            for at, hit in enumerate(self._hits)
        )

    def _folded(self, uri: str) -> tuple[Lines, ...]:
        shown = (self._hits[at].chunk.lines for at in self._of_file[uri])
        return _others(self._more[uri], *shown)


def _said(chunk: Chunk) -> str:
    """The text of a chunk, whatever program ended its lines."""
    return "\n".join(line.rstrip() for line in chunk.text.strip().splitlines())


def _others(found: Iterable[T], *own: T) -> tuple[T, ...]:
    """What was found, each once, without what a hit is itself."""
    return tuple(one for one in dict.fromkeys(found) if one not in own)


def row_of(hits: Iterable[Hit], *, top_k: int, per_file: int) -> tuple[Hit, ...]:
    """The row that hits of several searches make; ``hits`` best first."""
    row = Row(top_k, per_file)
    for hit in hits:
        row.add(hit)
    return row.hits()

"""Words for people: the nearest one that is known, and nouns in the right number."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["counted", "did_you_mean"]


def counted(count: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'loader'?`` with the known word nearest to ``word``, or nothing.

    Letter case is ignored. Nearness is :func:`difflib.get_close_matches` with its own cut-off, 0.6.
    """
    from difflib import get_close_matches

    folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    nearest = get_close_matches(word.casefold(), folded, n=1)
    return f"; did you mean {folded[nearest[0]]!r}?" if nearest else ""

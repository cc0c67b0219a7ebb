"""What somebody may have meant by a word that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'loader'?`` with the known word nearest to ``word``, or nothing.

    Letter case is ignored. Nearness is :func:`difflib.get_close_matches` with its own cut-off, 0.6.
    """
    from difflib import get_close_matches

    folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    nearest = get_close_matches(word.casefold(), folded, n=1)
    return f"; did you mean {folded[nearest[0]]!r}?" if nearest else ""

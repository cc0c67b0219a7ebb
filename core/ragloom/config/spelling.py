"""Words for people: the nearest one that is known, and nouns in the right number."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def counted(count: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'loader'?`` with the :func:`nearest` of the known words, or nothing."""
    found = nearest(word, known)
    return f"; did you mean {found!r}?" if found else ""


def unknown(noun: str, name: str, known: Collection[str]) -> str:
    """``unknown store 'x'; did you mean 'y'?``, or where none is near ``… (available: a, b)``."""
    available = f" (available: {', '.join(known) or 'none'})"
    return f"unknown {noun} {name!r}{did_you_mean(name, known) or available}"


def nearest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The known word that is nearest to ``word``, or an empty string where none is near.

    Letter case is ignored. Nearness, 0 to 1, is that of :func:`difflib.get_close_matches`, as is the
    cut-off.
    """
    from difflib import get_close_matches

    folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    found = get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff)
    return folded[found[0]] if found else ""

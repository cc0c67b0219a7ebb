"""Estimating how many tokens a text is, for want of the vocabulary.

The estimate splits a text as OpenAI's ``cl100k_base`` does before it merges bytes, then sums what such
a piece costs on average: a common word one token, an unknown word more the longer it is, and more
again in a text of mostly unknown words, which is how other languages than English show. The tables
were fitted by linear programming to 27 collections in 13 languages, so that no collection is counted
short and the worst excess is least; ``benchmarks/quality/token_counts.py`` measures it again.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

_PIECE = re.compile(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\w]?[^\W\d_]+|_[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LETTERS = re.compile(r"[^\W\d_]+")

_SURPLUS = 1.02
"""On top of the fit, so that a budget of a few thousand tokens is rarely counted short, either."""

_LENGTHS = (4, 6, 8, 11)
_SHARES = (0.2, 0.4, 0.6, 0.8)
# Unknown words: rows by the share of such words in the text, up to 0.2, up to 0.4, …; columns by
# their length in bytes, up to 4, up to 6, ….
_PLAIN = (
    (1.679, 1.771, 1.775, 2.103, 2.614),
    (1.726, 1.771, 1.775, 2.43, 3.233),
    (1.771, 1.771, 1.775, 2.563, 4.201),
    (1.771, 1.771, 1.775, 2.563, 4.201),
    (2.395, 2.812, 3.437, 4.227, 5.265),
)
_UPPER = ((1.369, 1.965, 2.036, 3.753, 3.753),)
_MIXED = ((2.081, 2.081, 2.081, 2.081, 3.331),)
_ACCENTED = ((1.973, 1.973, 2.024, 3.067, 6.08),)
_VIETNAMESE = ((1.49, 2.754, 2.754, 6.745, 6.825),)
_BEFORE_UNKNOWN = 1.04  # a sign before the letters
_LONG = 20
_EACH_OVER_LONG = 0.3  # for each byte over 20, of which words have none

# Common words: as they are, and with a sign before the letters.
_LOWER_COMMON = (0.987, 1.307)
_TITLE_COMMON = (1.122, 1.693)
_UPPER_COMMON = (1.247, 1.787)
_MIXED_COMMON = (1.14, 1.796)

_DIGITS = 1.06
_SPACE = 1.07
_SIGNS = (0, 1.06, 1.06, 1.427, 1.865, 1.865, 2.42, 2.765, 2.765)  # by their number
_EACH_SIGN_OVER = 0.04  # for each one over 16

# Tokens for each byte of UTF-8, by the last code point of the script's block. Those of Hebrew and
# other scripts that no collection has are guesses on the high side.
_SCRIPTS = (
    (0x36F, 0.384),  # Latin signs
    (0x3FF, 0.514),  # Greek
    (0x52F, 0.263),  # Cyrillic
    (0x5FF, 0.48),  # Armenian, Hebrew
    (0x6FF, 0.388),  # Arabic
    (0x8FF, 0.48),
    (0x97F, 0.385),  # Devanagari
    (0xDFF, 0.48),
    (0xE7F, 0.345),  # Thai
    (0x1FFF, 0.5),
    (0x303F, 0.5),  # punctuation and signs
    (0x30FF, 0.42),  # kana
    (0x33FF, 0.5),
    (0x9FFF, 0.447),  # Han
    (0xABFF, 0.5),
    (0xD7AF, 0.48),  # Hangul
    (0xFFFF, 0.5),
    (0x10FFFF, 0.7),  # emoji
)
_SCRIPT_ENDS = tuple(end for end, _ in _SCRIPTS)


class _Cost(NamedTuple):
    """What a piece costs, by the row of its text: the share of unknown words in it."""

    rows: tuple[float, ...]
    is_word: bool = False
    is_unknown: bool = False


@cache
def _common_words() -> frozenset[str]:
    return frozenset(files("ragloom.text").joinpath("common_words.txt").read_text("ascii").split())


@lru_cache(maxsize=65536)
def _cost(piece: str) -> _Cost:
    match = _LETTERS.search(piece)
    if match is None:
        return _Cost((_without_letters(piece),))
    letters = match[0]
    sign = len(letters) < len(piece) and piece[0] != " "
    if letters.isascii():
        if len(letters) < 3 or letters.lower() in _common_words():  # noqa: PLR2004 - as it was fitted
            return _Cost((_common(letters)[sign],), is_word=len(piece.strip()) > 2)  # noqa: PLR2004
        table = _PLAIN if letters.islower() or letters.istitle() else _MIXED
        return _unknown(_UPPER if letters.isupper() else table, len(letters), sign=sign)
    foreign = ord(next(character for character in letters if character > "\x7f"))
    size = len(letters.encode("utf-8", "surrogatepass"))
    if foreign <= 0x24F:  # noqa: PLR2004 - the end of Latin Extended-B
        return _unknown(_ACCENTED, size, sign=sign)
    if 0x1E00 <= foreign <= 0x1EFF:  # noqa: PLR2004 - Latin Extended Additional
        return _unknown(_VIETNAMESE, size, sign=sign)
    return _Cost((_by_script(piece, foreign),))


def _common(letters: str) -> tuple[float, float]:
    if letters.islower():
        return _LOWER_COMMON
    if letters.isupper() and len(letters) > 3:  # noqa: PLR2004 - as it was fitted
        return _UPPER_COMMON
    return _TITLE_COMMON if letters.istitle() else _MIXED_COMMON


def _unknown(table: tuple[tuple[float, ...], ...], size: int, *, sign: bool) -> _Cost:
    column = bisect_left(_LENGTHS, size)
    extra = _BEFORE_UNKNOWN * sign + _EACH_OVER_LONG * max(size - _LONG, 0)
    return _Cost(tuple(row[column] + extra for row in table), is_word=True, is_unknown=True)


def _without_letters(piece: str) -> float:
    signs = piece.strip()
    if not signs:
        return _SPACE
    if not piece.isascii():
        return _by_script(piece, ord(next(sign for sign in piece if sign > "\x7f")))
    if signs.isdigit():
        return _DIGITS
    over = max(len(signs) - 16, 0)
    return _SIGNS[min(len(signs), len(_SIGNS) - 1)] + _EACH_SIGN_OVER * over


def _by_script(piece: str, foreign: int) -> float:
    _, for_each_byte = _SCRIPTS[bisect_left(_SCRIPT_ENDS, foreign)]
    return for_each_byte * len(piece.encode("utf-8", "surrogatepass"))


def _row(costs: Iterable[tuple[_Cost, int]]) -> int:
    """The row of the tables that is the text's."""
    words = unknown = 0
    for cost, times in costs:
        if cost.is_word:
            words += times
            unknown += times if cost.is_unknown else 0
    return bisect_left(_SHARES, unknown / words) if words else 0


def estimate(text: str) -> int:
    """About how many tokens of ``cl100k_base`` are in ``text``; rather too many than too few."""
    pieces = Counter(_PIECE.findall(text))
    costs = [(_cost(piece), times) for piece, times in pieces.items()]
    row = _row(costs)
    return _whole(_SURPLUS * sum(times * cost.rows[row % len(cost.rows)] for cost, times in costs))


def _whole(tokens: float) -> int:
    """The next whole number; the fit has five decimals, and what is beyond comes of adding up."""
    return math.ceil(round(tokens, 6))


def estimated_spans(text: str) -> list[tuple[int, int]]:
    """As many spans as :func:`estimate` counts, up to one a character, which cover ``text``."""
    pieces = [(match.end(), _cost(match[0])) for match in _PIECE.finditer(text)]
    row = _row((cost, 1) for _, cost in pieces)
    spans: list[tuple[int, int]] = []
    total = 0.0
    begin = 0
    for end, cost in pieces:
        total += _SURPLUS * cost.rows[row % len(cost.rows)]
        parts = min(_whole(total) - len(spans), end - begin)
        if parts < 1:
            continue
        edges = [begin + (end - begin) * part // parts for part in range(parts + 1)]
        spans += pairwise(edges)
        begin = end
    if begin < len(text):  # an end that is counted with what stands before it
        first, _ = spans.pop() if spans else (begin, begin)
        spans.append((first, len(text)))
    return spans

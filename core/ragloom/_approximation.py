"""Estimating how many tokens a text is, for want of the vocabulary.

The estimate cuts a text as OpenAI's ``cl100k_base`` does before it merges bytes, then sums what such a
piece costs on average: a common word one token, an unknown word more the longer it is, and still more in
a text that is mostly unknown words, which is how other languages than English show. The constants were
fitted by linear programming to 27 collections in 13 languages so that no collection is counted short and
the worst excess is least; ``benchmarks/quality/token_counts.py`` measures it again.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from typing import NamedTuple

__all__ = ["estimate", "estimated_spans"]

_PIECE = re.compile(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\w]?[^\W\d_]+|_[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_LETTERS = re.compile(r"[^\W\d_]+")

_SURPLUS = 1.04
"""On top of the fit, so that budgets of a few thousand tokens are rarely counted short, either."""

_SHARES = (0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75)
_LANGUAGE = (0.858, 0.83, 0.8, 1.015, 1.285, 0.791, 1.267, 1.242)
"""Factors on unknown words, by their share among the words: up to 0.15, up to 0.25, …"""

# Unknown words: the intercept, for each byte of letters, and for a sign before them.
_UNKNOWN = {
    "upper": (1.146, 0.309, 0.733),
    "mixed": (1.782, 0.149, 0.341),
    "plain": (0.832, 0.176, 1.048),
    "accented": (0.353, 0.274, 0.616),
    "vietnamese": (0.629, 0.251, 0.691),
}
# Common words: as they are, and with a sign before them.
_COMMON = {"lower": (1.003, 1.233), "title": (1.058, 1.598), "upper": (1.481, 1.686)}
_COMMON_MIXED = (1.076, 1.694)
_COMMON_FACTOR = 1.003
_DIGITS = 0.991
_SPACE = 1.01 * 1.142
_SIGNS = tuple(1.016 * cost for cost in (0, 1.0, 1.031, 1.346, 1.76, 2.152, 2.283, 2.609, 3.249))

# Tokens for each byte of UTF-8, by the last code point of the script's block.
_SCRIPTS = (
    (0x36F, 0.384 * 1.25),  # Latin signs
    (0x3FF, 0.482 * 1.052),  # Greek
    (0x52F, 0.246 * 1.052),  # Cyrillic
    (0x5FF, 0.48),  # Armenian, Hebrew
    (0x6FF, 0.379 * 1.023),  # Arabic
    (0x8FF, 0.48),
    (0x97F, 0.377 * 1.023),  # Devanagari
    (0xDFF, 0.48),
    (0xE7F, 0.33 * 1.142),  # Thai
    (0x1FFF, 0.48),
    (0x303F, 0.35),  # punctuation and signs
    (0x30FF, 0.42),  # kana
    (0x33FF, 0.45),
    (0x9FFF, 0.423 * 1.047),  # Han
    (0xABFF, 0.48),
    (0xD7AF, 0.48),  # Hangul
    (0xFFFF, 0.35),
    (0x10FFFF, 0.7),  # emoji
)
_SCRIPT_ENDS = tuple(end for end, _ in _SCRIPTS)


class _Cost(NamedTuple):
    """What a piece costs; ``unknown`` is to be multiplied by the language's factor."""

    known: float
    unknown: float
    is_word: bool


@cache
def _common_words() -> frozenset[str]:
    return frozenset(files("ragloom").joinpath("common_words.txt").read_text("ascii").split())


@lru_cache(maxsize=65536)
def _cost(piece: str) -> _Cost:
    match = _LETTERS.search(piece)
    if match is None:
        return _Cost(_without_letters(piece), 0.0, is_word=False)
    letters = match[0]
    first = piece[0]
    sign = int(len(letters) < len(piece) and first != " ")
    if letters.isascii():
        if len(letters) < 3 or letters.lower() in _common_words():  # noqa: PLR2004 - as it was fitted
            known = _COMMON_FACTOR * _common(letters)[sign]
            return _Cost(known, 0.0, is_word=len(piece.strip()) > 2)  # noqa: PLR2004 - as above
        case = "plain" if letters.islower() or letters.istitle() else "mixed"
        case = "upper" if letters.isupper() else case
        return _Cost(0.0, _unknown(case, len(letters), sign), is_word=True)
    foreign = ord(next(character for character in letters if character > "\x7f"))
    size = len(letters.encode("utf-8", "surrogatepass"))
    if foreign <= 0x24F:  # noqa: PLR2004 - the end of Latin Extended-B
        return _Cost(0.0, _unknown("accented", size, sign), is_word=True)
    if 0x1E00 <= foreign <= 0x1EFF:  # noqa: PLR2004 - Latin Extended Additional
        return _Cost(0.0, _unknown("vietnamese", size, sign), is_word=True)
    return _Cost(_by_script(piece, foreign), 0.0, is_word=False)


def _common(letters: str) -> tuple[float, float]:
    if letters.isupper() and len(letters) > 3:  # noqa: PLR2004 - as it was fitted
        return _COMMON["upper"]
    if letters.islower():
        return _COMMON["lower"]
    return _COMMON["title"] if letters.istitle() else _COMMON_MIXED


def _unknown(case: str, size: int, sign: int) -> float:
    intercept, for_each_byte, for_sign = _UNKNOWN[case]
    return max(1.0, intercept + for_each_byte * size + for_sign * sign)


def _without_letters(piece: str) -> float:
    signs = piece.strip()
    if not signs:
        return _SPACE
    if not piece.isascii():
        return _by_script(piece, ord(next(sign for sign in piece if sign > "\x7f")))
    return _DIGITS if signs.isdigit() else _SIGNS[min(len(signs), len(_SIGNS) - 1)]


def _by_script(piece: str, foreign: int) -> float:
    _, for_each_byte = _SCRIPTS[bisect_left(_SCRIPT_ENDS, foreign)]
    return for_each_byte * len(piece.encode("utf-8", "surrogatepass"))


def _language(costs: Iterator[tuple[_Cost, int]]) -> float:
    words = unknown = 0
    for cost, times in costs:
        if cost.is_word:
            words += times
            unknown += times if cost.unknown else 0
    return _LANGUAGE[bisect_left(_SHARES, unknown / words)] if words else _LANGUAGE[0]


def estimate(text: str) -> int:
    """About how many tokens of ``cl100k_base`` are in ``text``; rather too many than too few."""
    pieces = Counter(_PIECE.findall(text))
    costs = [(_cost(piece), times) for piece, times in pieces.items()]
    language = _language(iter(costs))
    total = sum(times * (cost.known + language * cost.unknown) for cost, times in costs)
    return math.ceil(_SURPLUS * total)


def estimated_spans(text: str) -> list[tuple[int, int]]:
    """As many spans as :func:`estimate` counts, up to one a character, which cover ``text``."""
    pieces = [(match.start(), match.end(), _cost(match[0])) for match in _PIECE.finditer(text)]
    language = _language((cost, 1) for _, _, cost in pieces)
    spans: list[tuple[int, int]] = []
    total = 0.0
    begin = 0
    for _, end, cost in pieces:
        total += _SURPLUS * (cost.known + language * cost.unknown)
        parts = min(math.ceil(total) - len(spans), end - begin)
        if parts < 1:
            continue
        edges = [begin + (end - begin) * part // parts for part in range(parts + 1)]
        spans += zip(edges, edges[1:], strict=False)
        begin = end
    if begin < len(text):
        spans.append((begin, len(text)))
    return spans

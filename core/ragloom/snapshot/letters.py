"""Characters that make no difference to a word: invisible ones, and accents as an alternative."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

# What has no look of its own and does not end a word: soft hyphens, joiners, directions, variation
# selectors, and the line that stretches an Arabic word.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u0640\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u2064"
    "\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
# What typographers put between groups of digits: blanks at which no line breaks, or thin ones.
_BETWEEN_DIGITS = re.compile(r"(?<=[0-9])[\u00a0\u2007\u2009\u202f](?=[0-9]{3}(?![0-9]))")
# Where combining marks are, roughly: English texts with their quotation marks and arrows have none.
_MARKS_NEAR = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u1dff\u20d0-\u20f0\u2cef-\u2dff\u302a-\u309a\ua66f-\uabff"
    "\ufb1e\ufe20-\ufe2f\U000101fd-\U0001e94a]"
)
_LAST_MARK = 0x1E94A
# Accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs and hamzas. The breve of
# short i is part of a letter; vowel signs of Indic scripts are letters in all but name.
_ACCENTS = re.compile(
    "(?<!\u0438)\u0306|[\u0300-\u0305\u0307-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2"
    "\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8"
    "\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0]+"
)
# Letters that have their accent in one piece.
_PLAIN = str.maketrans(
    {"æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ł": "l", "œ": "oe"}
)


def clean(text: str) -> str:
    """``text`` in compatibility form (NFKC), without invisible characters; 10,000 however it is grouped."""
    if text.isascii():
        return text
    text = _BETWEEN_DIGITS.sub(",", text)
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)))


def has_marks(text: str) -> bool:
    """Whether combining marks may be in ``text``."""
    return not text.isascii() and _MARKS_NEAR.search(text) is not None


@cache
def mark_class() -> str:
    """All combining marks, for a class of a regular expression; from Python's own Unicode."""
    return "".join(
        chr(code)
        for code in range(0x300, _LAST_MARK + 1)
        if unicodedata.category(chr(code))[0] == "M"
    )


@lru_cache(maxsize=1 << 14)
def fold_accents(word: str) -> str:
    """A word in lower case without its accents; the word itself where it has none."""
    if word.isascii():
        return word
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", word))
    return unicodedata.normalize("NFKC", bare).translate(_PLAIN)

"""Enumerators of reStructuredText, such as ``1.``, ``(b)`` or ``iv)``, as docutils reads them."""

from __future__ import annotations

import re

_SIGN = "(?P<sign>[0-9]+|[a-z]|[A-Z]|[ivxlcdm]+|[IVXLCDM]+|#)"
_ENUMERATORS = tuple(
    re.compile(rf"(?P<open>{before})(?<![0-9]){_SIGN}(?P<close>{after})(?: +|$)")
    for before, after in ((r"\(", r"\)"), ("", r"\)"), ("", r"\."))
)
_ROMAN = re.compile(
    r"M{0,4}(CM|CD|D?C{0,3})(XC|XL|L?X{0,3})(IX|IV|V?I{0,3})"  # as docutils, up to 4999
)
_NUMERALS = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")),
    *((40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_VALUES = {letter: value for value, letter in _NUMERALS}


def begins_item(line: str, following: str | None) -> bool:
    """Whether a line is an item of an enumerated list.

    That is where the next line is blank or indented, or begins with the next enumerator; otherwise the line
    is text, or a title such as ``1. Introduction``.

    Args:
        line: Without indentation.
        following: The next line; None at the end of the file.
    """
    match = next(filter(None, (pattern.match(line) for pattern in _ENUMERATORS)), None)
    if match is None:
        return False
    sign = match["sign"]
    after = "#" if sign == "#" else _next(sign)
    if after is None:
        return False
    if following is None or following[:1] in {"", " "}:
        return True
    begins = tuple(f"{match['open']}{one}{match['close']} " for one in (after, "#") if one)
    return following.startswith(begins)


def _next(sign: str) -> str | None:
    """The sign that comes after one; empty for none, and None where ``sign`` counts nothing."""
    if sign.isdigit():
        return str(int(sign) + 1)
    if len(sign) == 1 and sign not in "iI":
        return "" if sign in "zZ" else chr(ord(sign) + 1)
    upper = sign.upper()
    if _ROMAN.fullmatch(upper) is None:
        return None
    values = [_VALUES[letter] for letter in upper]
    pairs = zip(values, [*values[1:], 0], strict=True)
    number = 1 + sum(value if value >= after else -value for value, after in pairs)
    roman = ""
    for value, letters in _NUMERALS:
        roman += letters * (number // value)
        number %= value
    return roman if sign.isupper() else roman.lower()

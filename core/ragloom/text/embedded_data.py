"""Data inside of text, which says nothing to a reader: base64, dumps, paths of drawings, minified code.

No chunk covers it, so it is not embedded, searched or shown. Everything around it is split as if it were
not there, and the spans of its chunks stay slices of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final, NamedTuple

from ragloom.text.splitting import stripped
from ragloom.types import Document, Piece, Span

FINGERPRINT: Final = "embedded-data-1"
"""Changes with these rules."""

_BASE64 = "[A-Za-z0-9+/_-]"
_MOST_BYTES = 256  # in a list such as 0x7f, 0x45
_MINIFIED_LINE = 5_000  # characters; no line of code that people write is as long

_URI: Final = re.compile(
    rf"""(?xi) \b data: (?=[a-z;,])
    (?: [a-z0-9.+-]{{1,100}} / [a-z0-9.+-]{{1,100}} )? (?: ;\s? [\w.+="-]{{1,100}} ){{0,9}} , \s{{0,20}}
    (?: [a-z0-9+/_%-]{{76,}} ={{0,2}} (?: [ \t]*+ \r?\n [ \t>]*+ {_BASE64}{{40,}} ={{0,2}} )*+
        (?: [ \t]*+ \r?\n [ \t>]*+ {_BASE64}+ ={{0,2}} (?= [ \t]* ["')>] ) )?
      | [^\s"'()<>]{{250,}} )"""
)
_RUN: Final = re.compile(rf"(?<!{_BASE64}){_BASE64}{{512,}}={{0,2}}")
_WRAPPED: Final = re.compile(
    r"(?m)^(?:[ \t>]*+[A-Za-z0-9+/]{60,200}={0,2}[ \t]*+\r?\n){6,}"
    r"(?:[ \t>]*+(?:[A-Za-z0-9+/]{20,}={0,2}|[A-Za-z0-9+/]+={1,2})[ \t]*+$)?"
)
_DUMP: Final = re.compile(
    r"(?mi)^(?:[ \t>]*+[0-9a-f]{4,16}[:h]?[ \t]++(?:[0-9a-f]{2,8}[ \t]++){4,}+[^\r\n]*+(?:\r?\n|\Z)){64,}"
)
_BYTES: Final = re.compile(r"(?i)(?:0x[0-9a-f]{2}\b,?\s{0,20}){2,}+")
_DRAWING: Final = re.compile(
    r"""\b(?:d|points)=(?:"[MmLlHhVvCcSsQqTtAaZzeE\d\s,.+-]{512,}"|'[^'<>]{512,}')"""
)
_LONG_LINE: Final = re.compile(rf"(?m)^[^\r\n]{{{_MINIFIED_LINE},}}")


def data_spans(text: str) -> list[Span]:
    """Where ``text`` is data, in order and apart."""
    lowered = text.lower()
    longest_word = max(map(len, text.split()), default=0)
    longest_line = max(map(len, text.split("\n")))
    found: list[Span] = []
    for kind in _KINDS:
        if (
            longest_word >= kind.word
            and longest_line >= kind.line
            and any(sign in lowered for sign in kind.signs)
        ):
            matches = kind.pattern.finditer(text)
            found += [Span(*match.span()) for match in matches if kind.meant(match[0])]
    found.sort()
    apart: list[Span] = []
    for span in found:
        if apart and span.start <= apart[-1].end:
            apart[-1] = Span(apart[-1].start, max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return apart


def without_data(text: str) -> str:
    """``text`` with an ellipsis in place of the data in it."""
    parts: list[str] = []
    position = 0
    for start, end in data_spans(text):
        parts += [text[position:start], "…"]
        position = end
    return "".join([*parts, text[position:]])


def _always(_text: str) -> bool:
    return True


def _is_long(text: str) -> bool:
    return text.lower().count("0x") >= _MOST_BYTES


def _is_encoded(text: str) -> bool:
    """Whether letters are mixed as in base64 or hexadecimal, and not as in words, rules or a genome."""
    letters = re.sub(r"[^A-Za-z0-9]+", "", text)
    digits = sum(map(str.isdecimal, letters))
    upper = sum(map(str.isupper, letters))
    lower = len(letters) - digits - upper
    share = len(letters) / 50
    if set(letters.lower()) <= set("0123456789abcdef"):
        return digits > share and digits < len(letters) * 0.9
    return min(digits, upper / 5, lower / 5) > share and len(letters) > len(text) / 2


def _is_minified(line: str) -> bool:
    """Whether a line is code or data without blanks: https://en.wikipedia.org/wiki/Minification_(programming)."""
    ascii_only = sum(map(str.isascii, line)) / len(line)
    blanks = sum(map(str.isspace, line)) / len(line)
    signs = len(re.findall(r"[{}()\[\];:,=<>\"']", line)) / len(line)
    return ascii_only > 0.9 and blanks < 0.1 and signs > 0.1  # noqa: PLR2004 - prose: 0.17 and 0.02


class _Kind(NamedTuple):
    """A kind of data, and what a text that holds any has, which is quickly told.

    Attributes:
        pattern: What it looks like.
        meant: Whether a match of it is data.
        signs: In lower case, of which the text has one.
        word: The least characters of its longest run without blanks.
        line: The least characters of its longest line.
    """

    pattern: re.Pattern[str]
    meant: Callable[[str], bool] = _always
    signs: Sequence[str] = ("",)
    word: int = 0
    line: int = 0


_KINDS: Final = (
    _Kind(_URI, signs=("data:",), word=76),
    _Kind(_RUN, _is_encoded, word=512),
    _Kind(_WRAPPED, _is_encoded, word=60),
    _Kind(_DUMP),
    _Kind(_BYTES, _is_long, signs=("0x",)),
    _Kind(_DRAWING, signs=("d=", "points=")),
    _Kind(_LONG_LINE, _is_minified, line=_MINIFIED_LINE),
)


class Reduced:
    """A document without its data, and the way back.

    Attributes:
        document: To be split; the document itself where it holds none.
    """

    def __init__(self, document: Document) -> None:
        self._whole = document.text
        self._data = data_spans(document.text)
        self.document: Document = document
        if not self._data:
            return
        edges = [0, *(edge for span in self._data for edge in span), len(document.text)]
        kept = list(zip(edges[::2], edges[1::2], strict=True))
        gone = [0, *accumulate(end - start for start, end in self._data)]
        self._gone = gone
        self._at = [span.start - before for span, before in zip(self._data, gone, strict=False)]
        sections = tuple(
            replace(section, span=Span(*map(self._there, section.span)))
            for section in document.sections
        )
        text = "".join(document.text[start:end] for start, end in kept)
        self.document = replace(document, text=text, sections=sections)

    def restored(self, pieces: Iterable[Piece]) -> list[Piece]:
        """Pieces of :attr:`document` as pieces of the whole, with none of the data in them."""
        if not self._data:
            return list(pieces)
        found = {piece.span: piece for one in pieces for piece in self._restored(one)}
        return [found[span] for span in sorted(found)]

    def _there(self, offset: int) -> int:
        """An offset into the whole text, in the reduced one."""
        number = bisect_right(self._data, offset, key=lambda span: span.start)
        inside = self._data[number - 1].end > offset if number else False
        return self._at[number - 1] if inside else offset - self._gone[number]

    def _restored(self, piece: Piece) -> Iterator[Piece]:
        start, end = piece.span
        first, last = bisect_right(self._at, start), bisect_left(self._at, end)
        if first >= last:  # it holds none
            moved = Span(start + self._gone[first], end + self._gone[first])
            yield replace(piece, span=moved)
            return
        edges = [start + self._gone[first]]
        edges += [edge for span in self._data[first:last] for edge in span]
        edges.append(end + self._gone[last])
        for begin, stop in zip(edges[::2], edges[1::2], strict=True):
            span = stripped(self._whole, begin, stop)
            if span is not None and any(map(str.isalnum, self._whole[span.start : span.end])):
                yield replace(piece, span=span, tokens=None)

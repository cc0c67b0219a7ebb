"""LaTeX: its sectioning commands."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from ragloom import Document, Section, Source, Span
from ragloom.text import read_document
from ragloom_text.lines import without_markup

_RANKS = {
    name: rank
    for rank, name in enumerate(
        ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
    )
}
_VERBATIM = r"(?:[vV]erbatim|BVerbatim|LVerbatim|lstlisting|minted|comment|filecontents|alltt)\*?"
_TOKEN = re.compile(
    rf"""
      \\\\ | \\%
    | (?P<comment>%[^\r\n]*)
    | \\begin\{{(?P<verbatim>{_VERBATIM})\}}
    | \\verb\*?(?P<verb>[^a-zA-Z*\s])
    | (?P<end>\\end\{{document\}})
    | \\(?P<command>{"|".join(_RANKS)})(?![a-zA-Z@])(?P<star>\*?)
    """,
    re.VERBOSE,
)
_BEGIN = re.compile(r"^[^%\r\n]*?\\begin\{document\}", re.MULTILINE)
_TITLE = re.compile(r"^[^%\r\n]*?\\title(?![a-zA-Z@])", re.MULTILINE)
_LINE_END = re.compile(r"[\r\n]")
_BLANK = re.compile(r"(?:\s|%[^\r\n]*(?:[\r\n]|\Z))*")
_LONGEST = 1000  # characters of a title
_DROPPED = re.compile(
    r"\\(?:label|footnote|index|thanks|cite[pt]?|hspace\*?|vspace\*?|(?:text|page)?color|includegraphics)"
    r"(?![a-zA-Z])(?:\[[^\]]*\])?"
)
_ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
}
"""Combining characters by the commands that put an accent on a letter."""
_ACCENT = re.compile(
    r"\\(?:(?P<accent>[`'^~\"=.])\s*|(?P<word>[uvHckrd])(?:\s+|(?=\{)))\{?\\?(?P<letter>[a-zA-Z])\}?"
)
_LETTERS = {"aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø"}
_LETTERS |= {"ss": "ß", "l": "ł", "L": "Ł", "i": "i", "j": "j"}
_LETTER = re.compile(rf"\\({'|'.join(_LETTERS)})(?![a-zA-Z])(?:\{{\}}|\s)?")
_MATH = re.compile(r"(?<!\\)\$[^$]*\$")
_PLAIN = (
    (re.compile(r"(?<!\\)%[^\r\n]*"), " "),
    (
        re.compile(r"\\texorpdfstring\s*\{((?:[^{}]|\{[^{}]*\})*)\}\s*\{((?:[^{}]|\{[^{}]*\})*)\}"),
        r"\2",
    ),
    (re.compile(r"\\\\(?:\[[^\]]*\])?|~|\\[ ,;:/]"), " "),
    (re.compile(r"\\([&%$#_{}-])"), r"\1"),
    (re.compile(r"\\(LaTeX|TeX|BibTeX)\b(?:\{\})?"), r"\1"),
    (re.compile(r"\\verb\*?([^a-zA-Z*\s])(.*?)\1"), r"\2"),
    (re.compile(r"\\[a-zA-Z@]+\*?(?:\[[^\]]*\])?\s*"), ""),
    (re.compile(r"[{}]"), ""),
    (re.compile(r"``|''"), '"'),
)


class LatexLoader:
    """Reads LaTeX, markup and all."""

    suffixes = frozenset({".latex", ".ltx", ".tex"})
    fingerprint = "latex-1"

    def load(self, source: Source, content: bytes) -> Document:
        """As in :class:`ragloom.Loader`, with the titles of its sections."""
        document = read_document(source, content, media_type="text/x-latex")
        text = document.text
        title = _TITLE.search(text)
        argument = _argument(text, title.end()) if title else None
        metadata = {"title": plain_title(text[slice(*argument)])} if argument else {}
        return replace(document, sections=titles(text), metadata=metadata)


def titles(text: str) -> tuple[Section, ...]:
    """The titles of parts, chapters and sections; the outermost that the file has is level 1.

    What stands in comments and verbatim, in the preamble and behind the document is none.
    """
    begin = _BEGIN.search(text)
    found = list(_commands(text, begin.end() if begin else 0))
    outermost = min((rank for rank, _, _ in found), default=0)
    return tuple(
        Section(span=span, level=rank - outermost + 1, title=title) for rank, span, title in found
    )


def _commands(text: str, position: int) -> Iterator[tuple[int, Span, str]]:
    while (match := _TOKEN.search(text, position)) is not None:
        position = match.end()
        if match["end"]:
            return
        if match["verbatim"]:
            closing = text.find(f"\\end{{{match['verbatim']}}}", position)
            position = len(text) if closing < 0 else closing
        elif match["verb"]:
            line = _LINE_END.search(text, position)
            closing = text.find(match["verb"], position, line.start() if line else len(text))
            position = closing + 1 if closing >= 0 else position
        elif match["command"]:
            argument = _argument(text, position)
            if argument is None:
                continue
            position = argument[1] + 1
            title = plain_title(text[slice(*argument)])
            yield _RANKS[match["command"]], Span(match.start(), position), title


def _accented(match: re.Match[str]) -> str:
    return unicodedata.normalize(
        "NFC", match["letter"] + _ACCENTS[match["accent"] or match["word"]]
    )


def _argument(text: str, position: int) -> tuple[int, int] | None:
    """The argument of a command that ends at ``position``, behind one in brackets."""
    short = _group(text, position, "[]")
    return _group(text, short[1] + 1 if short else position, "{}")


def _group(text: str, position: int, marks: str) -> tuple[int, int] | None:
    """What stands between a pair of brackets that begins at ``position``, blanks aside."""
    blank = _BLANK.match(text, position)
    start = blank.end() if blank else position
    if text[start : start + 1] != marks[0]:
        return None
    depth = 0
    at = start
    while at < min(len(text), start + _LONGEST):
        character = text[at]
        if character == "\\":
            at += 1
        elif character in "{[" and (character == marks[0] or character == "{"):
            depth += 1
        elif character in "}]" and (character == marks[1] or character == "}"):
            depth -= 1
            if not depth:
                return start + 1, at
        at += 1
    return None


def plain_title(title: str) -> str:
    """A title without commands, notes and labels, on one line."""
    while (dropped := _DROPPED.search(title)) is not None:
        group = _group(title, dropped.end(), "{}")
        title = title[: dropped.start()] + title[group[1] + 1 if group else dropped.end() :]
    title = _ACCENT.sub(_accented, title)
    title = _LETTER.sub(lambda match: _LETTERS[match[1]], title)
    title = _MATH.sub(lambda match: match[0].replace("\\", " "), title)
    return without_markup(title, _PLAIN)

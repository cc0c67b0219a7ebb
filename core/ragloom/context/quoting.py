"""Quoting: no text of a file can pass for a header or a delimiter around it, and all of it comes back.

There are two kinds of delimiter, and a way for each. One that may grow does: it is longer than any run
of its character in the texts (:func:`run_length`), or carries digits that stand in none
(:func:`absent_digest`). One that is fixed, such as a header with words in it, is protected in the text: a
line that reads like it gets a backslash (:func:`quote_lines`), a tag a character reference
(:func:`quote_tags`). What already has such a mark gets another, as in the mail format mboxrd, so that
undoing it gives back every text.

What a text reads like is told by what a reader sees (:func:`seen`): letters without marks and styles and
nothing that has no width, any dash for ``-``, any blank for a space, and a line after any line break.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import count
from typing import Final
from unicodedata import category, normalize

BREAKS: Final = "\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
"""Where a line may end: https://www.unicode.org/reports/tr14/ and :meth:`str.splitlines`."""

_ALIKE: Final = {
    **dict.fromkeys(BREAKS, "\n"),
    "\t": " ",
    **dict.fromkeys("\u2014\u2015\u2e3a\u2e3b", "---"),  # dashes as long as three
    **dict.fromkeys("\u2212\u2500\u2501\u2012\u2013\u2043", "-"),
    **dict.fromkeys("\u2039\u2329\u276e\u27e8\u29fc\u3008\u300a\u1438\u02c2", "<"),
    **dict.fromkeys("\u3010\u27e6\u3014\u3016\u3018\u301a\u2045", "["),
    # Letters and a symbol without ink.
    **dict.fromkeys("\u115f\u1160\u3164\uffa0", ""),
    "\u2800": " ",
}
_UNSEEN: Final = frozenset({"Mn", "Me", "Cf", "Cc", "Cs"})  # marks, formatting, controls, halves
_IGNORED: Final = (
    range(0xE0000, 0xE1000),
    range(0xFFF0, 0xFFF9),
    range(0x2065, 0x2066),
)  # unassigned

_UNPRINTABLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_BLANKS: Final = re.compile(r"\s+")
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Seen(dict[int, str]):
    """What a reader sees of a character, for :meth:`str.translate`."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in _ALIKE:
            shown = _ALIKE[char]
        elif char.isspace():
            shown = " "
        elif any(code in ignored for ignored in _IGNORED):
            shown = ""
        else:
            kept = (one for one in normalize("NFKD", char) if category(one) not in _UNSEEN)
            shown = "".join("-" if category(one) == "Pd" else one for one in kept)
        self[code] = shown
        return shown


_SEEN: Final = _Seen()


def seen(text: str) -> str:
    """What a reader sees of ``text``, for patterns over it: a line feed for every line break, and so on."""
    return text.translate(_SEEN)


def places_alike(text: str, pattern: re.Pattern[str]) -> Iterator[int]:
    """Where in ``text`` what reads like ``pattern`` begins, in order; its group ``at``, if it has one."""
    group = "at" if "at" in pattern.groupindex else 0
    starts = [match.start(group) for match in pattern.finditer(seen(text))]
    position = width = 0
    for start in starts:
        while width <= start:
            width += len(_SEEN[ord(text[position])])
            position += 1
        yield position - 1


def header(words: str) -> re.Pattern[str]:
    """Lines that read like ``--- WORDS``, for :func:`quote_lines`; ``words`` is an expression."""
    return re.compile(rf"^[ \\]*(?P<at>-{{3,}} *(?:{words}))", re.MULTILINE | re.IGNORECASE)


def quote_lines(text: str, like: re.Pattern[str]) -> str:
    r"""``text`` with a backslash in each line that reads like a header, right before it.

    Args:
        text: Of a file.
        like: Matches such a line as it is :func:`seen`: blanks and backslashes, then its group ``at``.
    """
    return _with(text, places_alike(text, like), lambda char: "\\" + char)


def unquote_lines(text: str, like: re.Pattern[str]) -> str:
    """The text that :func:`quote_lines` was given."""
    kept: list[str] = []
    position = 0
    for place in places_alike(text, like):
        if text[place - 1 : place] == "\\":
            kept.append(text[position : place - 1])
            position = place
    return "".join([*kept, text[position:]])


def quote_tags(text: str, name: str) -> str:
    """``text`` without ``<name`` and ``</name``: ``<`` becomes ``&lt;``, what looks like it ``&#x…;``."""
    return _with(text, places_alike(text, _tag(name)), _reference)


def unquote_tags(text: str, name: str) -> str:
    """The text that :func:`quote_tags` was given."""
    kept: list[str] = []
    position = 0
    for place in places_alike(text, _tag(name)):
        match = _REFERENCE.match(text, place)
        if match is not None:
            kept += [text[position:place], _referred(match)]
            position = match.end()
    return "".join([*kept, text[position:]])


_REFERENCE: Final = re.compile(r"&(?:(?P<again>amp;)|(?P<sign>lt;)|#x(?P<code>[0-9a-f]{1,6});)")


def _tag(name: str) -> re.Pattern[str]:
    begin = r"(?:<|&(?:amp;)*(?:lt|#x[0-9a-f]{1,6});)"
    return re.compile(rf"{begin}(?=\s*/?\s*{name})", re.IGNORECASE)


def _reference(char: str) -> str:
    return {"<": "&lt;", "&": "&amp;"}.get(char, f"&#x{ord(char):x};")


def _referred(match: re.Match[str]) -> str:
    if match["again"]:
        return "&"
    return "<" if match["sign"] else chr(int(match["code"], 16))


def _with(text: str, places: Iterable[int], changed: Callable[[str], str]) -> str:
    """``text`` with the characters at ``places`` changed."""
    parts: list[str] = []
    position = 0
    for place in places:
        parts += [text[position:place], changed(text[place])]
        position = place + 1
    return "".join([*parts, text[position:]])


def replace_alike(text: str, pattern: re.Pattern[str], by: str) -> str:
    """``text`` with ``by`` in place of the first character of whatever reads like ``pattern``."""
    return _with(text, places_alike(text, pattern), lambda _char: by)


def run_length(character: str, texts: Iterable[str]) -> int:
    """The most times that ``character``, or what looks like it, is seen in a row in any text."""
    pattern = re.compile(f"{re.escape(character)}+")
    return max((len(run) for text in texts for run in pattern.findall(seen(text))), default=0)


def absent_digest(texts: Iterable[str], size: int = 8) -> str:
    """``size`` bytes as hex digits that follow from the texts and stand in none of them."""
    whole = "\0".join(texts)
    content, shown = whole.encode("utf-8", "surrogatepass"), seen(whole).lower()
    digests = (
        blake2b(content, digest_size=size, salt=attempt.to_bytes(8, "big")).hexdigest()
        for attempt in count()
    )
    return next(digest for digest in digests if digest not in shown)


def on_one_line(text: str) -> str:
    """One line: line breaks, controls, and what is invisible or turns the direction, become escapes."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def title_line(title: str) -> str:
    """A title on one line: blanks become one space each, and what is invisible is omitted."""
    return _UNPRINTABLE.sub("", _BLANKS.sub(" ", title)).strip()


def field(text: str, *reserved: str) -> str:
    """A value on one line of a header: in quotation marks where it could be read as more than one value."""
    line = on_one_line(text)
    if line and line == line.strip() and not any(mark in f" {line} " for mark in ('"', *reserved)):
        return line
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def attribute(text: str) -> str:
    """A value between the quotation marks of a tag's attribute, on one line."""
    line = on_one_line(text).replace("&", "&amp;").replace('"', "&quot;")
    return line.replace("<", "&lt;").replace(">", "&gt;")


def xml_text(text: str) -> str:
    """``text`` between the tags of an XML 1.0 element; what XML cannot hold becomes U+FFFD."""
    escaped = _NOT_XML.sub("\ufffd", text).translate(_IN_XML)
    return escaped.replace("]]>", "]]&gt;")


def xml_attribute(text: str) -> str:
    """``text`` between the quotation marks of an XML attribute, on one line; a parser gives it back."""
    return _NOT_XML.sub("\ufffd", text).translate(_IN_XML | _IN_XML_ATTRIBUTE)


_IN_XML: Final = {ord("&"): "&amp;", ord("<"): "&lt;", ord("\r"): "&#13;"}
_IN_XML_ATTRIBUTE: Final = {
    ord('"'): "&quot;",
    **{
        code: f"&#{code};" for code in (9, 10, 0x85, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
    },
}


def closed(text: str) -> str:
    """The text, ended by a line feed so that the delimiter begins a line."""
    return text if text.endswith("\n") else text + "\n"

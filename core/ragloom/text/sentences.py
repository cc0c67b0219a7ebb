"""Where sentences begin, in any script.

The rules are those of Unicode's UAX #29 (https://www.unicode.org/reports/tr29/#Sentence_Boundaries) in
short: a full stop ends a sentence when white space follows and the next word is not lower case; the
ideographic full stop and its like need no space. To these come abbreviations, initials and numbering,
which UAX #29 leaves to the implementation, blank lines, and Thai, where a space stands for a full stop.
"""

from __future__ import annotations

import re

_CLOSERS = r"[\"'”’»›\)\]\}」』】）］｝〉》*_`]*+"
_STRONG = "[!?‼⁇⁈⁉؟۔।॥።៕។။։]"
_CANDIDATE = re.compile(
    rf"""
      (?P<strong>(?<!{_STRONG}){_STRONG}++{_CLOSERS})(?=\s)            # ends a sentence before a space
    | (?P<ideographic>[。！？｡．]+[」』】）］｝〉》”’]*)          # needs no space after it
    | (?P<stop>(?:(?<!\.)\.++|(?<!…)…++){_CLOSERS})(?=\s)        # depends on its neighbours
    | (?P<blank>(?:\r\n|\n|\r)[^\S\r\n]*(?=[\r\n]))               # a paragraph ends
    | (?P<thai>(?<=[\u0e00-\u0e7f])(?=[ ]+[\u0e00-\u0e7f]))       # Thai has no full stop
    """,
    re.VERBOSE,
)
_SPACE = re.compile(r"\s*")
_LAST_WORD = re.compile(r"(?:\w|[.'’-](?=\w))+\Z")
_OPENERS = "\"'“‘«‹([{「『【（*_`¿¡"

# A capital may follow these without a new sentence beginning.
_SHORT = """
adm al approx apr art aug av ave bd bldg capt cf ch col corp dec dept dr ed eds e.g eg eq eqs esp est
feb fig figs fr fri gen gov hon hr i.e ie inc jan jr lt ltd maj mar messrs mon mr mrs ms mt nr no nos
nov oct op p para pp prof pt ref refs rep rev sat sec sen sep sept sgt sr st ste sun tab thu tue univ
v viz vol vols vs wed bzw ca d.h evtl ggf u.a usw z.b zzgl sog abb mme mlle sra srta ud uds p.ej
т.е т.д т.п г ул см рис стр
"""
_ABBREVIATIONS = frozenset(_SHORT.split())


def sentence_starts(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """The offsets at which a sentence of ``text[start:end]`` begins, without ``start`` itself.

    Ascending. A sentence carries the white space that follows it; a decimal, a URL, an ellipsis before a
    lower-case word, an initial and a common abbreviation end none.
    """
    end = len(text) if end is None else end
    starts: list[int] = []
    position = start
    while (match := _CANDIDATE.search(text, position, end)) is not None:
        position = max(match.end(), position + 1)
        following = _space_end(text, match.end(), end)
        if following >= end:
            break
        if match.lastgroup == "stop" and not _stops(text, match.start(), following, start):
            continue
        if not starts or following > starts[-1]:
            starts.append(following)
        position = max(position, following)
    return starts


def _space_end(text: str, position: int, end: int) -> int:
    match = _SPACE.match(text, position, end)
    return position if match is None else match.end()


def _stops(text: str, stop: int, following: int, start: int) -> bool:
    """Whether the full stop or ellipsis at ``stop`` ends a sentence when ``following`` comes next."""
    after = text[following]
    if after in _OPENERS and following + 1 < len(text):
        after = text[following + 1]
    if after.islower():
        return False
    word = _LAST_WORD.search(text, max(start, stop - 24), stop)
    if word is None or text[stop : stop + 2] == ".." or text[stop] == "…":
        return True
    last = word[0]
    if len(last) == 1 and last.isalpha():
        return last == "I"  # otherwise an initial: J. Smith
    if last.isdigit() and len(last) <= 3:  # noqa: PLR2004 - "1." numbers, "2024." ends
        return not _begins_item(text, word.start(), start)
    return last.lower() not in _ABBREVIATIONS


def _begins_item(text: str, position: int, start: int) -> bool:
    """Whether ``position`` begins a line or a sentence, so that a number there counts something."""
    while position > start and text[position - 1] in " \t":
        position -= 1
    return position == start or text[position - 1] in "\r\n.!?"

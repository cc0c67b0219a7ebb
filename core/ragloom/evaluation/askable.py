"""Whether a text says enough to be asked as a query."""

from __future__ import annotations

import re

from ragloom.snapshot.languages import STOP_WORDS
from ragloom.text.sentences import sentence_starts

_SHORTEST, _LONGEST = 2, 14  # content words of a query
_OF_SENTENCE = 5  # content words that a sentence has, or it says nothing by itself

WORD = re.compile(r"[^\W_][\w'-]*")
_MARKUP = re.compile(
    r"`++([^`\n]+)`++|`++|\*\*?|__?(?=\w)|(?<=\w)__?|<[^<>\n]*>|\{[^{}\n]*\}"
    r"|!?\[([^\[\]]*)\](?:\([^()]*\))?"
)
_POINTING_BACK = frozenset(("this", "these", "those", "it", "them"))
POINTING = _POINTING_BACK.union(
    "that its they their he she his her we you i there here such both each all some and but so or "  # noqa: SIM905
    "also then thus hence however therefore otherwise instead if when once another other".split()
)
WORDLESS = _POINTING_BACK.union(
    ("here", "link", "page", "see", "more", "click", "read", "docs", "documentation")
)


def plain_text(text: str) -> str:
    """A text on one line, without markup and the targets of links; code stays as it is."""
    return " ".join(_MARKUP.sub(lambda match: match[1] or match[2] or " ", text).split())


def content_words(text: str) -> set[str]:
    """The words of a text that are neither stop words nor numbers, without case."""
    return {word.casefold() for word in WORD.findall(text) if is_content(word)}


def is_content(word: str) -> bool:
    """Whether a word is neither a stop word nor a number."""
    return word.casefold() not in STOP_WORDS and not word.isdigit()


def is_askable(text: str) -> bool:
    """Whether a text has as many content words as a query, and little but letters."""
    letters = sum(char.isalpha() or char.isspace() for char in text)
    words = content_words(text)
    if not text.isascii() and len(words) < _SHORTEST:  # scripts without spaces
        return 6 <= len(text) <= 80  # noqa: PLR2004 - characters
    return _SHORTEST <= len(words) <= _LONGEST and letters >= 0.8 * len(text)


def stands_alone(sentence: str) -> bool:
    """Whether a sentence says what it is about: it neither points back nor is short."""
    if not sentence.isascii() and not WORD.match(sentence):
        return is_askable(sentence)
    words = sentence.casefold().split()[:2]
    pointing = not words or words[0].strip(",") in POINTING or words[-1] in _POINTING_BACK
    whole = sentence[:1].isalnum() and (not sentence[:1].islower() or sentence.islower())
    return (
        whole
        and not pointing
        and is_askable(sentence)
        and len(content_words(sentence)) >= _OF_SENTENCE
    )


def end_of_sentence(text: str) -> int:
    """Where the first sentence or paragraph of a text ends."""
    starts = sentence_starts(text)
    ends = [*starts[:1], *(at for at in (text.find("\n\n"),) if at > 0)]
    return min(ends, default=len(text))

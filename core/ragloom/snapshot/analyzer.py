"""Text into index terms: the same way when a chunk is indexed and when a query is asked.

Words are runs of Unicode letters, digits and underscores, compared without case and in compatibility
form (NFKC). An identifier counts whole and in parts: ``getVectorStore`` gives ``getvectorstore``,
``get``, ``vector`` and ``store``; ``max_connections`` likewise. Scripts written without spaces
give overlapping pairs of characters, the usual bigram analysis. Stemming (Snowball English) is
tantivy's and comes after, on both sides.
"""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"\w+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")
_COMPOUND = re.compile(r"_|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]")
# Han, Hiragana, Katakana, Thai, Lao, Myanmar, Khmer: scripts that put no space between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")

# The Snowball project's English list, without negations; with "me", "my" and the words of questions.
STOP_WORDS = frozenset(
    """
    a about above after again against all am an and any are as at be because been before being below
    between both but by can did do does doing don down during each few for from further had has have
    having he her here hers herself him himself his how i if in into is it its itself just me more
    most my myself now of off on once only or other our ours ourselves out over own s same she
    should so some such t than that the their theirs them themselves then there these they this
    those through to too under until up very was we were what when where which while who whom why
    will with would you your yours yourself yourselves
    """.split()  # noqa: SIM905 - as people read it
)


def analyze(text: str) -> list[str]:
    """The terms of ``text`` in order, before stemming; an identifier's parts follow the whole."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    terms: list[str] = []
    for word in _WORD.findall(text):
        if word.isascii() and (
            (word.islower() and (word.isalpha() or not _COMPOUND.search(word))) or word.isdigit()
        ):
            terms.append(word)
            continue
        if not word.isascii() and _HAS_UNSPACED.search(word):
            terms.extend(_bigrams(word))
            continue
        whole = word.casefold().strip("_")
        if not whole:
            continue
        terms.append(whole)
        if _COMPOUND.search(word):
            parts = _PARTS.findall(word)
            if len(parts) > 1:
                terms.extend(part.casefold() for part in parts)
    return terms


def _bigrams(word: str) -> list[str]:
    """Pairs of neighbouring characters of an unspaced script; other runs stay words."""
    terms: list[str] = []
    for run in _UNSPACED_RUN.findall(word):
        if not _HAS_UNSPACED.match(run):
            terms.append(run.casefold().strip("_"))
        elif len(run) == 1:
            terms.append(run)
        else:
            terms.extend(run[i : i + 2] for i in range(len(run) - 1))
    return [term for term in terms if term]

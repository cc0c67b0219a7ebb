"""The language of a document, its stemmer and its stop words.

A language is named as Snowball names its stemmers; every other one is :data:`OTHER`, which is stemmed as
English, for the names and loan words in it: the English stemmer leaves other scripts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from operator import itemgetter
from typing import TYPE_CHECKING

import tantivy

from ragloom.snapshot.more_stop_words import more_stop_words

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "english"
OTHER = "other"
LANGUAGES: tuple[str, ...] = (
    "arabic", "danish", "dutch", ENGLISH, "finnish", "french", "german", "greek", "hungarian", "italian",
    "norwegian", OTHER, "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish",
)  # fmt: skip
_NOT_LATIN = frozenset({"arabic", "greek", "russian", "tamil", OTHER})
_STOPPED = frozenset(
    {
        "danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian",
        "portuguese", "russian", "spanish", "swedish",
    }
)  # fmt: skip
_BY_CODE = {
    "ar": "arabic", "da": "danish", "nl": "dutch", "en": ENGLISH, "fi": "finnish", "fr": "french",
    "de": "german", "el": "greek", "hu": "hungarian", "it": "italian", "nb": "norwegian",
    "nn": "norwegian", "no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish",
    # Dialects and creoles that the detector takes short texts for, and no language at all.
    "arz": "arabic", "ary": "arabic", "pcm": ENGLISH, "zxx": ENGLISH,
}  # fmt: skip

_SAMPLE = 2048  # characters that decide
# Scripts other than Latin in which a stemmed language is written; None where others are written so, too.
_SCRIPTS: tuple[tuple[re.Pattern[str], str | None], ...] = (
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), "greek"),
    (re.compile("[\u0400-\u052f]"), None),
    (re.compile("[\u0600-\u06ff\u0750-\u077f]"), None),
    (re.compile("[\u0b80-\u0bff]"), "tamil"),
)
_NO_LATIN = re.compile(
    "[^\\W\\d_\u0000-\u036f\u1e00-\u1eff\u2c60-\u2c7f\ua720-\ua7ff\uff00-\uff5a]"
)
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_PLAINLY_ENGLISH = 0.2  # share of English stop words
_SURELY_ENGLISH = 0.3  # the same of a query, where the index holds no English
_FOREIGN = 0.04  # share of other languages' stop words, where there are few English ones
_RARE_ACCENTS = 0.01  # of the characters
_SURE = 0.5  # the detector's probability
# Of names and numbers, behind a sign.
_ENDINGS = {
    "turkish": re.compile("(?<=\\w['\u2019])[^\\W\\d_]{1,6}(?!\\w)"),
    "finnish": re.compile("(?<=\\w:)[^\\W\\d_]{1,4}(?!\\w)"),
}

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
# The commonest of languages that tantivy has no list of and that are written without accents.
_MORE_FOREIGN = [
    "yang",
    "dan",
    "untuk",
    "dengan",
    "dari",
    "pada",
    "eta",
    "bat",
    "dira",
    "ere",
    "este",
]


@cache
def stemmer(language: str) -> tantivy.TextAnalyzer:
    """Stems the words of a text between spaces; English words in texts of other scripts, too."""
    built = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    if language in _NOT_LATIN or language == ENGLISH:
        built = built.filter(tantivy.Filter.stemmer(ENGLISH))
    if language not in (ENGLISH, OTHER):
        built = built.filter(tantivy.Filter.stemmer(language))
    return built.build()


@cache
def _without_stop_words(language: str) -> tantivy.TextAnalyzer:
    built = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return built.filter(tantivy.Filter.stopword(language)).build()


def stop_words(words: Iterable[str], language: str, text: str = "") -> frozenset[str]:
    """Those of ``words``, in lower case, that are stop words of a language.

    With the ``text`` that they are of, the ending of a name there, too: ``da`` in the Turkish
    ``Ankara'da``.
    """
    if language == ENGLISH:
        return STOP_WORDS.intersection(words)
    given = frozenset(words)
    stops = given & more_stop_words(language)
    if language in _STOPPED:
        stops |= given.difference(_without_stop_words(language).analyze(" ".join(given)))
    if language in _ENDINGS:
        stops |= given.intersection(_ENDINGS[language].findall(text.casefold()))
    return stops


def query_language(words: Sequence[str], held: Sequence[str]) -> str:
    """The language of a query's words, in lower case, by their stop words.

    Args:
        words: The query.
        held: The languages of the index; another query than an English one is in one of these.
    """
    counts = {language: _count(words, language) for language in held}
    best = max(
        counts, key=lambda language: (counts[language], language == ENGLISH), default=ENGLISH
    )
    if ENGLISH not in counts:
        english = _count(words, ENGLISH)
        if english > counts.get(best, 0) and english >= _SURELY_ENGLISH * len(words):
            return ENGLISH
    return best


def _count(words: Sequence[str], language: str) -> int:
    stops = stop_words(words, language)
    return sum(word in stops for word in words)


def language_of(texts: Sequence[str]) -> str:
    """The language of a document by its parts, or some of them; English where nothing tells another."""
    text = "\n".join(part[: _SAMPLE // len(texts)] for part in texts).lower()
    if not text.isascii():
        other = len(_NO_LATIN.findall(text))
        if other * 2 > sum(map(str.isalpha, text)):
            most, name = max(
                ((len(letters.findall(text)), name) for letters, name in _SCRIPTS),
                key=itemgetter(0),
            )
            return OTHER if most * 2 < other else name or _detected(text)
    words = text.split()
    content = [word for word in words if word not in STOP_WORDS]
    if len(words) - len(content) >= _PLAINLY_ENGLISH * len(words):
        return ENGLISH
    if text.isascii() or len(_ACCENTED.findall(text)) <= _RARE_ACCENTS * len(text):
        foreign = len(content) - len(_foreign_stop_words().analyze(" ".join(content)))
        if foreign < _FOREIGN * len(words):
            return ENGLISH
    return _detected(text)


@cache
def _foreign_stop_words() -> tantivy.TextAnalyzer:
    built = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    for language in sorted(_STOPPED):
        built = built.filter(tantivy.Filter.stopword(language))
    return built.filter(tantivy.Filter.custom_stopword(_MORE_FOREIGN)).build()


def _detected(text: str) -> str:
    code, probability = _detector().classify(text)
    return _BY_CODE.get(code, OTHER) if probability >= _SURE else ENGLISH


@cache
def _detector() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

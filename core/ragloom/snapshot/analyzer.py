"""Text into words and their index terms: the same way for chunks and for queries.

Words are runs of Unicode letters, digits, underscores and the marks that combine with them (UAX 29),
compared without case and in compatibility form (NFKC). An identifier counts whole and in parts:
``getVectorStore`` gives ``getvectorstore``, ``get``, ``vector`` and ``store``; ``max_connections``
likewise. A hyphenated word counts in parts and joined (``e-mail``, ``email``), and so does a number in
groups of three (``10,000``, ``10_000``); a word with accents counts with and without them. Scripts
written without spaces, and Hangul, whose particles follow without one, give overlapping pairs of
characters, the usual bigram analysis. Stemming (Snowball) is tantivy's and comes after, on both sides.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from ragloom.snapshot.letters import clean, fold_accents, has_marks, mark_class

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_COMPOUND = re.compile(r"_|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]")
# Thai, Lao, Myanmar, Khmer, Han, Hiragana, Katakana: scripts that put no space between words. Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"
)
_DASH = re.compile("[-\u2010]{2,}")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_HYPHEN = re.compile("[-\u2010]")  # NFKC makes U+2010 of the one that does not break
# C++ and C++17, notepad++; C#; .NET and ASP.NET, but not example.net.
_NAMED = (
    r"(?<!\w)\w*[^\W\d_]\+\+(?:(?<=\b[Cc]\+\+)\d[\da-z])?(?![\w+])"
    r"|(?<!\w)[A-Za-z]#(?![A-Za-z])"
    r"|\b\w+\.NET\b|\b(?i:ado|asp|ml|vb)\.net\b|(?<![\w.])\.(?i:net)\b"
)
_SHARP = re.compile("[A-Za-z]#")
# 10,000 and 1,00,000, 10'000, each alone or behind letters; 10_000 is a word without this.
_GROUPED = (
    r"(?:\d{1,3}(?:,\d\d\d?)*,\d{3}|\d{1,3}(?:'\d{3})+|\d{1,3}(?:\u2019\d{3})+)"
    r"(?![\d_]|[,'\u2019]\d)"
)
_MAY_BE_GROUPED = re.compile("[0-9][,'\u2019][0-9]")
_BETWEEN_GROUPS = re.compile("[,'\u2019]")
_GROUPED_BY_LINE = re.compile(r"\d{1,3}(?:_\d{3})+")
_LONGEST_CACHED = 64  # characters; longer "words" are encoded data and do not come again


class Word(NamedTuple):
    """A word and the terms that stand for it, before stemming.

    Attributes:
        text: The word in lower case.
        forms: Alternatives: the word is there where every term of one of them is. The last one has the
            parts.
        terms: What is indexed and searched for it.
        variants: What is indexed and searched beside: the number of a term and that term without
            accents, or -1 and a hyphenated word, or a number in groups, in one piece.
    """

    text: str
    forms: tuple[tuple[str, ...], ...]
    terms: tuple[str, ...]
    variants: tuple[tuple[int, str], ...] = ()

    def all_terms(self) -> Iterable[str]:
        """Everything that stands for it."""
        if not self.variants and len(self.forms) == 1:
            return self.terms
        return chain(self.terms, *self.forms, (term for _, term in self.variants))


def analyze(text: str) -> list[str]:
    """The terms of ``text`` in order, before stemming, without variants."""
    return [term for token in tokens(text) for term in terms_of(token)[0]]


def terms_of(token: str) -> tuple[Sequence[str], Sequence[tuple[int, str]]]:
    """The terms of a token in order, before stemming, and their variants, as :class:`Word` has them."""
    if token.isascii() and token.isalnum() and _plain(token):
        return (token.lower(),), ()
    terms: list[str] = []
    variants: list[tuple[int, str]] = []
    for word in _words_of(token):
        variants += [(at if at < 0 else at + len(terms), term) for at, term in word.variants]
        terms += word.terms
    return terms, variants


def words(text: str) -> list[Word]:
    """The words of ``text`` in order; of a script without spaces, each pair of characters."""
    return [word for token in tokens(text) for word in _words_of(token)]


def tokens(text: str) -> list[str]:
    """The words of ``text`` as they stand there, with the hyphens in and after them."""
    text = clean(text)
    return word_pattern(text).findall(text)


def word_pattern(text: str) -> re.Pattern[str]:
    """What matches the words of ``text``, each with the hyphens in and after it."""
    marks = mark_class() if has_marks(text) else ""
    grouped = _MAY_BE_GROUPED.search(text) is not None
    return _token_pattern(marks, named=_may_name(text), grouped=grouped)


def _may_name(text: str) -> bool:
    return "++" in text or ("#" in text and bool(_SHARP.search(text))) or ".net" in text.lower()


@cache
def _token_pattern(marks: str, *, named: bool, grouped: bool) -> re.Pattern[str]:
    numbers = ""
    if grouped:
        letters = rf"[^\W\d](?:[^\W\d]|[{marks}])*+" if marks else r"[^\W\d]++"
        numbers = rf"(?<![\d_.,'\u2019]){_GROUPED}|{letters}(?={_GROUPED})|"
    if not named:
        return re.compile(rf"{numbers}\w[\w{marks}\u2010-]*")
    run = rf"\w[\w{marks}]*" if marks else r"\w+"
    # A name ends no hyphenated word: Objective-C++ holds C++.
    part = rf"{run}(?![\w{marks}]|\+\+|(?<=[-\u2010].)#|\.NET\b)"
    return re.compile(rf"{_NAMED}|{numbers}{run}(?:[-\u2010]+{part})*")


def _words_of(token: str) -> tuple[Word, ...]:
    return _cached(token) if len(token) <= _LONGEST_CACHED else _split(token)


def _split(token: str) -> tuple[Word, ...]:
    if not token.isascii() and _unspaced().search(token):
        return tuple(_bigrams(token))
    if token[-1] in "+#" or "." in token or "+" in token:
        return (_named(token),)
    if _BETWEEN_GROUPS.search(token):
        return (_number(token, _BETWEEN_GROUPS.split(token)),)
    if token.isascii() and token.isalnum():
        return (_simple(token),)
    found: list[Word] = []
    for one in _DASH.split(token):
        parts = _between_hyphens(one)
        if parts:
            found.append(_hyphenated(parts) if len(parts) > 1 else _simple(parts[0]))
    return tuple(found)


_cached = lru_cache(maxsize=1 << 15)(_split)


@cache
def _unspaced() -> re.Pattern[str]:
    # Compiled where it is needed: that takes as long as a search of a few thousand chunks.
    return re.compile(f"[{_UNSPACED}]")


@cache
def _unspaced_runs() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")


def _between_hyphens(token: str) -> list[str]:
    """The parts of a token, each from its first letter or digit."""
    starts = [(part, _LETTER_OR_DIGIT.search(part)) for part in _HYPHEN.split(token)]
    return [part[found.start() :] for part, found in starts if found]


def _plain(token: str) -> bool:
    """Whether letters and digits of ASCII are no identifier."""
    return (token.isalpha() and (token[1:].islower() or token.islower())) or token.isdigit()


def _simple(token: str) -> Word:
    """A plain word or an identifier."""
    if token.isascii() and token.isalnum() and _plain(token):
        whole = token.lower()
        return Word(whole, ((whole,),), (whole,))
    if _GROUPED_BY_LINE.fullmatch(token):
        return _number(token, [token, *token.split("_")])
    whole = _lower(token).strip("_")
    parts = _parts(token)
    if not parts:
        return _word(whole, [(whole,)], (whole,))
    joined = "".join(parts)  # time_out as others write it; but 10_20 is not 1020
    others = [] if joined.isdecimal() else [(joined,)]
    return _word(whole, [(whole,), *others, parts], (whole, *parts))


def _number(token: str, terms: Sequence[str]) -> Word:
    """A number in groups of three, which is the same in whatever groups, or in none."""
    joined = "".join(filter(str.isdecimal, token))
    forms = [(term,) for term in terms if len(term) == len(token)]
    return _word(token, [*forms, (joined,)], tuple(terms), joined=joined)


def _named(token: str) -> Word:
    """The name of a language or a program that ends in ``++`` or ``#``, or has ``.NET``."""
    whole = _lower(token)
    stem, dot, _ = whole.rpartition(".net")
    if dot:
        parts = (stem, ".net") if stem else ()
        return _word(whole, [(whole,), parts] if parts else [(whole,)], (whole, *parts))
    name, _, version = whole.partition("++")
    if version:  # C++17
        return _word(whole, [(whole,)], (whole, f"{name}++", version))
    if whole == "c++" or whole.endswith("#"):
        return _word(whole, [(whole,)], (whole,))
    return _word(whole, [(whole,)], (whole, name))


def _hyphenated(parts: list[str]) -> Word:
    """The parts, each as it would be alone, and the parts joined."""
    words = [_simple(part) for part in parts]
    lowered = tuple(word.text for word in words)
    terms = tuple(term for word in words for term in word.terms)
    text, joined = "-".join(lowered), "".join(lowered)
    if joined.isdecimal():  # 10-20 is not 1020
        return _word(text, [lowered], terms)
    # The parts of its parts, as others join them: x86-64, x86_64.
    finest = tuple(term for word in words for term in word.terms[1:] or word.terms)
    return _word(text, [(joined,), lowered, finest], terms, joined=joined)


def _word(
    text: str, forms: list[tuple[str, ...]], terms: tuple[str, ...], *, joined: str = ""
) -> Word:
    variants: list[tuple[int, str]] = []
    if not text.isascii():
        forms = [*forms, *(tuple(map(fold_accents, form)) for form in forms)]
        folded = [(at, fold_accents(term)) for at, term in enumerate(terms)]
        variants = [(at, term) for at, term in folded if term != terms[at]]
    if joined:
        variants += [(-1, term) for term in dict.fromkeys((joined, fold_accents(joined)))]
    return Word(text, tuple(dict.fromkeys(forms)), terms, tuple(variants))


def _parts(token: str) -> tuple[str, ...]:
    """The parts of an identifier; none of a plain word."""
    shape = token if token.isascii() else _shape(token)
    if not _COMPOUND.search(shape):
        return ()
    parts = tuple(_lower(token[slice(*found.span())]) for found in _PARTS.finditer(shape))
    return parts if len(parts) > 1 else ()


def _shape(token: str) -> str:
    """A small letter, a capital, a digit or a line for each character; a mark is as what it marks."""
    kinds: list[str] = []
    for char in token:
        if char == "_" or char.isalnum():
            kinds.append("_" if char == "_" else "0" if char.isdigit() else "aA"[char.isupper()])
        else:
            kinds.append(kinds[-1] if kinds else "a")
    return "".join(kinds)


def _lower(text: str) -> str:
    folded = text.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFKC", folded)


def _bigrams(token: str) -> list[Word]:
    """Pairs of neighbouring characters, each with its marks; runs of other scripts stay words."""
    marks = mark_class() if has_marks(token) else ""
    found: list[Word] = []
    unspaced = _unspaced()
    for run in _unspaced_runs().findall(token):
        if not unspaced.match(run):
            found.extend(map(_simple, _between_hyphens(run)))
            continue
        characters = _characters(marks).findall(run) if marks else run
        if len(characters) == 1:
            found.append(_pair(run))
        else:
            found.extend(_pair(first + second) for first, second in pairwise(characters))
    return found


@cache
def _characters(marks: str) -> re.Pattern[str]:
    return re.compile(f"[^{marks}][{marks}]*|[{marks}]+")


def _pair(pair: str) -> Word:
    return Word(pair, ((pair,),), (pair,))

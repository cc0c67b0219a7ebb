"""What a problem asks for, by its words; and whether it asks for anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ragloom import Embedder, Embeddings
from ragloom_templates.vocabulary import Vocabulary

_FEW = 2  # words that say little: one of them has to stand in a template's head
_COMMON, _COMMON_SHARE = 3, 0.02  # templates whose head has a word that tells none of them apart
_MEANT = 0.62  # cosine of a word with one of the library that is a form or a misspelling of it
_NAMES = 4  # of products and people, as in "compare postgres with mysql", that nobody need know
_REQUESTS = frozenset({"please", "help", "thanks", "thank", "hello", "hi", "hey", "want", "need"})
"""Words of a request that say nothing of what is requested."""
_MOST = 64  # words of a problem


class _Word(Protocol):
    """A word of a query, as the lexical index splits it."""

    @property
    def text(self) -> str: ...
    @property
    def forms(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def count(self) -> int: ...
    @property
    def stop(self) -> bool: ...


class _Words(Protocol):
    def query_words(self, query: str) -> Sequence[_Word]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A content word of a problem, and how rare it is: ``ln(1 + n / (1 + templates with it))``."""

    text: str
    rarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A problem.

    Attributes:
        words: Its content words, each once.
        stems: Theirs, in all their forms.
        vectors: ``(words, d)`` float32, of unit length.
        needed: ``(templates,)`` bool: those that may fit a problem of a word or two; None for any.
    """

    words: Sequence[Word]
    stems: Sequence[str]
    vectors: Embeddings
    needed: npt.NDArray[np.bool_] | None


def read(problem: str, index: _Words, embedder: Embedder, library: Vocabulary) -> Asked | None:
    """The words of a problem; None where it is no problem.

    That is one without a word that is known, one of which most words are unknown, more than it may have
    names, and one word again and again. A word is known that a template holds, or one like it, or that the
    model has whole: it splits any other into pieces, whose embedding means nothing.
    """
    words = [
        word
        for word in index.query_words(problem)
        if not word.stop
        and word.text not in _REQUESTS
        and any(letter.isalpha() for letter in word.text)
    ][:_MOST]
    if not words or (len(words) == 1 and words[0].count > 1):
        return None
    vectors = library.embed([word.text for word in words], embedder)
    held = [max(library.templates_with.get(stem, 0) for stem in _stems(word)) for word in words]
    alike = (vectors @ library.unit.T).max(axis=1)
    known = [
        row
        for row, word in enumerate(words)
        if held[row] or alike[row] >= _MEANT or embedder.counter.count(word.text) <= 1
    ]
    if not known or len(words) - len(known) > max(len(known), _NAMES):
        return None
    words, held = [words[row] for row in known], [held[row] for row in known]
    templates = len(library.held.starts)
    needed = None
    if len(words) <= _FEW:
        most = max(_COMMON, _COMMON_SHARE * templates)
        needed = np.zeros(templates, np.bool_)
        for word in words:
            in_head = _in_head(word, library)
            if in_head.sum() <= most:
                needed |= in_head
    return Asked(
        words=[
            Word(text=word.text, rarity=log(1 + templates / (1 + count)))
            for word, count in zip(words, held, strict=True)
        ],
        stems=[*dict.fromkeys(stem for word in words for stem in _stems(word))],
        vectors=vectors[known],
        needed=needed,
    )


def _stems(word: _Word) -> Sequence[str]:
    return [stem for form in word.forms for stem in form]


def _in_head(word: _Word, library: Vocabulary) -> npt.NDArray[np.bool_]:
    found = np.zeros(len(library.held.starts), np.bool_)
    for form in word.forms:
        found |= np.logical_and.reduce([library.holding(stem, head=True) for stem in form])
    return found

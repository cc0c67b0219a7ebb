"""BM25 over chunks or files: a tantivy index of four fields, keyed by serial numbers.

tantivy scores with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza, "The Probabilistic Relevance
Framework: BM25 and Beyond", 2009). Text arrives analysed (:mod:`ragloom.snapshot.analyzer`); here
it is only stemmed.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from math import log
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import tantivy

from ragloom.snapshot.analyzer import Word, terms_of, tokens, words
from ragloom.snapshot.languages import (
    ENGLISH,
    LANGUAGES,
    query_language,
    stemmer,
    stop_words,
)
from ragloom.snapshot.tantivy_index import Searcher
from ragloom.snapshot.words import QueryWord, weighted_terms

_LONGEST_TERM = 200  # characters; longer "words" are encoded data, and tantivy refuses 64 KiB
_LONGEST_KEPT, _MOST_KEPT = 64, 1 << 16  # characters of a token, and tokens, whose terms are kept

FIELD_WEIGHTS: Mapping[str, float] = {"body": 1.0, "heading": 0.15, "path": 0.4, "variants": 0.15}
"""How much a term counts by where it stands; see ``benchmarks/README.md`` for the measurement.

``variants`` holds words without their accents or hyphens, of all three texts: beside the body, they change
neither its length nor how rare its words are.
"""
FOLDED, JOINED = 0.3, 0.25
"""How much a query word counts without its accents (the rest with them), and joined beside its parts."""
VOCABULARY = "word"
_NOTHING: Mapping[str, float] = MappingProxyType({})
_AT_ONCE = 20  # terms whose presence is summed into one float32, which is exact up to 2^24
_MOST_FREQUENCIES = 1 << 14  # of words, kept while the index is open
_LONGEST_QUERY = 1024  # words; a query may be a whole page, and need not be a whole book


Stemmed: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""The terms of a text as they stand in the index, and their variants."""


def stemmed(text: str, language: str) -> Stemmed:
    """The terms of ``text`` and their variants."""
    found = _stems(language).of(tokens(text))
    terms = list(chain.from_iterable([terms for terms, _ in found]))
    return terms, [variant for _, variants in found if variants for variant in variants]


class _Stems:
    """The terms of tokens in a language; most tokens of a text stand in many others."""

    def __init__(self, language: str) -> None:
        self._stem = stemmer(language).analyze
        self._known: dict[str, Stemmed] = {}

    def of(self, given: Sequence[str]) -> Sequence[Stemmed]:
        """The terms of each token and their variants."""
        known = self._known
        new = list(dict.fromkeys([token for token in given if token not in known]))
        if not new:
            return [known[token] for token in given]
        learnt = dict(zip(new, self._learn(new), strict=True))
        if len(known) + len(learnt) > _MOST_KEPT:  # other threads read on in the old ones
            self._known = {}
        self._known |= {token: one for token, one in learnt.items() if len(token) <= _LONGEST_KEPT}
        return [learnt.get(token) or known[token] for token in given]

    def _learn(self, given: Sequence[str]) -> Iterator[Stemmed]:
        """What is told of each token, by one call of the stemmer: a call costs more than a word."""
        found = [terms_of(token) for token in given]
        every = [(*terms, *(term for _, term in variants)) for terms, variants in found]
        stems = iter(self._stem(" ".join(chain.from_iterable(every))))
        for terms, variants in found:
            stemmed = tuple(islice(stems, len(terms)))
            # A variant that has the stem of its term is not a second word.
            others = [
                term
                for term, (at, _) in zip(islice(stems, len(variants)), variants, strict=True)
                if at < 0 or stemmed[at] != term
            ]
            yield _short(stemmed), _short(others)


_stems = cache(_Stems)


def _short(terms: Iterable[str]) -> Sequence[str]:
    return tuple([term for term in terms if len(term) <= _LONGEST_TERM])


class LexicalIndex:
    """The read side: opened once, searched many times.

    Attributes:
        languages: Of the documents; English where there are none.
        removed: How many documents are removed and not yet merged away: BM25 still counts them.
    """

    def __init__(self, directory: Path) -> None:
        self._searcher = Searcher(directory)
        self._schema = self._searcher.schema
        written = sum(self._searcher.doc_freq("language", language) for language in LANGUAGES)
        self.removed: int = written - len(self)
        self.languages: Sequence[str] = tuple(filter(self._holds, LANGUAGES)) or (ENGLISH,)
        self._frequencies: dict[tuple[tuple[str, ...], ...], int] = {}  # by the forms of a word

    def __len__(self) -> int:
        """Documents in the index."""
        return len(self._searcher)

    @property
    def foreign(self) -> float:
        """The share of the documents, 0 to 1, that are not in English."""
        count = len(self)
        return 1 - self._frequency("language", ENGLISH) / count if count else 0.0

    def _holds(self, language: str) -> bool:
        written = self._searcher.doc_freq("language", language)
        # Of more than are removed some are left, and need not be counted.
        return written > self.removed or bool(self._frequency("language", language))

    def _frequency(self, field: str, term: str) -> int:
        """How many documents hold a term in a field."""
        count = self._searcher.doc_freq(field, term)
        if not count or not self.removed:
            return count
        return self._searcher.count(self._term(field, term))

    def stems(self, text: str) -> list[str]:
        """The terms of ``text`` as they stand in the index, were it in any of its languages."""
        return stems(text, self.languages)

    def query_words(self, query: str) -> Sequence[QueryWord]:
        """The words of a query in their order, each once."""
        return query_words(query, self.languages)

    def query_terms(self, query: str) -> Mapping[str, float]:
        """The stems that a query asks for and how often; stop words only if nothing else."""
        return weighted_terms(self.query_words(query))

    def inverse_document_frequency(self, term: str) -> float:
        """:meth:`rarity` of how many bodies, or variants, hold a term."""
        return self.rarity(max(self._frequency(name, term) for name in ("body", "variants")))

    def rarity(self, frequency: int) -> float:
        """``ln(1 + (N - n + 0.5) / (n + 0.5))``, as BM25 weighs a term that n of N documents hold."""
        return log(1 + (len(self) - frequency + 0.5) / (frequency + 0.5))

    def frequency(self, word: QueryWord) -> int:
        """How many documents hold a word, in the body, the headings or the path."""
        known = self._frequencies.get(word.forms)
        if known is None:
            if len(self._frequencies) >= _MOST_FREQUENCIES:
                self._frequencies.clear()
            known = self._frequencies[word.forms] = self._frequency_of(word)
        return known

    def _frequency_of(self, word: QueryWord) -> int:
        if all(len(form) == 1 for form in word.forms):
            return max(
                self._frequency(field, term) for (term,) in word.forms for field in FIELD_WEIGHTS
            )
        return self._searcher.count(self._holding(word))

    def spelling_frequency(self, spelling: str) -> int:
        """How many documents have a word spelt so."""
        return self._frequency(VOCABULARY, spelling)

    def held(
        self, words: Sequence[QueryWord], serials: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.bool_]:
        """``(n, w)`` bool: which of the documents hold which of the words, in any field."""
        terms = dict.fromkeys(term for word in words for form in word.forms for term in form)
        has = self._having(
            {term: [(field, term) for field in FIELD_WEIGHTS] for term in terms}, serials
        )
        found = np.zeros((len(serials), len(words)), np.bool_)
        for number, word in enumerate(words):
            for form in word.forms:
                terms_held = [has[term] for term in form]
                found[:, number] |= (
                    terms_held[0] if len(form) == 1 else np.logical_and.reduce(terms_held)
                )
        return found

    def spelt(
        self, wanted: Sequence[str], serials: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.bool_]:
        """``(n, w)`` bool: which of the documents have which of the words spelt so."""
        has = self._having({word: [(VOCABULARY, word)] for word in wanted}, serials)
        columns = [has[word] for word in wanted]
        return np.column_stack(columns) if columns else np.zeros((len(serials), 0), np.bool_)

    def _having(
        self,
        wanted: Mapping[str, Sequence[tuple[str, str]]],
        serials: npt.NDArray[np.uint64],
    ) -> dict[str, npt.NDArray[np.bool_]]:
        """``(n,)`` bool for each name: which of the documents have one of its terms in its field.

        Each term adds a power of two to a document's score, so that one search tells of many.
        """
        known = [
            (name, place)
            for name, places in wanted.items()
            for place in places
            if self._searcher.doc_freq(*place)
        ]
        has = {name: np.zeros(len(serials), np.bool_) for name in wanted}
        if not known or not len(serials):
            return has
        order = np.argsort(serials)
        # A set query would walk through the serial numbers of all documents.
        term, schema = tantivy.Query.term_query, self._schema
        must, should = tantivy.Occur.Must, tantivy.Occur.Should
        among = tantivy.Query.boolean_query(
            [(should, term(schema, "serial", serial, "basic")) for serial in serials.tolist()]
        )
        for start in range(0, len(known), _AT_ONCE):
            query = tantivy.Query.const_score_query(among, 0.0)
            bits: dict[str, int] = {}
            for number, (name, place) in enumerate(known[start : start + _AT_ONCE]):
                one = tantivy.Query.const_score_query(self._term(*place), float(1 << number))
                # One term a level is looked up in these documents only; several would be read whole.
                query = tantivy.Query.boolean_query([(must, query), (should, one)])
                bits[name] = bits.get(name, 0) | 1 << number
            at, scores = self._found(query, len(serials))
            sums = np.zeros(len(serials), np.int64)
            sums[order[np.searchsorted(serials[order], at)]] = scores
            for name, mask in bits.items():
                has[name] |= (sums & mask) != 0
        return has

    def _term(self, field: str, value: str | int) -> tantivy.Query:
        return tantivy.Query.term_query(self._schema, field, value, "basic")

    def _holding(self, word: QueryWord) -> tantivy.Query:
        """What documents match that hold every term of one of a word's forms."""

        def either(queries: Sequence[tantivy.Query], occur: tantivy.Occur) -> tantivy.Query:
            return tantivy.Query.boolean_query([(occur, query) for query in queries])

        def term(name: str) -> tantivy.Query:
            return either([self._term(at, name) for at in FIELD_WEIGHTS], tantivy.Occur.Should)

        forms = [
            either([term(name) for name in form], tantivy.Occur.Must) for form in word.forms if form
        ]
        return either(forms, tantivy.Occur.Should)

    def document_frequencies(self, field: str) -> Sequence[tuple[str, int]]:
        """The terms of a field, and how many documents have each; removed ones count until a merge."""
        return self._searcher.terms_with_prefix(field, "")

    def vocabulary(self, prefix: str, field: str = VOCABULARY) -> Sequence[tuple[str, int]]:
        """The words, or terms of a field, that begin with ``prefix``, and how many documents have each.

        Of documents that are removed, too: :meth:`spelling_frequency` does not count those.
        """
        return self._searcher.terms_with_prefix(field, prefix)

    def search(
        self,
        terms: Mapping[str, float],
        *,
        limit: int,
        among: npt.NDArray[np.uint64] | None = None,
        spelt: Mapping[str, float] = _NOTHING,
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        """Serial numbers and BM25 scores of the best ``limit`` documents for weighted stems, best first.

        With ``among``, only of the documents with these serial numbers; those that have a word spelt as
        in ``spelt`` score more, by the weight that it has there.
        """
        empty = np.empty(0, np.uint64), np.empty(0, np.float32)
        if not terms or limit < 1 or len(self) == 0:
            return empty
        clauses = [
            (
                tantivy.Occur.Should,
                _boosted(tantivy.Query.term_query(self._schema, field, term, "freq"), weight * at),
            )
            for term, weight in terms.items()
            for field, at in FIELD_WEIGHTS.items()
            if self._searcher.doc_freq(field, term)
        ]
        clauses += [
            (
                tantivy.Occur.Should,
                _boosted(self._term(VOCABULARY, word), weight),
            )
            for word, weight in spelt.items()
            if self._searcher.doc_freq(VOCABULARY, word)
        ]
        if not clauses:
            return empty
        query = tantivy.Query.boolean_query(clauses)
        if among is not None:
            if not len(among):
                return empty
            allowed = tantivy.Query.term_set_query(self._schema, "serial", among.tolist())
            query = tantivy.Query.boolean_query(
                [
                    (tantivy.Occur.Must, query),
                    (tantivy.Occur.Must, tantivy.Query.const_score_query(allowed, 0.0)),
                ]
            )
        return self._found(query, limit)

    def _found(
        self, query: tantivy.Query, limit: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        """Serial numbers and scores of the best ``limit`` documents, best first."""
        serials, scores = self._searcher.best(query, limit)
        # Three times as fast as numpy, which looks at the type of every number.
        found = np.frombuffer(array("Q", serials), np.uint64)
        return found, np.fromiter(scores, np.float32, len(scores))


def stems(text: str, languages: Sequence[str]) -> list[str]:
    """The terms of ``text``, were it in any of some languages."""
    first, *others = (stemmed(text, language) for language in languages)
    if not others:
        return [*first[0], *first[1]]
    alternatives = zip(first[0], *(terms for terms, _ in others), strict=False)
    variants = {term for _, found in (first, *others) for term in found}
    return [*chain.from_iterable(map(dict.fromkeys, alternatives)), *sorted(variants)]


def query_words(query: str, languages: Sequence[str]) -> Sequence[QueryWord]:
    """The words of a query to documents in some languages, in their order, each once."""
    counts = Counter(words(query)[:_LONGEST_QUERY])
    texts = [word.text for word in counts]
    terms = list(set(chain(texts, *(word.all_terms() for word in counts))))
    stops = stop_words(terms, query_language(texts, languages), query)
    stems = [
        dict(zip(terms, stemmer(language).analyze(" ".join(terms)), strict=True))
        for language in languages
    ]
    return [_query_word(word, count, stops, stems) for word, count in counts.items()]


def _query_word(
    word: Word, count: int, stops: frozenset[str], stems: Sequence[Mapping[str, str]]
) -> QueryWord:
    """A word by the stems of its terms in each language."""
    if len(word.terms) == 1 and not word.variants:
        alternatives = dict.fromkeys(stem[word.terms[0]] for stem in stems)
        return QueryWord(
            text=word.text,
            forms=tuple((term,) for term in alternatives),
            weights=tuple((term, 1.0) for term in alternatives),
            count=count,
            stop=word.text in stops,
        )
    forms: dict[tuple[str, ...], None] = {}
    weights: dict[str, float] = {}
    content = [at for at, term in enumerate(word.terms) if term not in stops]
    variant_of = dict(word.variants)
    for stem in stems:
        forms |= dict.fromkeys(tuple(stem[term] for term in form) for form in word.forms)
        counted: dict[str, float] = {}
        for at in content or range(len(word.terms)):
            term = stem[word.terms[at]]
            folded = stem[variant_of.get(at, word.terms[at])]
            counted[term] = counted.get(term, 0.0) + (1.0 if folded == term else 1.0 - FOLDED)
            if folded != term:
                counted[folded] = counted.get(folded, 0.0) + FOLDED
        for form in word.forms:
            if len(form) == 1:
                counted.setdefault(stem[form[0]], JOINED)
        # A chunk has the stems of one language: alternatives do not add up.
        for term, weight in counted.items():
            weights[term] = max(weights.get(term, 0.0), weight)
    return QueryWord(
        text=word.text,
        forms=tuple(forms),
        weights=tuple(weights.items()),
        count=count,
        stop=word.text in stops,
    )


def _boosted(query: tantivy.Query, weight: float) -> tantivy.Query:
    return query if weight == 1.0 else tantivy.Query.boost_query(query, weight)

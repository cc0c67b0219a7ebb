"""The words of candidates that came from a store, weighed as tantivy weighs those of an index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log

import numpy as np
import numpy.typing as npt

from ragloom.snapshot.lexical import FIELD_WEIGHTS, VOCABULARY, query_words, stemmed, stems
from ragloom.snapshot.remote_statistics import ShardStatistics
from ragloom.snapshot.statistics import FIELDS, spelt, texts_of
from ragloom.snapshot.words import QueryWord, weighted_terms
from ragloom.types import Chunk

_K1, _B = 1.2, 0.75
_EXACT = 40  # terms up to which tantivy keeps the length of a field exactly
_NOTHING: Mapping[str, float] = {}


def _norms() -> npt.NDArray[np.int64]:
    """The lengths that tantivy tells apart: one byte a field, steps that double after each eight."""
    table, step = list(range(_EXACT + 1)), 2
    while len(table) < 256:  # noqa: PLR2004 - a byte
        table += [table[-1] + step * (number + 1) for number in range(8)]
        step *= 2
    return np.array(table[:256], np.int64)


_NORMS = _norms()


class Document:
    """The terms of a chunk (level 0), or of what is known of a file (1), and the lengths of its fields."""

    def __init__(self, chunks: Sequence[Chunk], language: str, level: int) -> None:
        body = [stemmed(chunk.text, language) for chunk in chunks]
        headings = dict.fromkeys(texts_of(chunk)[1] for chunk in chunks)
        heading = stemmed(" ".join(headings), language)
        path = stemmed(chunks[0].uri, language)
        self._spelt: set[str] | None = None
        self._chunks = chunks
        self._level = level
        terms = (
            [term for own, _ in body for term in own],
            heading[0],
            path[0],
            [term for _, others in (*body, heading, path) for term in others],
        )
        self.counts: list[Counter[str]] = [Counter(one) for one in terms]
        self.lengths: list[int] = [
            int(_NORMS[np.searchsorted(_NORMS, len(one), side="right") - 1]) for one in terms
        ]

    @property
    def spelt(self) -> set[str]:
        """Its words as they are spelt."""
        if self._spelt is None:
            self._spelt = spelt(self._chunks, self._level)
        return self._spelt

    def holds(self, term: str) -> bool:
        """Whether a field has a term."""
        return any(term in one for one in self.counts)


class RemoteWords:
    """What :class:`ragloom.snapshot.lexical.LexicalIndex` tells, of the candidates of a query.

    Args:
        index: Knows how common each word is.
        level: 0 for chunks, 1 for files.
        documents: Serial numbers and texts.
    """

    def __init__(
        self, index: ShardStatistics, level: int, documents: Sequence[tuple[int, Document]]
    ) -> None:
        self._index = index
        self._level = level
        self._documents = dict(documents)

    def __len__(self) -> int:
        """Documents of the whole index."""
        return self._index.total(self._level)

    @property
    def languages(self) -> Sequence[str]:
        """As of :class:`LexicalIndex`."""
        return self._index.languages

    def query_words(self, query: str) -> Sequence[QueryWord]:
        """As of :class:`LexicalIndex`; what is known of the words is read at once."""
        found = query_words(query, self.languages)
        terms = {term for word in found for form in word.forms for term in form}
        weighted = {term for word in found for term, _ in word.weights}
        self._index.prefetch({*terms, *weighted, *(word.text for word in found)})
        return found

    def query_terms(self, query: str) -> Mapping[str, float]:
        """As of :class:`LexicalIndex`."""
        return weighted_terms(query_words(query, self.languages))

    def stems(self, text: str) -> list[str]:
        """As of :class:`LexicalIndex`."""
        return stems(text, self.languages)

    def inverse_document_frequency(self, term: str) -> float:
        """As of :class:`LexicalIndex`."""
        places = (FIELDS.index(name) for name in ("body", "variants"))
        return self.rarity(max(self._index.frequency(term, self._level, at) for at in places))

    def rarity(self, frequency: int) -> float:
        """As of :class:`LexicalIndex`."""
        return log(1 + max(len(self) - frequency + 0.5, 0.5) / (frequency + 0.5))

    def frequency(self, word: QueryWord) -> int:
        """As of :class:`LexicalIndex`; of a word of several terms, how many may hold it."""
        forms = [min(map(self._in_any_field, form)) for form in word.forms if form]
        return max(forms, default=0)

    def _in_any_field(self, term: str) -> int:
        return max(
            self._index.frequency(term, self._level, place) for place in range(len(FIELD_WEIGHTS))
        )

    def spelling_frequency(self, spelling: str) -> int:
        """As of :class:`LexicalIndex`."""
        return self._index.frequency(spelling, self._level, FIELDS.index(VOCABULARY))

    def vocabulary(self, _prefix: str, _field: str = VOCABULARY) -> Sequence[tuple[str, int]]:
        """None: a misspelt word is not corrected."""
        return ()

    def held(
        self, words: Sequence[QueryWord], serials: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.bool_]:
        """As of :class:`LexicalIndex`."""
        found = np.zeros((len(serials), len(words)), np.bool_)
        for row, serial in enumerate(serials.tolist()):
            document = self._documents[serial]
            for column, word in enumerate(words):
                found[row, column] = any(
                    all(map(document.holds, form)) for form in word.forms if form
                )
        return found

    def spelt(
        self, wanted: Sequence[str], serials: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.bool_]:
        """As of :class:`LexicalIndex`."""
        documents = [self._documents[serial].spelt for serial in serials.tolist()]
        rows = [[word in known for word in wanted] for known in documents]
        return np.array(rows, np.bool_).reshape(len(serials), len(wanted))

    def search(
        self,
        terms: Mapping[str, float],
        *,
        limit: int,
        among: npt.NDArray[np.uint64] | None = None,  # noqa: ARG002 - the store has narrowed them
        spelt: Mapping[str, float] = _NOTHING,
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.float32]]:
        """As of :class:`LexicalIndex`, with its k1 = 1.2 and b = 0.75."""
        self._index.prefetch([*terms, *spelt])
        serials = np.fromiter(self._documents, np.uint64, len(self._documents))
        scores = np.zeros(len(serials))
        documents = list(self._documents.values())
        for place, weight_of_field in enumerate(FIELD_WEIGHTS.values()):
            average = self._index.average(self._level, place)
            lengths = np.array([one.lengths[place] for one in documents], float)
            norms = _K1 * (1 - _B + _B * lengths / average)
            for term, weight in terms.items():
                counts = np.array([one.counts[place][term] for one in documents], float)
                if counts.any():
                    rarity = self.rarity(self._index.frequency(term, self._level, place))
                    scores += (
                        weight * weight_of_field * rarity * (1 + _K1) * counts / (counts + norms)
                    )
        if spelt:
            place = FIELDS.index(VOCABULARY)
            average = self._index.average(self._level, place)
            lengths = np.array([len(one.spelt) for one in documents], float)
            norms = _K1 * (1 - _B + _B * lengths / average)
            for word, weight in spelt.items():
                has = np.array([word in one.spelt for one in documents], float)
                if has.any():
                    rarity = self.rarity(self._index.frequency(word, self._level, place))
                    scores += weight * rarity * (1 + _K1) * has / (has + norms)
        best = np.flatnonzero(scores > 0)
        best = best[np.argsort(-scores[best], kind="stable")][:limit]
        return serials[best], scores[best].astype(np.float32)

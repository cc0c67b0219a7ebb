"""The words of a query in a text: in every form, within identifiers, and where most of them stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from ragloom.snapshot.analyzer import Word, word_pattern, words
from ragloom.types import Span

if TYPE_CHECKING:
    from ragloom.snapshot.lexical import LexicalIndex


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words of a query, found and highlighted in every form.

    Attributes:
        weights: The stems of the query, and how much each tells.
        stems: Returns the stems of a text.
    """

    weights: Mapping[str, float]
    stems: Callable[[str], Sequence[str]]

    @classmethod
    def of(cls, query: str, lexical: LexicalIndex) -> QueryWords:
        """Those of ``query``, weighed by their inverse document frequency.

        Args:
            query: As it was searched for.
            lexical: Of a snapshot: ``snapshot.lexical``.
        """
        terms = lexical.query_terms(query)
        return cls(
            {term: lexical.inverse_document_frequency(term) for term in terms}, lexical.stems
        )

    def found(self, text: str) -> frozenset[str]:
        """The stems that ``text`` holds."""
        return frozenset(self.stems(text)) & self.weights.keys()

    def spans(self, text: str) -> list[Span]:
        """Where words of ``text`` share a stem with the query, ascending, in characters."""
        found = word_pattern(text).finditer(text)
        return [span for match in found for span in self._inside(match[0], match.start())]

    def mark(self, text: str, styled: Callable[[str], str]) -> str:
        """``text`` with each word that shares a stem with the query as ``styled`` gives it."""
        parts, at = list[str](), 0
        for start, end in self.spans(text):
            parts += [text[at:start], styled(text[start:end])]
            at = end
        return "".join([*parts, text[at:]])

    def best_start(self, rows: Sequence[str], most: int) -> int:
        """Where to begin, so that ``most`` rows hold the most different words of the query, by weight.

        Of equal windows it is the one that begins with such a word and soon has the others. 0 where all
        rows fit, or where only the first would be omitted; as many rows as possible are filled.
        """
        if len(rows) <= most:
            return 0
        found = [self.found(row) for row in rows]
        best, start = (0.0, 0), 0
        for at in range(len(rows)):
            held: set[str] = set()
            reach = 0
            for offset, more in enumerate(found[at : at + most]):
                if more - held:
                    held |= more
                    reach = offset
            weight = sum(self.weights[term] for term in sorted(held))
            if found[at] and (weight, -reach) > best:
                best, start = (weight, -reach), at
        return min(start, len(rows) - most) if start > 1 else 0

    def _holds(self, term: str) -> bool:
        return not self.weights.keys().isdisjoint(self.stems(term))

    def _is_whole(self, word: Word) -> bool:
        wholes = [form[0] for form in word.forms if len(form) == 1]
        parts = [self.stems(term) for term in _parts_of(word) if term not in wholes]
        wanted = self.weights.keys()
        return any(wanted & set(self.stems(whole)).difference(*parts) for whole in wholes)

    def _inside(self, token: str, start: int) -> Iterator[Span]:
        """What to mark of a token that begins at ``start``."""
        found = words(token)
        whole = Span(start, start + len(token))
        if len(found) == 1 and self._is_whole(found[0]):
            yield whole
            return
        # A word within an identifier, or two characters of a script without spaces.
        terms = [term for word in found for term in _parts_of(word) if self._holds(term)]
        folded = token.casefold()
        if len(folded) != len(token):
            if terms:
                yield whole
            return
        inside = [False] * len(token)
        for term in terms:
            at = folded.find(term)
            if at >= 0:
                inside[at : at + len(term)] = [True] * len(term)
        for marked, run in groupby(range(len(token)), key=inside.__getitem__):
            places = list(run)
            if marked:
                yield Span(start + places[0], start + places[-1] + 1)


def _parts_of(word: Word) -> Sequence[str]:
    return [term for term in word.terms if (term,) not in word.forms] or word.terms

"""What words say of the candidates: BM25 of a chunk and of its file, and phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ragloom.retrieval.parsed_query import ParsedQuery
from ragloom.retrieval.row_numbers import scores_by_row
from ragloom.retrieval.running_text import running_text
from ragloom.snapshot import Snapshot

CANDIDATES = 1000
"""From each of the lists; measured in ``benchmarks/README.md``."""

FILE_WEIGHT = 0.4
"""Of a file's BM25 beside its chunk's, which has the rest; measured in ``benchmarks/README.md``."""

SPELT, SPELT_ALONE = 0.3, 5.0
"""How much it counts for a file beside a stem that a word is spelt as in the query, a sentence or words
alone; measured there, too."""

_PUNCTUATED, _PUNCTUATED_ALONE = 4.0, 8.0
"""How much it counts for a chunk that it has a version, a flag or the like letter for letter, in a sentence
and alone; measured there, too."""


def punctuated_weights(query: ParsedQuery) -> Mapping[str, float]:
    """How much the terms of the query's punctuated words count beside those of its other words."""
    return dict.fromkeys(query.punctuated_terms(), _PUNCTUATED_ALONE if query.bare else _PUNCTUATED)


def lexical_scores(
    snapshot: Snapshot,
    rows: npt.NDArray[np.intp],
    found: tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]],
    query: ParsedQuery | None,
) -> npt.NDArray[np.float32]:
    """The BM25 of the rows: a chunk counts by its own words, and by those of its file."""
    places = np.searchsorted(rows, found[0])
    there = places < len(rows)
    there[there] = rows[places[there]] == found[0][there]
    both = np.zeros(len(rows), np.float32)
    both[places[there]] = found[1][there]
    both *= np.float32(1 - FILE_WEIGHT)
    if query is not None:
        serials, scores = snapshot.file_lexical.search(
            query.terms,
            limit=CANDIDATES,
            spelt={word: _spelling_weight(word, query) for word in query.spellings},
        )
        first_rows, scores = scores_by_row(snapshot, serials, scores)
        of_file = np.zeros(len(snapshot.uris), np.float32)
        of_file[snapshot.file_of_row[first_rows]] = scores
        both += np.float32(FILE_WEIGHT) * of_file[snapshot.file_of_row[rows]]
    both[both == 0] = np.nan
    return both


def _spelling_weight(word: str, query: ParsedQuery) -> float:
    weight = SPELT_ALONE if query.bare else SPELT
    return weight if word.isalpha() else 2 * weight


def rows_with_phrases(
    snapshot: Snapshot, rows: npt.NDArray[np.intp], phrases: Sequence[str]
) -> npt.NDArray[np.intp]:
    """Which of the rows hold every phrase, whatever the case, with any blanks between its words."""
    words = [word for phrase in phrases for word in snapshot.lexical.query_words(phrase)]
    likely = np.flatnonzero(snapshot.lexical.held(words, snapshot.serials[rows]).all(axis=1))
    texts = [running_text(snapshot, int(rows[at])) for at in likely]
    found = [all(phrase in text for phrase in phrases) for text in texts]
    return likely[np.array(found, np.bool_)]

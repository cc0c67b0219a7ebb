"""Whether a passage answers, as a number from 0 to 1 that means the same for every embedder.

Two things speak for a passage. The curve weighs its cosine, the words that it shares with the query,
and whether the nearest chunk and the best by words are both of its file
(``benchmarks/quality/fit_calibration.py`` fits it). And what stands in it letter for letter is evidence
by itself. The fused score promises nothing of the kind: the best of nothing has rank one, too. Figures
are in ``benchmarks/README.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ragloom.retrieval.calibration import FEATURES, logits
from ragloom.retrieval.foreign_queries import foreign_bonus, word_bonus
from ragloom.retrieval.generic_words import GENERIC
from ragloom.retrieval.named_files import of_named_files
from ragloom.retrieval.parsed_query import CORRECTED_WEIGHT, ParsedQuery
from ragloom.retrieval.ranking import Candidates
from ragloom.retrieval.running_text import running_text
from ragloom.snapshot import Snapshot
from ragloom.snapshot.analyzer import words as words_of
from ragloom.snapshot.lexical import LexicalIndex
from ragloom.snapshot.spellings import is_number
from ragloom.types import Calibration

DEFAULT_CALIBRATION = Calibration(
    bias=-17.72,
    cosine_weight=12.50,
    coverage_weight=5.73,
    words_weight=5.03,
    unknown_weight=-6.90,
    agreement_weight=3.44,
    source="the default curve, fitted on all-MiniLM-L6-v2: this embedder ships none of its own; "
    "'ragloom calibrate' fits one to your documents",
)
"""For embedders without a calibration of their own; the numbers are the bundled model's."""

LEXICAL_CALIBRATION = Calibration(
    bias=-24.09,
    cosine_weight=0.0,
    coverage_weight=13.40,
    words_weight=8.20,
    unknown_weight=-7.75,
    source="fitted without cosines on the collections named in benchmarks/README.md",
)
"""For searches by words alone."""

COMMONEST = 1.0
"""The least inverse document frequency that a word counts with, though most passages hold it."""

LITERAL_RELEVANCE = 0.75
"""At least this has a passage that holds every word of the query, where that is no coincidence."""

_AGREEING = 0.2, 0.4  # coverage and cosine of passages that the agreement of both lists speaks for
_COINCIDENCE = 0.25  # the share of the chunks that hold words together by chance
_RARE = 0.01  # the share of the chunks that hold a rare identifier
_SMALL = 300  # chunks
_NEAR = 0.35  # cosine of a passage that holds every word of a sentence and is about it
_SENTENCE = 3  # words of a sentence that a passage holds by no coincidence
_AHEAD = 0.2  # of the best other file's fused score
_HEAD, _OF_HEAD = 5, 3  # candidates, and how many of them a file has that stands out
_OF_A_CODE = (
    2  # underscores: nobody writes ERR_INVALID_TYPE of something else; one where it is rare
)
_FEW = 3  # chunks that hold a word that is rare in an index of any size


_Name: TypeAlias = tuple[npt.NDArray[np.bool_], Sequence[str]]
"""``(w,)`` bool: which of the query's words a punctuated word consists of; and its terms."""


class WordEvidence(NamedTuple):
    """What the words of a query and a passage have in common.

    Attributes:
        coverage: The inverse document frequencies of the query's words in the passage, over those of
            all of the query's words; 0 to 1.
        matched: How many different words of the query the passage holds.
    """

    coverage: float
    matched: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for each of n candidates.

    Attributes:
        coverage: ``(n,)``, as in :class:`WordEvidence`, like ``matched``.
        matched: ``(n,)`` int.
        relevance: ``(n,)``, 0 to 1.
    """

    coverage: npt.NDArray[np.float64]
    matched: npt.NDArray[np.intp]
    relevance: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """What the curve weighs of n candidates, and what it is made of.

    Attributes:
        matrix: ``(n, 5)`` float64: :data:`ragloom.retrieval.calibration.FEATURES`.
        compared: ``(n,)`` bool: which have a vector; the cosine of the others is 0.
        held: ``(n, w)`` bool: which of the query's words each holds, those of a version and the like only
            where the whole stands.
        frequency: ``(w,)`` int64: how many chunks hold each word.
    """

    matrix: npt.NDArray[np.float64]
    compared: npt.NDArray[np.bool_]
    held: npt.NDArray[np.bool_]
    frequency: npt.NDArray[np.int64]


def features(
    query: ParsedQuery,
    found: Candidates,
    rows: npt.NDArray[np.intp],
    *,
    cosine: npt.NDArray[np.float32] | None = None,
    without: npt.NDArray[np.bool_] | None = None,
    unrelated: float = 0.0,
) -> Features:
    """What the curve weighs, of rows of a snapshot.

    Args:
        query: The query.
        found: What the index has for it.
        rows: ``(n,)`` the rows.
        cosine: ``(n,)`` theirs, where they are known.
        without: Of every row of the snapshot, whether it counts as gone.
        unrelated: The cosine of unrelated texts, as in :class:`ragloom.Calibration`.
    """
    snapshot, words = found.snapshot, query.words
    index = snapshot.lexical
    frequency = np.array([index.frequency(word) for word in words], np.int64)
    if without is not None and without.any():
        gone = index.held(words, snapshot.serials[without]).sum(axis=0)
        frequency = np.maximum(frequency - gone, 0)
    rarity = np.array([max(index.rarity(int(count)), COMMONEST) for count in frequency])
    credit = np.array([CORRECTED_WEIGHT if word.text in query.corrected else 1.0 for word in words])
    total = float(rarity.sum()) or 1.0
    names = _decided(query)
    held = index.held(words, snapshot.serials[rows])
    for own, _ in names:
        held[:, own] = False
    for own, terms in names:
        stands = np.count_nonzero(index.spelt(terms, snapshot.serials[rows]), axis=1) > 0
        held[:, own] |= stands[:, np.newaxis]
    coverage = held @ (rarity * credit) / total
    if found.vector is None:
        cosine = np.zeros(len(rows), np.float32)
    elif cosine is None:
        cosine = snapshot.cosines(found.vector, rows)
    agreement = snapshot.file_of_row[rows] == found.agreed_file
    if np.count_nonzero(agreement) == 1 and len(snapshot) > _SMALL:
        agreement[:] = False  # among many chunks, some word and some vector agree on one
    agreement &= (coverage >= _AGREEING[0]) & (cosine >= _from(unrelated, _AGREEING[1]))
    matrix = np.empty((len(rows), len(FEATURES)))
    compared = ~np.isnan(cosine)
    matrix[:, 0], matrix[:, 1], matrix[:, 2] = np.where(compared, cosine, 0), agreement, coverage
    matrix[:, 3] = np.log1p(len(words))
    matrix[:, 4] = float(rarity[frequency == 0].sum()) / total
    return Features(
        matrix=matrix,
        compared=compared,
        held=held,
        frequency=_of_names(frequency, names, index),
    )


def weigh(
    query: ParsedQuery,
    found: Candidates,
    rows: npt.NDArray[np.intp],
    calibration: Calibration,
    *,
    cosine: npt.NDArray[np.float32] | None = None,
    scores: npt.NDArray[np.float64] | None = None,
) -> Evidence:
    """Weigh what speaks for rows of a snapshot.

    Args:
        query: The query.
        found: What the index has for it.
        rows: ``(n,)`` the rows to weigh.
        calibration: The curve.
        cosine: ``(n,)`` theirs, where they are known.
        scores: ``(n,)`` the scores of the first candidates, in their order; None for other rows.
    """
    unrelated = calibration.unrelated_cosine
    seen = features(query, found, rows, cosine=cosine, unrelated=unrelated)
    held = seen.held
    logit = logits(calibration, seen.matrix) + foreign_bonus(query, found, calibration)
    if not seen.compared.all():  # by their words alone, until they have a vector
        by_words = logits(LEXICAL_CALIBRATION, seen.matrix) + word_bonus(query)
        logit = np.where(seen.compared, logit, by_words)
    curve = 1 / (1 + np.exp(-logit))
    literal = _literal(query, found, rows, held, seen.frequency)
    literal |= of_named_files(query.text, found.snapshot, rows)
    if query.words and not query.words[0].stop and not query.corrected:
        if scores is not None and len(query.words) > 1:
            files = found.snapshot.file_of_row[rows]
            of_the_best = _stands_out(files, scores, held) & (files == found.best_file)
            for own, _ in _decided(query):
                of_the_best &= _missing(held[:, own]) == 0
            literal |= of_the_best
        decided = literal | (curve >= LITERAL_RELEVANCE)
        near = seen.matrix[:, FEATURES.index("cosine")] >= _from(unrelated, _NEAR)
        literal |= _held_in_a_sentence(query, found.snapshot, rows, seen.held, near, decided)
    return Evidence(
        coverage=seen.matrix[:, FEATURES.index("coverage")],
        matched=held.sum(axis=1),
        relevance=np.where(literal, np.maximum(curve, LITERAL_RELEVANCE), curve),
    )


def _of_names(
    frequency: npt.NDArray[np.int64], names: Sequence[_Name], index: LexicalIndex
) -> npt.NDArray[np.int64]:
    """``(w,)``: how many chunks hold each word, those of names whole; ``frequency`` is that of the parts.

    The curve weighs those: a version beside a question is no more of a topic than the numbers in it.
    """
    frequency = frequency.copy()
    for own, _ in names:
        frequency[own] = 0
    for own, terms in names:
        most = max(map(index.spelling_frequency, terms), default=0)
        frequency[own] = np.maximum(frequency[own], most)
    return frequency


def _decided(query: ParsedQuery) -> Sequence[_Name]:
    """Of each punctuated word that decides whether its words are held, which they are, and its terms.

    The parts of a name that stands nowhere may still be said in other ways; those of a number are none.
    """
    return [
        (_own(query, name), terms)
        for name, terms in query.punctuated.items()
        if terms or is_number(name)
    ]


def _own(query: ParsedQuery, name: str) -> npt.NDArray[np.bool_]:
    """``(w,)`` bool: which of its words are of a punctuated word."""
    parts = {word.text for word in words_of(name)}
    own: npt.NDArray[np.bool_] = np.array([word.text in parts for word in query.words], np.bool_)
    return own


def best_of(weighed: Sequence[Evidence]) -> Evidence:
    """For each candidate the evidence, of several queries, that gives it the most relevance."""
    if len(weighed) == 1:
        return weighed[0]
    each = np.arange(len(weighed[0].relevance))
    best = np.argmax([one.relevance for one in weighed], axis=0)
    return Evidence(
        coverage=np.array([one.coverage for one in weighed])[best, each],
        matched=np.array([one.matched for one in weighed])[best, each],
        relevance=np.array([one.relevance for one in weighed])[best, each],
    )


def _literal(
    query: ParsedQuery,
    candidates: Candidates,
    rows: npt.NDArray[np.intp],
    held: npt.NDArray[np.bool_],
    frequency: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """``(n,)`` bool: which rows hold what the query names, letter for letter.

    All of its words, where they are no sentence but words alone, or one name, or where several are all that
    is compared, and meet by no coincidence; or its identifiers, whatever one other topic is beside them;
    or what names one thing in few chunks, such as ``ERR_INVALID_TYPE``, a flag or a version, whatever is
    said around it.
    """
    snapshot = candidates.snapshot
    if query.phrases:
        return np.ones(len(held), np.bool_)
    words = query.words
    if not words or (words[0].stop and not query.identifiers):
        return np.zeros(len(held), np.bool_)
    chunks = len(snapshot)
    found: npt.NDArray[np.bool_] = np.full(len(held), fill_value=False)
    nowhere = np.zeros(len(words), np.bool_)
    for name, terms in query.punctuated.items():
        if not terms:
            nowhere |= _own(query, name)
    every = (_missing(held) == 0) & ~nowhere.any()
    named = len(words) == 1 and words[0].text in query.names
    nothing_else = candidates.vector is None and (query.foreign or len(words) >= _SENTENCE)
    if query.bare or named or nothing_else:
        rare = float(np.prod(frequency / chunks)) <= _COINCIDENCE or frequency.min() <= _FEW
        if rare and (query.punctuated or not words[0].stop):
            found |= every
        elif min(map(snapshot.file_lexical.spelling_frequency, query.spellings)) <= _FEW:
            # Words of common stems, or stop words, in a form that is rare.
            found |= every & _spelt(query.spellings, snapshot, rows)
    exact = np.array([word.text in query.identifiers for word in words]) & ~nowhere
    underscores = np.array([word.text.count("_") for word in words])
    code = (underscores >= np.where(frequency <= _FEW, 1, _OF_A_CODE)) & ~nowhere
    topics = np.array([word.text not in GENERIC for word in words])
    others_missing = _missing(held[:, topics])
    for some, others in ((exact, 1), (code, len(words))):
        if some.any() and (frequency[some] <= max(_FEW, _RARE * chunks)).all():
            found |= (_missing(held[:, some]) == 0) & (others_missing <= others)
    for name, terms in query.punctuated.items():
        own = _own(query, name)
        if terms and own.any() and (frequency[own] <= max(_FEW, _RARE * chunks)).any():
            rare = "/" not in name and (frequency[own] <= _FEW).any()
            found |= (_missing(held[:, own]) == 0) & (others_missing <= (len(words) if rare else 1))
    return found


def _held_in_a_sentence(
    query: ParsedQuery,
    snapshot: Snapshot,
    rows: npt.NDArray[np.intp],
    held: npt.NDArray[np.bool_],
    near: npt.NDArray[np.bool_],
    decided: npt.NDArray[np.bool_],
) -> npt.NDArray[np.bool_]:
    """``(n,)`` bool: which rows hold every word, and are near the query or hold them in a row, too.

    Chunks that are ``decided`` are not read.
    """
    every = _missing(held) == 0
    found: npt.NDArray[np.bool_] = every & near
    if query.phrase:
        for at in np.flatnonzero(every & ~near & ~decided):
            found[at] = query.phrase in running_text(snapshot, int(rows[at]))
    return found


def _from(unrelated: float, near: float) -> float:
    """A cosine that is as near as ``near`` is where unrelated texts have 0."""
    return unrelated + (1 - unrelated) * near


def _missing(held: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    missing: npt.NDArray[np.intp] = np.count_nonzero(~held, axis=1)
    return missing


def _stands_out(
    files: npt.NDArray[np.int32], scores: npt.NDArray[np.float64], held: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """``(n,)`` bool: which of the first five are of a file that has the head and all the words."""
    first = files == files[0]
    rest = scores[~first]
    ahead = scores[0] - (rest.max() if len(rest) else 0.0)
    if ahead < _AHEAD or first[:_HEAD].sum() < _OF_HEAD or not held[first].any(axis=0).all():
        return np.full(len(files), fill_value=False)
    near_top: npt.NDArray[np.bool_] = first & (np.arange(len(files)) < _HEAD)
    return near_top


def _spelt(
    spellings: Sequence[str], snapshot: Snapshot, rows: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    """``(n,)`` bool: which rows are of a file that has every word spelt so."""
    files, place = np.unique(snapshot.file_of_row[rows], return_inverse=True)
    serials = snapshot.serials[snapshot.first_rows[files]]
    whole = _missing(snapshot.file_lexical.spelt(spellings, serials)) == 0
    of_row: npt.NDArray[np.bool_] = whole[place]
    return of_row

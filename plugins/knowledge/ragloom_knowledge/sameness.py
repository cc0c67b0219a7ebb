"""Whether two pieces of advice say the same: alike words; negations, directions and numbers agree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ragloom_knowledge.vocabulary import (
    AXES,
    NEGATIONS,
    NUMBERS,
    ORDERED,
    STOP,
    SWAPPED,
    UNITS,
)

_SAME: Final = 0.7  # of the content words of both texts; below it, two solutions are two patterns
_OPPOSED: Final = (
    0.5  # of the words that are no directions: below it, two texts are about other things
)
_REACH: Final = 3  # content words after a negation

_TOKEN: Final = re.compile(
    r"(?P<number>\d+(?:,\d{3})+(?!\d)|\d+(?:\.\d+)*)\s?(?P<unit>%|[a-z]+\b)?"
    r"|(?P<word>[^\W\d_][\w'’]*(?:[.-](?=\w)[\w'’]+)*|_\w+)|(?P<end>[.;:,!?\n])"
)
_SUFFIXES: Final = (
    "ations",
    "ation",
    "ings",
    "ing",
    "ies",
    "ied",
    "ers",
    "er",
    "ed",
    "es",
    "ly",
    "s",
    "e",
)
_STEM: Final = 2  # letters that remain of a word


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """What a text says.

    Attributes:
        words: Its content words, without their endings; of a direction its axis and side.
        directed: Those of them that are directions.
        directions: The axis and the side of each.
        negated: The content words in reach of a negation.
        numbers: With their units.
        ordered: For each connective, the words before it and behind it.
    """

    words: frozenset[str]
    directed: frozenset[str]
    directions: frozenset[tuple[int, int]]
    negated: frozenset[str]
    numbers: frozenset[tuple[str, str]]
    ordered: tuple[tuple[str, frozenset[str], frozenset[str]], ...]


def same_advice(left: str, right: str) -> bool:
    """Whether two solutions say the same.

    Seven tenths of the content words of both are in both (Jaccard, 1912), and negations, directions
    and numbers agree.
    """
    one, other = _said(left), _said(right)
    return _alike(one.words, other.words) >= _SAME and not _disagree(one, other)


def opposed(left: str, right: str) -> bool:
    """Whether two solutions speak of the same and disagree: raise and lower, do and do not, 5 and 50."""
    one, other = _said(left), _said(right)
    if _alike(one.words - one.directed, other.words - other.directed) < _OPPOSED:
        return False
    refused = (one.negated - other.negated) & (other.words - other.negated)
    refused |= (other.negated - one.negated) & (one.words - one.negated)
    numbers = bool(one.numbers) and bool(other.numbers)
    return (
        bool(refused)
        or (numbers and _numbers_differ(one.numbers, other.numbers))
        or _directions_differ(one, other)
        or _reversed(one, other)
    )


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, without their endings."""
    return _said(text).words


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def _disagree(one: _Said, other: _Said) -> bool:
    return (
        _numbers_differ(one.numbers, other.numbers)
        or _directions_differ(one, other)
        or bool(one.negated) != bool(other.negated)
        or (bool(one.negated) and not one.negated & other.negated)
        or _reversed(one, other)
    )


def _numbers_differ(one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]) -> bool:
    """A unit that only one of them names is no difference."""
    if {value for value, _ in one} != {value for value, _ in other}:
        return True
    return any(
        unit and theirs and unit != theirs and (value, theirs) not in one
        for value, unit in one
        for same, theirs in other
        if same == value and (value, unit) not in other
    )


def _directions_differ(one: _Said, other: _Said) -> bool:
    """Both say something on an axis, and not the same; or a word stands against itself with un- or dis-."""
    for axis in {axis for axis, _ in one.directions} & {axis for axis, _ in other.directions}:
        if {s for a, s in one.directions if a == axis} != {
            s for a, s in other.directions if a == axis
        }:
            return True
    return any(
        prefix + word in theirs.words and prefix + word not in ours.words
        for ours, theirs in ((one, other), (other, one))
        for word in ours.words - theirs.words
        for prefix in ("un", "dis", "de", "in", "non", "re-")
    )


def _reversed(one: _Said, other: _Said) -> bool:
    """Whether what stands before a connective in one stands behind it in the other."""
    for connective, before, behind in one.ordered:
        for same, left, right in other.ordered:
            if connective == same:
                straight = len(before & left) + len(behind & right)
                if len(before & right) + len(behind & left) > straight:
                    return True
    return False


@lru_cache(maxsize=4096)
def _said(text: str) -> _Said:
    clauses, numbers = _clauses(text)
    seen = [_stems(clause) for clause in clauses]
    stems = [stem for clause in seen for stem in clause]
    ordered: list[tuple[str, frozenset[str], frozenset[str]]] = []
    earlier: frozenset[str] = frozenset()  # of the clause before
    for clause in seen:
        runs: list[list[str]] = [[]]  # content words between connectives
        for stem in clause:
            if stem.joint:
                runs.append([])
            else:
                runs[-1].append(stem.text)
        joints = [stem.text for stem in clause if stem.joint]
        for joint, left, right in zip(joints, runs, runs[1:], strict=False):
            sides = frozenset(left) or earlier, frozenset(right)
            before, behind = sides[::-1] if joint in SWAPPED else sides
            ordered.append((SWAPPED.get(joint, joint), before, behind))
        earlier = frozenset(runs[-1])
    content = [stem for stem in stems if not stem.joint]
    return _Said(
        words=frozenset(stem.text for stem in content),
        directed=frozenset(stem.text for stem in content if stem.axes),
        directions=frozenset(axis for stem in content for axis in stem.axes),
        negated=frozenset(stem.text for stem in content if stem.negated),
        numbers=frozenset(numbers),
        ordered=tuple(ordered),
    )


def _clauses(text: str) -> tuple[list[list[str]], set[tuple[str, str]]]:
    """The words between stops, and the numbers with their units."""
    clauses: list[list[str]] = [[]]
    numbers: set[tuple[str, str]] = set()
    for match in _TOKEN.finditer(text.casefold().replace("\u2019", "'")):
        if match["number"]:
            unit = match["unit"] or ""
            numbers.add((match["number"].replace(",", ""), UNITS.get(unit, "")))
            if unit and unit not in UNITS:
                clauses[-1].append(unit)
        elif match["end"]:
            clauses.append([])
        elif (word := match["word"]) in NUMBERS:
            numbers.add((NUMBERS[word], ""))
        else:
            clauses[-1].append(word)
    return clauses, numbers


class _Word(NamedTuple):
    """A content word without its ending, or a connective."""

    text: str
    joint: bool = False
    negated: bool = False
    axes: tuple[tuple[int, int], ...] = ()


def _stems(clause: Sequence[str]) -> list[_Word]:
    stems: list[_Word] = []
    reached = 0  # content words that a negation still reaches
    for word in clause:
        negation = word in NEGATIONS or word.endswith("n't")
        if negation:
            reached = _REACH
        if word in ORDERED:
            stems.append(_Word(word, joint=True))
            continue
        axes = AXES.get(word) or AXES.get(_infinitive(word)) or ()
        if not axes and (negation or word in STOP):
            continue
        text = "".join(f"<{axis}:{side}>" for axis, side in axes) or _stem(word)
        stems.append(_Word(text, negated=bool(reached) and not negation, axes=axes))
        reached = max(0, reached - 1) if not negation else reached
    return stems


def _infinitive(word: str) -> str:
    """The form in which a direction is listed: ``raised``, ``raising`` and ``raises`` are ``raise``."""
    for ending, instead in (
        ("ing", "e"),
        ("ing", ""),
        ("ed", "e"),
        ("ed", ""),
        ("es", "e"),
        ("s", ""),
    ):
        if word.endswith(ending) and (stem := word[: -len(ending)] + instead) in AXES:
            return stem
    return word


def _stem(word: str) -> str:
    for ending in _SUFFIXES:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word

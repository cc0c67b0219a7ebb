"""Whether two pieces of advice say the same: alike words; negations, directions and numbers agree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from ragloom_knowledge.places import Place, apart, elsewhere, placed
from ragloom_knowledge.quantities import Quantity, differ
from ragloom_knowledge.vocabulary import (
    ALIASES,
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
    # A sign before a number or between spaces: no arrow, tag or redirection.
    r"(?P<sign>[!=]==?|≠|[≤≥]|(?<![<>=-])[<>](?:=|(?=\s*-?\d)|(?=\s)))"
    r"|v?(?P<number>(?:(?<![\w.)\]-])-)?(?:\d+(?:,\d{3})+(?!\d)|\d+(?:\.\d+)*))"
    r"(?P<apart>\s?)(?P<unit>%|[^\W\d_]+\b)?"
    r"|(?P<word>[^\W\d_][\w'’]*(?:[.-](?=\w)[\w'’]+)*|_\w+)|(?P<end>[.;:,!?\n])"
)
_DIGITS: Final = re.compile(r"\d+(?:\.\d+)*")
_AND: Final = "and"  # a word before it is not what a connective behind it speaks of
_NUMBER: Final = "#"  # begins a number among words
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
_INFLECTED: Final = (
    ("ing", "e"),
    ("ing", ""),
    ("ed", "e"),
    ("ed", ""),
    ("ied", "y"),
    ("ies", "y"),
    ("es", "e"),
    ("es", ""),
    ("s", ""),
)
_SIGNS: Final = frozenset(
    f"<{axis}:{side}>" for sign in (">", "<", "==", "!=") for axis, side in AXES[sign]
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
        numbered: Words with digits, such as ``python3.11``, without these, and the digits.
        counted: A word that stands by a number, and the number.
        ordered: For each connective, the words and numbers before it and behind it.
        placed: The words behind prepositions of place, and the side of each.
    """

    words: frozenset[str]
    directed: frozenset[str]
    directions: frozenset[tuple[int, int]]
    negated: frozenset[str]
    numbers: frozenset[Quantity]
    numbered: frozenset[tuple[str, str]]
    counted: frozenset[tuple[str, str]]
    ordered: tuple[tuple[str, frozenset[str], frozenset[str]], ...]
    placed: frozenset[Place]


def same_advice(left: str, right: str) -> bool:
    """Whether two solutions say the same.

    Seven tenths of the content words of both are in both (Jaccard, 1912), and negations, directions
    and numbers agree.
    """
    one, other = _said(left), _said(right)
    # A text may contradict itself: "before it and after it".
    alike = _alike(one.words, other.words) >= _SAME
    return one == other or (alike and not _disagree(one, other))


def opposed(left: str, right: str) -> bool:
    """Whether two solutions speak of the same and disagree: raise and lower, do and do not, 5 and 50."""
    one, other = _said(left), _said(right)
    alike = _alike(one.words - one.directed, other.words - other.directed)
    if one == other or alike < _OPPOSED:
        return False
    numbers = bool(one.numbers) and bool(other.numbers)
    return (
        _refused(one, other)
        or (numbers and differ(one.numbers, other.numbers))
        or _numbered_otherwise(one, other)
        or _directions_differ(one, other, wholly=True)
        or _reversed(one, other)
        # To read from a queue and to write to it is no contradiction.
        or (_alike(one.words, other.words) >= _SAME and apart(one.placed, other.placed))
    )


def content_words(text: str) -> frozenset[str]:
    """The content words of a text, without their endings."""
    return _said(text).words


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0


def _disagree(one: _Said, other: _Said) -> bool:
    return (
        differ(one.numbers, other.numbers)
        or _numbered_otherwise(one, other)
        or _directions_differ(one, other)
        or bool(one.negated) != bool(other.negated)
        or (bool(one.negated) and not one.negated & other.negated)
        or _refused(one, other)
        or _reversed(one, other)
        or apart(one.placed, other.placed)
        or elsewhere(one.placed, one.words, other.placed, other.words)
    )


def _refused(one: _Said, other: _Said) -> bool:
    """Whether more words are negated in one and not in the other than are in both."""
    refused = (one.negated - other.negated) & (other.words - other.negated)
    refused |= (other.negated - one.negated) & (one.words - one.negated)
    return len(refused) > len(one.negated & other.negated)


def _numbered_otherwise(one: _Said, other: _Said) -> bool:
    """Whether a word has other digits, as ``us-east-2`` for ``us-east-1``; or two have changed numbers."""
    if any(left != right for left, right in _of_both(one.numbered, other.numbered)):
        return True
    changed = [1 for left, right in _of_both(one.counted, other.counted) if not left & right]
    return len(changed) > 1


def _of_both(
    one: frozenset[tuple[str, str]], other: frozenset[tuple[str, str]]
) -> list[tuple[set[str], set[str]]]:
    """For each word that is in both, what stands by it in each."""
    words = {word for word, _ in one} & {word for word, _ in other}
    return [
        ({by for word, by in one if word == this}, {by for word, by in other if word == this})
        for this in sorted(words)
    ]


def _directions_differ(one: _Said, other: _Said, *, wholly: bool = False) -> bool:
    """Both say something on an axis, and not the same; or a word stands against itself with un- or dis-."""
    for axis in {axis for axis, _ in one.directions} & {axis for axis, _ in other.directions}:
        sides, theirs = ({s for a, s in said.directions if a == axis} for said in (one, other))
        # Who speaks of the old and of the new says more than who speaks of the new, not the opposite.
        if sides.isdisjoint(theirs) if wholly else sides != theirs:
            return True
    return any(
        prefix + word in others.words and prefix + word not in ours.words
        for ours, others in ((one, other), (other, one))
        for word in ours.words - others.words
        for prefix in ("un", "dis", "de", "in", "non", "re-")
    )


def _reversed(one: _Said, other: _Said) -> bool:
    """Whether words, or numbers, that stand before a connective in one stand behind it in the other."""
    return any(
        _crossed((before, behind), (left, right))
        or _crossed((_numbers(before), _numbers(behind)), (_numbers(left), _numbers(right)))
        for connective, before, behind in one.ordered
        for same, left, right in other.ordered
        if connective == same
    )


_Sides = tuple[frozenset[str], frozenset[str]]


def _crossed(one: _Sides, other: _Sides) -> bool:
    (before, behind), (left, right) = one, other
    straight = len(before & left) + len(behind & right)
    return len(before & right) + len(behind & left) > straight


def _numbers(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if word.startswith(_NUMBER))


@lru_cache(maxsize=4096)
def _said(text: str) -> _Said:
    clauses, numbers = _clauses(text)
    seen = [_stems(clause) for clause in clauses]
    ordered: list[tuple[str, frozenset[str], frozenset[str]]] = []
    earlier: frozenset[str] = frozenset()  # of the run before
    for clause in seen:
        runs: list[list[str]] = [[]]  # content words and numbers between connectives
        for stem in clause:
            if stem.joint:
                runs.append([])
            else:
                runs[-1].append(stem.text)
        joints = [stem.text for stem in clause if stem.joint]
        for joint, left, right in zip(joints, runs, runs[1:], strict=False):
            earlier = frozenset(left) or earlier
            if joint == _AND:
                continue
            sides = earlier, frozenset(right)
            before, behind = sides[::-1] if joint in SWAPPED else sides
            ordered.append((SWAPPED.get(joint, joint), before, behind))
        earlier = frozenset(runs[-1])
    stems = [stem for clause in seen for stem in clause if not stem.joint]
    content = [stem for stem in stems if not stem.text.startswith(_NUMBER)]
    # Signs are directions, and no words: a path through menus has them, too.
    words = [stem for stem in content if stem.text not in _SIGNS]
    return _Said(
        words=frozenset(stem.text for stem in words),
        directed=frozenset(stem.text for stem in words if stem.axes),
        directions=frozenset(axis for stem in content for axis in stem.axes),
        negated=frozenset(stem.text for stem in words if stem.negated),
        numbers=frozenset(numbers),
        numbered=frozenset(
            (_DIGITS.sub(_NUMBER, stem.text), " ".join(_DIGITS.findall(stem.text)))
            for stem in words
            if not stem.axes and _DIGITS.search(stem.text)
        ),
        counted=frozenset(pair for clause in seen for pair in _counted(clause)),
        ordered=tuple(ordered),
        placed=frozenset(
            at._replace(word=_stem(at.word), named=at.named and _infinitive(at.word) not in AXES)
            for clause in clauses
            for at in placed(clause)
        ),
    )


def _counted(clause: Sequence[_Word]) -> list[tuple[str, str]]:
    """Each number with the word behind it, as in ``3 replicas``, or else the last one before it."""
    pairs: list[tuple[str, str]] = []
    before = ""
    for place, stem in enumerate(clause):
        if stem.text.startswith(_NUMBER):
            behind = clause[place + 1] if place + 1 < len(clause) else _Word("", joint=True)
            owner = before if behind.joint or behind.text.startswith(_NUMBER) else behind.text
            if owner:
                pairs.append((owner, stem.text))
        elif not stem.joint:
            before = stem.text
    return pairs


def _clauses(text: str) -> tuple[list[list[str]], set[Quantity]]:
    """The words between stops, and the numbers with their units."""
    clauses: list[list[str]] = [[]]
    numbers: set[Quantity] = set()
    for match in _TOKEN.finditer(text.casefold().replace("\u2019", "'")):
        word = match["sign"] or match["word"]
        if match["number"]:
            unit = match["unit"] or ""
            measured = unit if unit in UNITS or not match["apart"] else ""
            quantity = Quantity(match["number"].replace(",", ""), measured)
            numbers.add(quantity)
            clauses[-1].append(_NUMBER + quantity.value)
            if unit and unit not in UNITS:
                clauses[-1].append(unit)
        elif match["end"]:
            clauses.append([])
        elif word in NUMBERS:
            numbers.add(Quantity(NUMBERS[word]))
            clauses[-1].append(_NUMBER + NUMBERS[word])
        else:
            clauses[-1].append(ALIASES.get(word, word))
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
        if word.startswith(_NUMBER):
            stems.append(_Word(word))
            continue
        base = _infinitive(word)
        negation = base in NEGATIONS or word.endswith("n't")
        if negation:
            reached = _REACH
        if word in ORDERED or word == _AND:
            stems.append(_Word(word, joint=True))
            continue
        axes = AXES.get(base, ())
        if not axes and (negation or word in STOP):
            continue
        text = "".join(f"<{axis}:{side}>" for axis, side in axes) or _stem(word)
        stems.append(_Word(text, negated=bool(reached) and not negation, axes=axes))
        reached = max(0, reached - 1) if not negation else reached
    return stems


def _infinitive(word: str) -> str:
    """The form in which a direction or negation is listed: ``raise`` for ``raising``."""
    if word in AXES or word in NEGATIONS:
        return word
    for ending, instead in _INFLECTED:
        stem = word.removesuffix(ending)
        if stem == word:
            continue
        once = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
        for base in (stem + instead, once):
            if base in AXES or base in NEGATIONS:
                return base
    return word


def _stem(word: str) -> str:
    for ending in _SUFFIXES:
        if word.endswith(ending) and len(word) - len(ending) >= _STEM:
            return word[: -len(ending)]
    return word

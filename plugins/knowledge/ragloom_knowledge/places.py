"""Where advice puts things: to the worker is neither off the worker nor to the main thread."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from ragloom_knowledge.vocabulary import DETERMINERS, NEGATIONS, ORDERED, PLACES, STOP

_AND: Final = "and"
_PHRASE: Final = 3  # words that a preposition speaks of: the red cache of …
_OUT: Final = "out"
_AFTER_OUT: Final = frozenset({"of", "from"})
_PARTICLES: Final = frozenset({"in", "out", "on", "off", "away"})
_OPPOSITE: Final = frozenset(
    pair
    for one, other in (("to", "from"), ("to", _OUT), ("in", _OUT))
    for pair in ((one, other), (other, one))
)


class Place(NamedTuple):
    """A word behind a preposition of place.

    Attributes:
        word: Of the phrase.
        side: On which side of the thing something is put: ``to``, ``in``, ``from`` or ``out``.
        named: An article stands between, so it is no verb, as in ``to avoid``.
    """

    word: str
    side: str
    named: bool


def placed(clause: Sequence[str]) -> Iterator[Place]:
    """The words that each preposition of a clause speaks of; of one that ends a phrase, the word before.

    So ``off the main thread`` gives ``main`` and ``thread``, and ``opt out`` gives ``opt``.
    """
    side, left, named, before = "", 0, False, ""
    for word, following in pairwise([*clause, ""]):
        if side == _OUT and left == _PHRASE and word in _AFTER_OUT:
            continue  # out of, away from
        if word in PLACES:
            side, left, named = PLACES[word], _PHRASE, False
            if before and word in _PARTICLES and _ends(following):
                yield Place(before, side, named=False)
        elif word in DETERMINERS:
            named = named or left == _PHRASE
        elif word in STOP or word in NEGATIONS or word in ORDERED or word == _AND:
            side = ""
        else:
            if side:
                yield Place(word, side, named)
                left -= 1
                side = side if left else ""
            before = word


def _ends(following: str) -> bool:
    """Whether no noun follows."""
    beginning = following in DETERMINERS and following not in _AFTER_OUT
    return not beginning and (following in STOP or following in PLACES or not following)


def apart(one: Collection[Place], other: Collection[Place]) -> bool:
    """Whether a word is on one side in one text, and on the opposite side in the other."""
    for word in {place.word for place in one} & {place.word for place in other}:
        sides, theirs = ({at.side for at in each if at.word == word} for each in (one, other))
        if all((left, right) in _OPPOSITE for left in sides for right in theirs):
            return True
    return False


def elsewhere(
    one: Collection[Place],
    words: Collection[str],
    other: Collection[Place],
    others: Collection[str],
) -> bool:
    """Whether something is put in one place by one text, and in another by the other.

    Args:
        one: The places of a text.
        words: Its words.
        other: The places of the other text.
        others: Its words.
    """
    here, there = (
        {*said, *(at.word for at in at_all)} for said, at_all in ((words, one), (others, other))
    )
    return any(
        any(at.side == side and at.named and at.word not in there for at in one)
        and any(at.side == side and at.named and at.word not in here for at in other)
        for side in {at.side for at in one}
    )

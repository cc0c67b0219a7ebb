"""Patterns made of the lessons that fit a query: one for each problem, the best proven first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from ragloom_knowledge.matching import Matcher, of_another_thing
from ragloom_knowledge.sameness import opposed
from ragloom_knowledge.types import Lesson, Pattern, Patterns, failing, wilson_lower_bound


def patterns_of(
    found: Mapping[str, float],
    lessons: Mapping[str, Lesson],
    matcher: Matcher,
    count: int,
    reported: Collection[str] = (),
) -> Patterns:
    """The ``count`` most relevant problems as patterns.

    Proven ones come first, then what a human decided, then the others; each by the lower bound of its
    share of successes, then by relevance. What failed more often than it worked is advised against.

    Args:
        found: The relevance of each lesson, the best first.
        lessons: The lessons.
        matcher: Says which of them are about one problem.
        count: Maximum number of problems.
        reported: Ids of the lessons that have the reported error, letter for letter.
    """
    groups = _groups([lessons[name] for name in found], matcher)
    made = [(_pattern(group, found, reported), group) for group in groups[:count]]
    made = [(_with_conflicts(one, group, made, matcher), group) for one, group in made]
    ordered = sorted((one for one, _ in made), key=_order)
    return Patterns(
        (one for one in ordered if not one.failing), avoid=(one for one in ordered if one.failing)
    )


def _groups(lessons: Iterable[Lesson], matcher: Matcher) -> list[list[Lesson]]:
    """The wordings of each problem, in the order of the first; opposite advice is a group of its own."""
    groups: list[list[Lesson]] = []
    for lesson in lessons:
        for group in groups:
            if matcher.alike(group[0], lesson) and not any(
                opposed(other.solution, lesson.solution) for other in group
            ):
                group.append(lesson)
                break
        else:
            groups.append([lesson])
    return groups


def _pattern(
    alike: Sequence[Lesson], found: Mapping[str, float], reported: Collection[str]
) -> Pattern:
    """The wording that has the reported error, or else the best proven one, and the counts of all.

    A lesson that gives the advice of the most relevant one for another thing is none of its wordings.
    """
    group = [one for one in alike if not of_another_thing(alike[0], one)]
    shown = max(
        group,
        key=lambda one: (
            one.id in reported and not failing(one.successes, one.uses),
            wilson_lower_bound(one.successes, one.uses),
            found[one.id],
        ),
    )
    return Pattern(
        id=shown.id,
        kind=shown.kind,
        problem=shown.problem,
        solution=shown.solution,
        when_to_try=shown.when_to_try,
        successes=sum(one.successes for one in group),
        uses=sum(one.uses for one in group),
        relevance=max(found[one.id] for one in group),
        wordings=tuple(sorted(one.id for one in group if one is not shown)),
    )


def _with_conflicts(
    pattern: Pattern,
    group: Sequence[Lesson],
    made: Sequence[tuple[Pattern, Sequence[Lesson]]],
    matcher: Matcher,
) -> Pattern:
    against = [
        other.id
        for other, theirs in made
        if other.id != pattern.id
        and any(
            opposed(one.solution, two.solution)
            and (one.signature == two.signature or matcher.alike(one, two))
            for one in group
            for two in theirs
        )
    ]
    return replace(pattern, conflicts=tuple(sorted(against)))


def most_fitting(
    patterns: Sequence[Pattern], count: int, *, in_order: bool = True
) -> list[Pattern]:
    """Of patterns those to show: proven ones, then the most relevant; as they are ordered."""
    by_fit = sorted(patterns, key=lambda one: (not one.proven, -one.relevance, one.id))[:count]
    return [one for one in patterns if one in by_fit] if in_order else by_fit


_PROVEN: Final = 0
_HUMAN: Final = 1
_OTHER: Final = 2


def _order(pattern: Pattern) -> tuple[int, float, float, str]:
    rank = _PROVEN if pattern.proven else _HUMAN if pattern.human else _OTHER
    bound = wilson_lower_bound(pattern.successes, pattern.uses)
    return rank, -bound, -pattern.relevance, pattern.id

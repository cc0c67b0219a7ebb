"""The block of patterns that an orchestrator adds to an agent's context, and its traces in a text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from ragloom import TokenCounter
from ragloom.context import quote_lines, replace_alike
from ragloom_knowledge.patterns import most_fitting
from ragloom_knowledge.types import Pattern

AT_MOST: Final = 3
"""Patterns in a block."""

_OPENING: Final = "[ORCHESTRATOR CONTEXT: Historical Knowledge]"
_CLOSING: Final = "[END CONTEXT]"
_MOST_COMMON, _MODERATE = 5, 3  # successes, as Decision 68 has them

# What a reader, human or model, would take for one of the two delimiters, as ragloom.context.seen has it.
_LIKE_DELIMITER: Final = re.compile(
    r"\[\s*+/?\s*(?:END\s+(?:ORCHESTRATOR\s+)?CONTEXT|ORCHESTRATOR\s+CONTEXT)",
    re.IGNORECASE,
)
_LIKE_FIELD: Final = re.compile(
    r"^[ \\>]*(?P<at>(?:Pattern|Avoid) *\d+ *\(|Avoid *:|Recommendation *:"
    r"|- *(?:Problem|Solution|When +to +try|Conflict|Id) *:)",
    re.IGNORECASE | re.MULTILINE,
)
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_RECALLED: Final = re.compile(
    r"\[\s*ORCHESTRATOR\s+CONTEXT\s*:.*?(?:\[\s*END\s+CONTEXT\s*\]|\Z)", re.IGNORECASE | re.DOTALL
)
_ONE_PATTERN: Final = re.compile(
    r"^[ \t>]*(?:Pattern|Avoid) \d+ \((?:(?:Most Common|Moderate|Less Common)(?:, decided by a human)? - )?"
    r"(?:\d+ of )?\d+ success(?:es)?\):[^\n]*"
    r"(?:\n[ \t>]*(?:- (?:Problem|Solution|When to try|Conflict|Id):|  )[^\n]*)*",
    re.MULTILINE,
)


def pattern_block(patterns: Sequence[Pattern], avoid: Sequence[Pattern] = ()) -> str:
    """The block of Decision 68 for up to :data:`AT_MOST` patterns, best first, and what to avoid.

    No text of a lesson can end the block or begin another pattern: its lines are indented, one that reads
    like a line of the block gets a backslash, and what reads like a delimiter a round bracket.
    """
    shown = patterns[:AT_MOST]
    parts = [f"{_OPENING}\n"]
    if shown:
        parts.append("Similar situations have been resolved these ways:\n")
    numbers = {one.id: f"Pattern {number}" for number, one in enumerate(shown, 1)}
    numbers |= {one.id: f"Avoid {number}" for number, one in enumerate(avoid, 1)}
    for number, pattern in enumerate(shown, 1):
        human = ", decided by a human" if pattern.human else ""
        title = f"Pattern {number} ({_label(pattern.successes)}{human} - {_counted(pattern)}):"
        parts.append(_entry(title, pattern, numbers))
    if avoid:
        parts.append("Avoid: these have failed more often than they worked.\n")
    for number, pattern in enumerate(avoid, 1):
        parts.append(_entry(f"Avoid {number} ({_counted(pattern)}):", pattern, numbers))
    parts.append(_recommendation(shown))
    return "\n".join([*parts, f"{_CLOSING}\n"])


def _entry(title: str, pattern: Pattern, numbers: Mapping[str, str]) -> str:
    against = [number for other, number in numbers.items() if other in pattern.conflicts]
    advise = "advises" if len(against) == 1 else "advise"
    conflict = f"- Conflict: {', '.join(against)} {advise} the opposite\n" if against else ""
    return (
        f"{title}\n"
        f"- Problem: {_quoted(pattern.problem)}\n"
        f"- Solution: {_quoted(pattern.solution)}\n"
        f"- When to try: {_quoted(pattern.when_to_try)}\n"
        f"{conflict}"
        f"- Id: {pattern.id}\n"
    )


def _recommendation(shown: Sequence[Pattern]) -> str:
    if not shown:
        return "Recommendation: Do not repeat these; nothing that works is known.\n"
    if shown[0].proven:
        likely = "Pattern 1 is most likely based on historical data."
    else:
        likely = "None of them is proven yet."
    return f"Recommendation: Try patterns in order. {likely}\n"


def _counted(pattern: Pattern) -> str:
    """Such as ``5 of 8 successes``."""
    return f"{pattern.successes} of {pattern.uses} success{'' if pattern.uses == 1 else 'es'}"


def fitting(
    patterns: Sequence[Pattern],
    tokens: TokenCounter,
    limit: int,
    avoid: Sequence[Pattern] = (),
) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]]:
    """The patterns, and those to avoid, that fit into a block of ``limit`` tokens, in their order.

    Proven ones come first, then the most relevant; one that is too long leaves its place to the next. What
    is advised against gets what is left.
    """
    chosen: list[Pattern] = []
    for candidate in most_fitting(patterns, len(patterns), in_order=False):
        tried = [one for one in patterns if one in (*chosen, candidate)]
        if len(chosen) < AT_MOST and tokens.count(pattern_block(tried)) <= limit:
            chosen = tried
    against: list[Pattern] = []
    for candidate in avoid[:AT_MOST]:
        if tokens.count(pattern_block(chosen, [*against, candidate])) <= limit:
            against.append(candidate)
    return tuple(chosen), tuple(against)


def without_recalled(text: str) -> str:
    """``text`` without any block, whole or cut off, and without single patterns of one."""
    return _ONE_PATTERN.sub("", _RECALLED.sub("", text)).strip()


def _label(successes: int) -> str:
    if successes >= _MOST_COMMON:
        return "Most Common"
    return "Moderate" if successes >= _MODERATE else "Less Common"


def _quoted(text: str) -> str:
    text = replace_alike(_INVISIBLE.sub("", text), _LIKE_DELIMITER, "(")
    lines = (line.rstrip() for line in _BREAK.split(quote_lines(text.strip(), _LIKE_FIELD)))
    return "\n  ".join(line for line in lines if line)

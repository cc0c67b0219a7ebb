"""The block of patterns that an orchestrator adds to an agent's context, and its traces in a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ragloom import TokenCounter
from ragloom.context import quote_lines, replace_alike
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
    r"^[ \\>]*(?P<at>Pattern *\d+ *\(|- *(?:Problem|Solution|When +to +try) *:|Recommendation *:)",
    re.IGNORECASE | re.MULTILINE,
)
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_BREAK: Final = re.compile(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_RECALLED: Final = re.compile(
    r"\[\s*ORCHESTRATOR\s+CONTEXT\s*:.*?(?:\[\s*END\s+CONTEXT\s*\]|\Z)", re.IGNORECASE | re.DOTALL
)
_ONE_PATTERN: Final = re.compile(
    r"^[ \t>]*Pattern \d+ \((?:Most Common|Moderate|Less Common) - \d+ success(?:es)?\):[^\n]*"
    r"(?:\n[ \t>]*(?:- (?:Problem|Solution|When to try):|  )[^\n]*)*",
    re.MULTILINE,
)


def pattern_block(patterns: Sequence[Pattern]) -> str:
    """The block of Decision 68 for up to :data:`AT_MOST` patterns, best first.

    No text of a lesson can end the block or begin another pattern: its lines are indented, one that reads
    like a line of the block gets a backslash, and what reads like a delimiter a round bracket.
    """
    parts = [f"{_OPENING}\n", "Similar situations have been resolved these ways:\n"]
    for number, pattern in enumerate(patterns[:AT_MOST], 1):
        counted = f"{pattern.successes} success{'' if pattern.successes == 1 else 'es'}"
        parts.append(
            f"Pattern {number} ({_label(pattern.successes)} - {counted}):\n"
            f"- Problem: {_quoted(pattern.problem)}\n"
            f"- Solution: {_quoted(pattern.solution)}\n"
            f"- When to try: {_quoted(pattern.when_to_try)}\n"
        )
    parts.append(
        "Recommendation: Try patterns in order. "
        "Pattern 1 is most likely based on historical data.\n"
    )
    return "\n".join([*parts, f"{_CLOSING}\n"])


def fitting(patterns: Sequence[Pattern], tokens: TokenCounter, limit: int) -> tuple[Pattern, ...]:
    """The best that fit into a block of ``limit`` tokens; a longer one leaves its place to the next."""
    shown: list[Pattern] = []
    for pattern in patterns:
        if len(shown) < AT_MOST and tokens.count(pattern_block([*shown, pattern])) <= limit:
            shown.append(pattern)
    return tuple(shown)


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

"""A template as a prompt: its placeholders are replaced by values, and by nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

PROBLEM_NAMES = ("problem", "question", "query", "input")
"""Placeholders that stand for the problem unless a value is given for them."""

_PLACEHOLDER = re.compile(
    r"""(?x)
      \{\{ \s* (?P<braces>[A-Za-z_][\w.-]*) \s* \}\}
    | \$\{ (?: input: )? (?P<dollar>[A-Za-z_][\w.-]*) (?: : (?P<default>[^{}\r\n]*) )? \}
    """
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A filled template.

    Attributes:
        text: Ready to be put before a question.
        open: Placeholders without a value, which stand as they stood, in the order of the text.
    """

    text: str
    open: tuple[str, ...] = ()


def placeholders(content: str) -> list[str]:
    """The names in ``{{name}}``, ``${name}`` and ``${input:name:default}``, each once, in order."""
    found = (match["braces"] or match["dollar"] for match in _PLACEHOLDER.finditer(content))
    return list(dict.fromkeys(found))


def fill(content: str, values: Mapping[str, str], *, problem: str = "") -> Prompt:
    """Replace placeholders in one pass: a value that holds a placeholder is not looked at again.

    Args:
        content: Of a template.
        values: By the placeholder's name.
        problem: What ``{{problem}}``, ``{{question}}``, ``{{query}}`` and ``{{input}}`` stand for.
    """
    known = {**(dict.fromkeys(PROBLEM_NAMES, problem) if problem else {}), **values}
    missing: dict[str, None] = {}

    def replace(match: re.Match[str]) -> str:
        name = match["braces"] or match["dollar"]
        if name in known:
            return known[name]
        if match["default"] is not None:
            return match["default"]
        missing[name] = None
        return match[0]

    text = _PLACEHOLDER.sub(replace, content)
    return Prompt(text=text.strip("\r\n"), open=tuple(missing))

"""A template as a prompt: its placeholders are replaced by values, and by nothing else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ragloom_templates.parsing import SKILL_FILE

PROBLEM_NAMES = ("problem", "question", "query", "input")
"""Placeholders that stand for the problem unless a value is given for them."""

_SKILL = "The files that this skill names are in the folder {folder}."
_PLACEHOLDER = re.compile(
    r"""(?x)
      \{\{ \s* (?P<braces>[A-Za-z_][\w.-]*) \s* \}\}
    | \$\{ (?: input: )? (?P<dollar>[A-Za-z_][\w.-]*) (?: : (?P<default>[^{}\r\n]*) )? \}
    """
)


class HasContent(Protocol):
    """A template, or a match."""

    @property
    def content(self) -> str:
        """The text below the front matter."""

    @property
    def file_path(self) -> Path:
        """The file."""


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


def as_prompt(template: HasContent, values: Mapping[str, str], *, problem: str = "") -> Prompt:
    """A template as :func:`fill` makes it; that of a skill says first where the skill's folder is."""
    prompt = fill(template.content, values, problem=problem)
    if template.file_path.name != SKILL_FILE:
        return prompt
    place = _SKILL.format(folder=template.file_path.parent)
    return replace(prompt, text=f"{place}\n\n{prompt.text}")

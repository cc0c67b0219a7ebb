"""A template, and how well it fits a problem."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from ragloom import Json

DOMAIN = "general"
COMPLEXITY = "moderate"
METHODOLOGY = "sequential"
"""What a template has that does not say otherwise."""


class Filters(TypedDict, total=False):
    """Only templates whose fields have these values; None for any."""

    domain: str | None
    complexity: str | None
    methodology: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A way to reason about a kind of problem.

    Attributes:
        id: The file's path below its folder, without its ending; the folder's path for ``SKILL.md``
            and ``system.md``.
        name: From the front matter, or from the path.
        domain: Such as ``mathematics``; ``general`` by default.
        complexity: Such as ``simple`` or ``complex``; ``moderate`` by default.
        methodology: Such as ``deductive``; ``sequential`` by default.
        keywords: A list of strings.
        description: What it is for; empty where it is not said.
        content: The text below the front matter.
        file_path: The file.
        front_matter: All that the file says of itself, such as ``license``, ``allowed-tools``, ``metadata``
            and ``applyTo``; scalars as text.
    """

    id: str
    name: str
    domain: str = DOMAIN
    complexity: str = COMPLEXITY
    methodology: str = METHODOLOGY
    keywords: Sequence[str] = ()
    description: str = ""
    content: str
    file_path: Path
    front_matter: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateMatch:
    """A template that was found for a problem.

    Attributes:
        id: As in :class:`Template`.
        name: As in :class:`Template`.
        score: A relevance, 0 to 1, that means the same in every library: how strongly what was measured
            speaks for the template. It is no cosine, and no probability: see ``docs/templates.md``. That
            of the fallback is 0.5, and says nothing.
        description: As in :class:`Template`.
        content: As in :class:`Template`.
        file_path: As in :class:`Template`.
        front_matter: As in :class:`Template`.
        fallback: No template fits well enough, and this is the one to use then.
    """

    id: str
    name: str
    score: float
    description: str
    content: str
    file_path: Path = field(default_factory=Path, compare=False)
    front_matter: Mapping[str, Json] = field(default_factory=dict, compare=False)
    fallback: bool = False


def unheld(templates: Callable[[], Iterable[Template]], filters: Filters) -> str:
    """Which filter no template passes, and the values that there are; empty where each passes one."""
    for name, value in filters.items():
        if value is not None:
            values = {str(getattr(one, name)) for one in templates()}
            if values and value not in values:
                return (
                    f"no template has the {name} {value!r} (available: {', '.join(sorted(values))})"
                )
    return ""

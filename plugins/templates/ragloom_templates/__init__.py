"""Reasoning templates: the right way to think about a problem, found by meaning.

A template is a Markdown file that says how to go about a kind of problem. :class:`TemplateLibrary`
indexes folders of them and answers a problem with the templates that fit best, or with a sure
fallback where none does::

    from ragloom_templates import TemplateLibrary

    library = TemplateLibrary(["data/templates"])
    library.index()
    best = library.search("Prove that the square root of 2 is irrational")[0]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING

from ragloom import Chunker, CommandSpec, EvaluationSpec, Loader, Provider, hookimpl

if TYPE_CHECKING:
    from ragloom_templates.library import TemplateLibrary
    from ragloom_templates.settings import TemplateSettings
    from ragloom_templates.types import Template, TemplateMatch

__all__ = [
    "HeadOptions",
    "Template",
    "TemplateLibrary",
    "TemplateMatch",
    "TemplateOptions",
    "TemplateSettings",
    "ragloom_chunkers",
    "ragloom_commands",
    "ragloom_evaluations",
    "ragloom_loaders",
    "ragloom_settings",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadOptions:
    """The settings of the chunker ``template``: how often the head says each field.

    Every chunk of a template is embedded below the same head, which names what the template is. A
    weight of 0 omits the field, 2 says it twice.

    Attributes:
        name: Weight of the name.
        description: Weight of the description.
        keywords: Weight of the keywords.
        methodology: Weight of the methodology, where it is not the default.
        domain: Weight of the domain, where it is not the default.
    """

    name: int = 1
    description: int = 1
    keywords: int = 1
    methodology: int = 1
    domain: int = 0

    def __post_init__(self) -> None:
        """Refuse weights that are out of range."""
        for name, weight in asdict(self).items():
            if not 0 <= weight <= 5:  # noqa: PLR2004 - more would leave no room
                raise ValueError(f"the weight {name!r} must be 0 to 5")


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateOptions:
    """The settings of the loader ``template``.

    Attributes:
        descriptions: Files like fabric's ``pattern_descriptions.json``, which describe patterns.
    """

    descriptions: tuple[str, ...] = field(default=(), metadata={"names": "files"})


def _loader(options: TemplateOptions) -> Loader:
    from ragloom_templates.loader import TemplateLoader

    return TemplateLoader(options)


def _chunker(options: HeadOptions) -> Chunker:
    from ragloom_templates.chunker import TemplateChunker

    return TemplateChunker(options)


@hookimpl
def ragloom_loaders() -> Iterable[Provider[Loader]]:
    """Offer the loader ``template``."""
    return [
        Provider(
            name="template",
            summary="reasoning templates: Markdown with front matter, skill and pattern folders",
            create=_loader,
            options=TemplateOptions,
        )
    ]


@hookimpl
def ragloom_chunkers() -> Iterable[Provider[Chunker]]:
    """Offer the chunker ``template``."""
    return [
        Provider(
            name="template",
            summary="chunks of a template, each below its name, description and keywords",
            create=_chunker,
            options=HeadOptions,
        )
    ]


@hookimpl
def ragloom_commands() -> Mapping[str, CommandSpec]:
    """Offer ``ragloom templates``."""
    return {
        "templates": CommandSpec(
            target="ragloom_templates.cli:templates",
            summary="Find the reasoning template that fits a problem.",
        )
    }


@hookimpl
def ragloom_evaluations() -> Mapping[str, EvaluationSpec]:
    """Offer what ``ragloom eval`` does with a folder of problems."""
    return {
        "problems.jsonl": EvaluationSpec(
            target="ragloom_templates.evaluating:measure",
            summary="templates for problems",
        )
    }


@hookimpl
def ragloom_settings() -> Mapping[str, type]:
    """Declare the section ``templates``."""
    from ragloom_templates.settings import TemplateSettings

    return {"templates": TemplateSettings}


_ON_FIRST_USE: Mapping[str, str] = {
    "Template": "types",
    "TemplateLibrary": "library",
    "TemplateMatch": "types",
    "TemplateSettings": "settings",
}


def __getattr__(name: str) -> object:
    """Import what is heavy on first use (PEP 562)."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_ON_FIRST_USE[name]}"), name)

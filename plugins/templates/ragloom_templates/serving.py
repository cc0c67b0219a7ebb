"""A library for servers of models and agents: prompts, one a template, and a tool that finds one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import cast

from ragloom import ConfigError, Json, Workspace
from ragloom.config import did_you_mean
from ragloom_templates.library import TemplateLibrary
from ragloom_templates.prompting import PROBLEM_NAMES, as_prompt, placeholders
from ragloom_templates.types import Template

_MOST = 10  # templates of a call
_PROBLEM = PROBLEM_NAMES[0]

_TEXT: Json = {"type": "string"}
_OF_A_TEMPLATE: dict[str, Json] = {
    **dict.fromkeys(("id", "name", "description", "path"), _TEXT),
    "score": {"type": "number"},
    "fallback": {"type": "boolean"},
}
_GIVES: Mapping[str, Json] = {
    "type": "object",
    "properties": {
        "templates": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": _OF_A_TEMPLATE,
                "required": list(_OF_A_TEMPLATE),
            },
        },
        "prompt": _TEXT,
    },
    "required": ["templates", "prompt"],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedPrompt:
    """A template as a prompt.

    Attributes:
        name: The template's id.
        title: Its name.
        description: Its description.
        arguments: Its placeholders, and ``problem``; none has to be given.
    """

    name: str
    title: str
    description: str
    arguments: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTool:
    """A tool: ``run`` takes its arguments, and returns a text for models and the same for programs.

    ``schema`` is the JSON schema of the arguments, ``gives`` that of what programs get.
    """

    name: str
    description: str
    schema: Mapping[str, Json]
    gives: Mapping[str, Json]
    run: Callable[[Mapping[str, Json]], tuple[str, dict[str, Json]]]


class ServedTemplates:
    """The library of a workspace's settings. Safe to use from several threads."""

    def __init__(self, workspace: Workspace) -> None:
        self._library = TemplateLibrary(workspace=workspace)
        self._using = Lock()  # a model is used from one thread at a time

    def prompts(self) -> Sequence[ServedPrompt]:
        """Every template as its file is now; neither index nor model is needed.

        Raises:
            SourceError: A folder cannot be read.
        """
        with self._using:
            return [_prompt(template) for template in self._library.read_files()]

    def prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[str, str]:
        """A template's description, and its text with its placeholders filled.

        Raises:
            ConfigError: There is no such template, or it has no such placeholder.
            SourceError: A folder cannot be read.
        """
        with self._using:
            templates = {template.id: template for template in self._library.read_files()}
        if name not in templates:
            hint = did_you_mean(name, templates) or ""
            raise ConfigError(f"unknown template {name!r}{hint}")
        template = templates[name]
        known = _prompt(template).arguments
        for given in arguments:
            if given not in known:
                raise ConfigError(f"{name}: unknown argument {given!r} (known: {', '.join(known)})")
        problem = arguments.get(_PROBLEM, "")
        prompt = as_prompt(template, arguments, problem=problem)
        stands = set(placeholders(template.content)).isdisjoint(PROBLEM_NAMES)
        text = f"{prompt.text}\n\n{problem}" if problem and stands else prompt.text
        return template.description, text

    def tools(self) -> Sequence[ServedTool]:
        """The tool ``find_template``."""
        return [
            ServedTool(
                name="find_template",
                description=(
                    "Find the reasoning template, skill or prompt that fits a problem, before you work on "
                    "it. Returns the best one whole, and what else fits, each with its score: a "
                    "relevance from 0 to 1, no probability. Where none fits it returns the fallback, "
                    "and says so."
                ),
                schema={
                    "type": "object",
                    "properties": {
                        "problem": {
                            "type": "string",
                            "minLength": 1,
                            "description": "The problem or situation, in a sentence or more.",
                        },
                        "top_k": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": _MOST,
                            "description": "Maximum number of templates.",
                        },
                    },
                    "required": ["problem"],
                    "additionalProperties": False,
                },
                gives=_GIVES,
                run=self._find,
            )
        ]

    def _find(self, arguments: Mapping[str, Json]) -> tuple[str, dict[str, Json]]:
        problem = cast("str", arguments["problem"])
        with self._using:
            found = self._library.search(problem, cast("int | None", arguments.get("top_k")))
        best = found[0]
        text = as_prompt(best, {}, problem=problem).text
        rows: list[dict[str, Json]] = [
            {
                "id": one.id,
                "name": one.name,
                "description": one.description,
                "score": round(one.score, 6),
                "fallback": one.fallback,
                "path": str(one.file_path),
            }
            for one in found
        ]
        said = "no template fits: this is the fallback" if best.fallback else "the best template"
        others = "".join(
            f"\nalso: {one.id} ({one.score:.2f}): {one.description}" for one in found[1:]
        )
        head = f"{said}: {best.id} ({best.score:.2f}): {best.description}{others}"
        return f"{head}\n\n{text}", {"templates": cast("Json", rows), "prompt": text}


def serve(workspace: Workspace) -> ServedTemplates | None:
    """The library of a workspace; None where neither a folder of it exists nor a template was added.

    Raises:
        ConfigError: A setting of the section ``templates`` is wrong.
        UntrustedError: A folder lies outside of the workspace, and its user has not allowed that.
    """
    library = TemplateLibrary(workspace=workspace)
    return ServedTemplates(workspace) if library.has_sources() else None


def _prompt(template: Template) -> ServedPrompt:
    names = [name for name in placeholders(template.content) if name not in PROBLEM_NAMES]
    return ServedPrompt(
        name=template.id,
        title=template.name,
        description=template.description,
        arguments=[*names, _PROBLEM],
    )

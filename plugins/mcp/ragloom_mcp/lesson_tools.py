"""The tools for lessons, where the plugin ``knowledge`` is there and its setting ``tools`` is true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, cast

from ragloom import Json, Workspace
from ragloom_mcp.shelf import Shelf
from ragloom_mcp.tools import Answer, Tool

_OFFERED = "ragloom_knowledge.tools:lesson_tools"


def lesson_tools(workspace: Workspace) -> Mapping[str, Tool]:
    """``lesson_query``, ``lesson_capture`` and ``lesson_outcome``, or nothing.

    Raises:
        ConfigError: A setting of the section ``knowledge`` is wrong.
        MissingDependencyError: The lessons lack a package.
    """
    if workspace.host.spaces_of("knowledge", workspace) is None:  # the plugin is not loaded
        return {}
    offered = cast("Callable[[Workspace], list[Any]]", resolve_name(_OFFERED))
    return {
        tool.name: Tool(
            name=tool.name,
            description=tool.description,
            schema=tool.schema,
            run=_without_shelf(tool.run),
            reads_only=tool.reads_only,
        )
        for tool in offered(workspace)
    }


def _without_shelf(
    run: Callable[[Mapping[str, Json]], tuple[str, dict[str, Json]]],
) -> Callable[[Shelf, Mapping[str, Json]], Answer]:
    def answer(_shelf: Shelf, arguments: Mapping[str, Json]) -> Answer:
        text, structured = run(arguments)
        return Answer(text=text, structured=structured)

    return answer

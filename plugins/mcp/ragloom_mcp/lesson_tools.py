"""The tools for lessons, where the plugin ``knowledge`` is there and its setting ``tools`` is true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Any, cast

from ragloom import Workspace
from ragloom_mcp.tools import Tool, without_shelf

_OFFERED = "ragloom_knowledge.tools:lesson_tools"


def lesson_tools(workspace: Workspace) -> Mapping[str, Tool]:
    """``lesson_query``, ``lesson_capture`` and ``lesson_outcome``, or nothing.

    Raises:
        ConfigError: A setting of the section ``knowledge`` is wrong.
        MissingDependencyError: The lessons lack a package.
    """
    # Neither the plugin, if it is there, nor the database is loaded for lessons that are not offered.
    if not getattr(workspace.settings.sections.get("knowledge"), "tools", False):
        return {}
    offered = cast("Callable[[Workspace], list[Any]]", resolve_name(_OFFERED))
    return {
        tool.name: Tool(
            name=tool.name,
            description=tool.description,
            schema=tool.schema,
            gives=tool.gives,
            run=without_shelf(tool.run),
            reads_only=tool.reads_only,
        )
        for tool in offered(workspace)
    }
